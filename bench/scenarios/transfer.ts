import { join } from 'node:path'
import { openLedger } from 'clew'
import { type Built, withBuilt } from '../built.ts'
import { type Figure, prose, rate } from '../measure.ts'

export function transferFigures(events: number): Promise<Figure[]> {
  return withBuilt(async ({ folder, run }) => {
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
    const out = run(['export', '--store', `sqlite:${source}`, '-o', file])
    const back = run(['import', file, '--store', `sqlite:${target}`])
    const figure = (name: string, { peakMb, wallMs }: ReturnType<Built['run']>): Figure => ({
      name: `${name} of ${events.toLocaleString('en')} events`,
      ours: `${peakMb.toFixed(0)} MB at most, ${rate(events, wallMs / 1000)}`,
      beside: 'promise 150 MB',
      ratio: peakMb,
      most: 150,
      unit: 'MB',
    })
    return [figure('export', out), figure('import', back)]
  })
}
