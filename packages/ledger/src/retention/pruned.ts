import { AUDIT_BOOK } from '../audit-book.ts'
import type { ClewEvent } from '../envelope.ts'
import { ClewError } from '../errors.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import type { PayloadReader } from '../payload-reader.ts'
import type { Store } from '../store.ts'
import type { Seal } from './store-retention.ts'

/** A range that retention took, as the audit book tells it. */
export interface PrunedRange {
  readonly runId: string
  readonly fromSeq: number
  readonly toSeq: number
  /** The rule of the policy. */
  readonly rule: string | null
  readonly by: string | null
  readonly at: string
  /** Where its events stay and only the states at so many checkpoints went (R10). */
  readonly states?: number
}

export function prunedRun(runId: string, seals: readonly Pick<Seal, 'fromSeq' | 'toSeq'>[] = []): ClewError {
  const [first] = seals
  const toSeq = seals.at(-1)?.toSeq
  const range = first ? ` (seq ${first.fromSeq} to ${toSeq})` : ''
  return new ClewError(
    'pruned',
    `Run ${runId} was deleted by retention${range}`,
    'See with `clew compliance` by which rule; an export made before still has it. Its id cannot be used again.',
    { runId, fromSeq: first?.fromSeq, toSeq },
  )
}

export function prunedPlace(runId: string, seq: number): ClewError {
  return new ClewError(
    'pruned',
    `Event ${seq} of run ${runId} was deleted by the retention policy`,
    'See with `clew verify` which ranges are gone, and fork from an event that is still there; nothing was written.',
    { runId, seq },
  )
}

export function prunedState(runId: string, seq: number): ClewError {
  return new ClewError(
    'pruned',
    `The state of run ${runId} at seq ${seq} is no longer kept: the retention of its graph let it go`,
    'See with `clew compliance` when and by which policy; the states that are kept are in getStateHistory.',
    { runId, seq },
  )
}

interface NamedSeal extends PrunedRange {
  readonly headHash: string
}

/** The seals that an event of the audit book names. */
function sealsNamedBy({ payload, ledger }: Pick<ClewEvent, 'payload' | 'ledger'>): NamedSeal[] {
  const listed = Array.isArray(payload['ranges']) ? (payload['ranges'] as unknown[]) : [payload]
  return listed.flatMap((range) => {
    if (!isObject(range)) return []
    const { runId, fromSeq, toSeq, headHash, rule, states } = range
    if (typeof runId !== 'string' || typeof fromSeq !== 'number' || typeof toSeq !== 'number') return []
    return [
      {
        runId,
        fromSeq,
        toSeq,
        headHash: textOf(headHash) ?? '',
        rule: textOf(rule),
        by: textOf(payload['by']),
        at: ledger.recordedAt,
        ...(typeof states === 'number' && { states }),
      },
    ]
  })
}

const PAGE = 200

/** What a seal is known by: of the run it says nothing, for redaction may have taken that out of the audit book. */
export const sealKey = ({ fromSeq, toSeq, headHash }: Seal): string => `${fromSeq} ${toSeq} ${headHash}`

interface NamedSeals {
  /** By `sealKey`. */
  readonly seals: ReadonlyMap<string, NamedSeal>
  /** By run: ranges in which states went. */
  readonly states: ReadonlyMap<string, readonly PrunedRange[]>
}

/** All that the audit book of a workspace names. */
export async function readNamedSeals(
  store: Store,
  reader: PayloadReader,
  workspace: string,
): Promise<NamedSeals> {
  const seals = new Map<string, NamedSeal>()
  const states = new Map<string, PrunedRange[]>()
  const key = { workspace, runId: AUDIT_BOOK }
  for (let afterSeq = 0; ; ) {
    const page = await store.readRun(key, { afterSeq, limit: PAGE, types: ['system.range_pruned'] })
    for (const event of await reader.toPlainEvents(page))
      for (const seal of sealsNamedBy(event)) {
        const { headHash: _, ...range } = seal
        if (seal.states === undefined) seals.set(sealKey(seal), seal)
        else states.set(seal.runId, [...(states.get(seal.runId) ?? []), range])
      }
    if (page.length < PAGE) return { seals, states }
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}
