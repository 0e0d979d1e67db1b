import { join } from 'node:path'
import { type Ledger, openLedger } from 'clew'
import { inTempFolder, seconds } from './measure.ts'

/** Best of several rounds, after one that does not count. */
export async function best(rounds: number, work: () => Promise<unknown>): Promise<number> {
  await work()
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) least = Math.min(least, await seconds(work))
  return least
}

export const onFile = <T>(
  work: (ledger: Ledger) => Promise<T>,
  sync: 'normal' | 'full' = 'normal',
): Promise<T> =>
  inTempFolder(async (folder) => {
    const ledger = await openLedger(`sqlite:${join(folder, 'bench.db')}`, { sync })
    try {
      return await work(ledger)
    } finally {
      await ledger.close()
    }
  })

export const micro = (value: number): string => `${value.toFixed(1)} µs`
