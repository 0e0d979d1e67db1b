import { writeSync } from 'node:fs'
import { ClewError, type ForeignType, foreignType, type Ledger, type RecordInput } from '@clew/ledger'

/** What the other processes of a store's tests do, whichever store it is. They answer with one JSON line at a time. */

export const say = (answer: unknown): void => void writeSync(1, `${JSON.stringify(answer)}\n`)

export const codeOf = (error: unknown): string => (error instanceof ClewError ? error.code : String(error))

export const note = (runId: string, payload: Record<string, unknown>): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: runId,
  payload,
})

/** Opens it, with a record, and says `ok` or why it could not. */
export async function sayWhetherOpens(open: () => Ledger | Promise<Ledger>): Promise<void> {
  try {
    const ledger = await open()
    await ledger.record(note('opened', { pid: process.pid }))
    await ledger.close()
    say('ok')
  } catch (error) {
    say(codeOf(error))
  }
}

interface AppendMany {
  readonly who: string
  readonly count: number
  /** How many calls are on their way at once. */
  readonly atOnce: number
  /** Each event of so many goes to the run that all share. */
  readonly sharedEach: number
}

export async function appendMany(
  ledger: Ledger,
  { who, count, atOnce, sharedEach }: AppendMany,
): Promise<void> {
  for (let n = 0; n < count; ) {
    const calls: Promise<unknown>[] = []
    for (let i = 0; i < atOnce && n < count; i++, n++)
      calls.push(ledger.record(note(n % sharedEach === 0 ? 'shared' : `run-${who}`, { who, n })))
    await Promise.all(calls)
  }
  await ledger.close()
  say('done')
}

/** Follows everything from the beginning, `count` events long; says what was wrong with them. */
export async function followMany(ledger: Ledger, count: number): Promise<void> {
  const seqs = new Map<string, number>()
  let [seen, position] = [0, 0]
  let wrong = ''
  for await (const event of ledger.follow()) {
    const { ledger: place, correlationId } = event
    const expected = (seqs.get(correlationId) ?? 0) + 1
    if (place.seq !== expected) wrong ||= `${correlationId}: seq ${place.seq} where ${expected} was expected`
    if (place.position <= position) wrong ||= `position ${place.position} after ${position}`
    seqs.set(correlationId, place.seq)
    position = place.position
    if (++seen === 1) say('following')
    if (seen >= count) break
  }
  await ledger.close()
  say({ seen, wrong, seqs: Object.fromEntries(seqs) })
}
