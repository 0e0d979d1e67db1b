import type { Ledger } from '@clew/ledger'
import type { ToolContext } from '@clew/mcp'
import type { z } from 'zod'
import { tail } from '../operations/tail.ts'
import type { TailPage } from './run-views.ts'

const MAX_EVENTS = 40
const WAIT_MS = 1500

/** What has happened since a position, or else what happens within a moment; the position leads on from there. */
export async function collectTail(
  ledger: Ledger,
  input: z.output<(typeof tail)['input']>,
  { signal }: ToolContext,
): Promise<TailPage> {
  const last = await ledger.lastPosition()
  const from = input.afterPosition ?? (input.history === true ? 0 : last)
  const enough = new AbortController()
  // A run of which nothing is new would be waited for: what is there is told at once.
  const clock = setTimeout(() => enough.abort(), WAIT_MS)
  const events = []
  try {
    const ends = AbortSignal.any([enough.signal, ...(signal ? [signal] : [])])
    for await (const event of tail.run(ledger, { ...input, afterPosition: from }, { signal: ends })) {
      events.push(event)
      if (events.length >= MAX_EVENTS || event.ledger.position >= last) break
    }
  } finally {
    clearTimeout(clock)
  }
  return { events, position: events.at(-1)?.ledger.position ?? from }
}
