import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { type Figure, inTempFolder, median } from '../measure.ts'

const PACKAGE = new URL('../../packages/clew/', import.meta.url)

/** As users get it: the built package, with nothing of the sources. */
export async function startUpFigures(): Promise<Figure[]> {
  const root = new URL('../../', import.meta.url).pathname
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  return inTempFolder(async (folder) => {
    const url = `sqlite:${join(folder, 'start.db')}`
    const ledger = await openLedger(url)
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'run-1',
      payload: { agent: 'a' },
    })
    await ledger.close()
    const entry = new URL('dist/index.js', PACKAGE).href
    const timer = `const t = performance.now(); await import(${JSON.stringify(entry)}); console.log(performance.now() - t)`
    const imports = Array.from({ length: 9 }, () =>
      Number(execFileSync(process.execPath, ['--input-type=module', '-e', timer], { encoding: 'utf8' })),
    )
    const main = new URL('dist/cli/main.js', PACKAGE).href
    const command = `const { main } = await import(${JSON.stringify(main)}); process.exitCode = await main(${JSON.stringify(['runs', '--store', url])})`
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
