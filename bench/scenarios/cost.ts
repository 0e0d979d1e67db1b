import { type ClewEvent, costFold, openLedger } from 'clew'
import { type Figure, inTempFolder, micros, prose, rate, seconds, sideBySide } from '../measure.ts'

const EVENTS = 100_000
const RECORDED = 5000

/** The fold alone over 100,000 events, and what freezing a price costs an append. */
export async function costFigures(): Promise<Figure[]> {
  const ledger = await openLedger('memory:')
  const message = (at: number, usage: object) => ({
    eventType: 'execution.message' as const,
    correlationId: `run-${at % 100}`,
    payload: { role: 'assistant', content: prose(200, at % 997), model: 'gpt-4o', ...usage },
  })
  const used = (at: number) => ({ usage: { inputTokens: 1000 + (at % 50), outputTokens: 20 } })
  const events: ClewEvent[] = []
  for (let from = 0; from < EVENTS; from += 1000)
    events.push(
      ...(await ledger.append(
        Array.from({ length: 1000 }, (_, i) => message(from + i, i % 4 === 0 ? used(i) : {})),
      )),
    )
  const fold = costFold({ by: 'day' })
  const folding = await seconds(() => {
    let state = fold.begin()
    for (const event of events) state = fold.apply(state, event)
    if (fold.view(state).total.modelCalls !== EVENTS / 4) throw new Error('the fold lost a call')
  })
  const asking = await seconds(() => ledger.cost({ by: 'model' }))
  await ledger.close()
  return inTempFolder(async (folder) => {
    const file = await openLedger(`sqlite:${folder}/cost.db`)
    await file.record(message(0, used(0)))
    const append = (usage: (at: number) => object) => () =>
      seconds(async () => {
        for (let from = 0; from < RECORDED; from += 100)
          await file.append(Array.from({ length: 100 }, (_, i) => message(i, usage(from + i))))
      })
    // The same usage, priced by its producer, is stored as it comes.
    const { ours, floor } = await sideBySide(
      5,
      append(used),
      append((at) => ({ ...used(at), cost: { amount: 0.01, currency: 'USD', source: 'own', version: '1' } })),
    )
    await file.close()
    return [
      {
        name: `fold of cost over ${EVENTS.toLocaleString('en')} events`,
        ours: rate(EVENTS, folding),
        beside: 'promise 1 s',
        ratio: folding,
        most: 1,
        unit: 's',
      },
      {
        name: `ledger.cost() over ${EVENTS.toLocaleString('en')} events in 100 runs, memory`,
        ours: `${(asking * 1000).toFixed(0)} ms`,
        beside: 'promise 5 s',
        ratio: asking,
        most: 5,
        unit: 's',
      },
      {
        name: 'append of an event that must be priced',
        ours: micros(ours, RECORDED),
        beside: `priced by its producer ${micros(floor, RECORDED)}`,
        ratio: floor / ours,
        least: 0.3,
      },
    ]
  })
}
