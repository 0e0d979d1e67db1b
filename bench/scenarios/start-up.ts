import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { withBuilt } from '../built.ts'
import { type Figure, median } from '../measure.ts'

const IMPORT = `const start = performance.now(); await import('clew'); console.log(performance.now() - start)`

export function startUpFigures(): Promise<Figure[]> {
  return withBuilt(async ({ folder, run }) => {
    const url = `sqlite:${join(folder, 'start.db')}`
    const ledger = await openLedger(url)
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'run-1',
      payload: { agent: 'a' },
    })
    await ledger.close()
    const imports = Array.from({ length: 9 }, () =>
      Number(
        execFileSync(process.execPath, ['--input-type=module', '-e', IMPORT], {
          cwd: folder,
          encoding: 'utf8',
        }),
      ),
    )
    const walls = Array.from({ length: 9 }, () => {
      const { output, wallMs } = run(['runs', '--store', url])
      if (!output.includes('run-1')) throw new Error(`clew runs did not tell of run-1: ${output}`)
      return wallMs
    })
    return [
      {
        name: "import 'clew'",
        ours: `${median(imports).toFixed(0)} ms`,
        beside: 'promise 80 ms',
        ratio: median(imports),
        most: 80,
        unit: 'ms',
      },
      {
        name: '`clew runs`, whole process',
        ours: `${median(walls).toFixed(0)} ms`,
        beside: 'promise 250 ms',
        ratio: median(walls),
        most: 250,
        unit: 'ms',
      },
    ]
  })
}
