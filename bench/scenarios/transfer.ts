import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { buildPackage, commandProgram } from '../built.ts'
import { type Figure, inTempFolder, prose, rate } from '../measure.ts'

/** Runs a command of the built package and gives the most memory it held, in MB, and its seconds. */
function peakOf(main: string, args: readonly string[]): { megabytes: number; time: number } {
  const start = performance.now()
  const program = commandProgram(main, args)
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  const peak = /peak memory (\d+)/.exec(child.stderr)?.[1]
  if (child.status !== 0 || peak === undefined)
    throw new Error(`clew ${args.join(' ')} failed: ${child.stderr.slice(0, 500)}`)
  return { megabytes: Number(peak) / 1024, time: (performance.now() - start) / 1000 }
}

export async function transferFigures(events: number): Promise<Figure[]> {
  const main = buildPackage()('cli/main.js')
  return inTempFolder(async (folder) => {
    const [source, file, target] = ['source.db', 'all.ndjson', 'target.db'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    const ledger = await openLedger(`sqlite:${source}`)
    for (let i = 0; i < events; i += 500)
      await ledger.append(
        Array.from({ length: 500 }, (_, j) => ({
          eventType: 'execution.message',
          correlationId: `run-${Math.floor(i / 5000)}`,
          payload: { role: 'assistant', content: prose(300, (i + j) % 997), index: i + j },
        })),
      )
    await ledger.close()
    const out = peakOf(main, ['export', '--store', `sqlite:${source}`, '-o', file])
    const back = peakOf(main, ['import', file, '--store', `sqlite:${target}`])
    const figure = (name: string, { megabytes, time }: { megabytes: number; time: number }): Figure => ({
      name: `${name} of ${events.toLocaleString('en')} events`,
      ours: `${megabytes.toFixed(0)} MB at most, ${rate(events, time)}`,
      beside: 'promise 150 MB',
      ratio: megabytes,
      most: 150,
      unit: 'MB',
    })
    return [figure('export', out), figure('import', back)]
  })
}
