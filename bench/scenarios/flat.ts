import { join } from 'node:path'
import { type EventInput, openLedger } from 'clew'
import { type Figure, inTempFolder, median, micros, prose, seconds } from '../measure.ts'

const GROUP = 100
const WINDOW = 10_000

/**
 * Time per event in a window of 10,000 at the start and at the end of a growing ledger. The same machine grows
 * slower or faster while it runs, so each window is the median of its groups.
 */
async function growth(
  folder: string,
  total: number,
  runIdOf: (i: number) => string,
): Promise<{ first: number; last: number }> {
  const ledger = await openLedger(`sqlite:${join(folder, `flat-${total}.db`)}`)
  const event = (i: number): EventInput => ({
    eventType: 'execution.message',
    correlationId: runIdOf(i),
    payload: { role: 'assistant', content: prose(300, i % 997), index: i },
  })
  const times: number[] = []
  for (let i = 0; i < total; i += GROUP) {
    const group = Array.from({ length: GROUP }, (_, j) => event(i + j))
    times.push(await seconds(() => ledger.append(group)))
  }
  await ledger.close()
  const groups = WINDOW / GROUP
  // The first groups warm up the compiler and would flatter the comparison.
  return { first: median(times.slice(groups / 2, groups + groups / 2)), last: median(times.slice(-groups)) }
}

export async function flatFigures(million: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const ledger = await growth(folder, million, (i) => `run-${Math.floor(i / 1000)}`)
    const run = await growth(folder, Math.min(100_000, million), () => 'one')
    const figure = (name: string, { first, last }: { first: number; last: number }): Figure => ({
      name,
      ours: `${micros(last, GROUP)} an event`,
      beside: `at 10,000 events ${micros(first, GROUP)}`,
      ratio: last / first,
      most: 1.3,
    })
    return [
      figure(`flat: at ${million.toLocaleString('en')} events of a ledger`, ledger),
      figure('flat: at 100,000 events of one run', run),
    ]
  })
}
