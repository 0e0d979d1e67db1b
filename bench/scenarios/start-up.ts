import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { buildPackage, commandProgram } from '../built.ts'
import { type Figure, inTempFolder, median } from '../measure.ts'

export async function startUpFigures(): Promise<Figure[]> {
  const built = buildPackage()
  return inTempFolder(async (folder) => {
    const url = `sqlite:${join(folder, 'start.db')}`
    const ledger = await openLedger(url)
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'run-1',
      payload: { agent: 'a' },
    })
    await ledger.close()
    const entry = built('index.js')
    const timer = `const t = performance.now(); await import(${JSON.stringify(entry)}); console.log(performance.now() - t)`
    const imports = Array.from({ length: 9 }, () =>
      Number(execFileSync(process.execPath, ['--input-type=module', '-e', timer], { encoding: 'utf8' })),
    )
    const command = commandProgram(built('cli/main.js'), ['runs', '--store', url])
    const walls = Array.from({ length: 9 }, () => {
      const start = performance.now()
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', command], { encoding: 'utf8' })
      if (child.status !== 0 || !child.stdout.includes('run-1'))
        throw new Error(`clew runs failed: ${child.stderr}`)
      return performance.now() - start
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
