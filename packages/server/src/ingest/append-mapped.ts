import type { EventInput } from '@clew/ledger'
import type { ErrorBody } from '../error-answer.ts'
import type { Call } from '../route.ts'
import { asResult, parseLine } from './append-wire.ts'
import { assertOwnRun } from './own-runs.ts'

/** Mapper of another framework's stream: the events for one of its records. */
export interface Mapper {
  push(record: unknown): EventInput[]
  /** Events that close what the stream left open at its end. */
  end(): EventInput[]
}

export interface MappedAnswer {
  /** Records that arrived, and events that they became now. */
  readonly received: number
  readonly events: number
  readonly runs: readonly string[]
  readonly refused: readonly (ErrorBody & { readonly item: number })[]
}

/**
 * The records of another framework's stream, in their order and while they arrive. One that is not understood is refused
 * by its number; what the ledger refuses ends the stream, for what follows may hang on it.
 */
export async function appendMapped(
  call: Call,
  batches: AsyncIterable<readonly string[]>,
  mapper: Mapper,
): Promise<MappedAnswer> {
  const runs = new Set<string>()
  const refused: (ErrorBody & { item: number })[] = []
  let received = 0
  let events = 0

  async function append(drafts: readonly EventInput[]): Promise<void> {
    for (const { correlationId } of drafts) {
      assertOwnRun(call.principal, correlationId)
      runs.add(correlationId)
    }
    events += (await call.ledger.append(drafts)).length
  }

  for await (const lines of batches) {
    const drafts: EventInput[] = []
    for (const line of lines) {
      const item = received++
      try {
        const record = parseLine(line)
        for (const each of Array.isArray(record) ? record : [record]) drafts.push(...mapper.push(each))
      } catch (error) {
        refused.push({ item, ...asResult(error) })
      }
    }
    await append(drafts)
  }
  await append(mapper.end())
  return { received, events, runs: [...runs], refused }
}
