import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'

/** First and last of consecutive seqs. */
export type SeqPair = [from: number, to: number]

/**
 * A part of one run that an audit event says was deleted. `headHash` is the hash of the event at `toSeq`: by the
 * chain it is a digest over that event and all before it, and it identifies the run where no run may be named (P5).
 */
export interface RemovedRange {
  readonly kind: 'events' | 'payloads' | 'states'
  /** Null where the name could be that of a subject. */
  readonly runId: string | null
  readonly fromSeq: number
  readonly toSeq: number
  readonly headHash: string
  /** The events concerned. */
  readonly seqs: readonly SeqPair[]
  /** For pruned states: events whose payloads were deleted. */
  readonly blank: readonly SeqPair[]
  /** For pruned states: their number. */
  readonly states: number
  /** The run itself was deleted. */
  readonly deletes: boolean
  readonly rule: string | null
  readonly by: string | null
  readonly at: string
}

/** The fields of a range as an audit event has them. */
export interface RangeFields {
  readonly fromSeq: number
  readonly toSeq: number
  readonly headHash: string
  /** Left out where all of the range is concerned. */
  readonly seqs?: SeqPair[]
}

/** The range of these events of one run; at least one, in any order. */
export function rangeOf(events: Iterable<{ readonly seq: number; readonly hash: string }>): RangeFields {
  const sorted = [...events].sort((a, b) => a.seq - b.seq)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) throw new RangeError('a removed range has no events')
  const seqs = toPairs(sorted.map(({ seq }) => seq))
  const range = { fromSeq: first.seq, toSeq: last.seq, headHash: last.hash }
  return seqs.length === 1 ? range : { ...range, seqs }
}

/** Seqs as pairs of consecutive ones. */
export function toPairs(seqs: readonly number[]): SeqPair[] {
  const set = createSeqSet()
  for (const seq of seqs) set.add(seq, seq)
  return set.pairs()
}

/** A set of seqs, kept as pairs: seqs that are added in their order take one pair for each gap. */
export interface SeqSet {
  add(from: number, to: number): void
  addAll(pairs: readonly SeqPair[]): void
  has(seq: number): boolean
  pairs(): SeqPair[]
}

export function createSeqSet(): SeqSet {
  let kept: SeqPair[] = []
  let isSorted = true

  function add(from: number, to: number): void {
    const last = kept.at(-1)
    if (last && from === last[1] + 1) last[1] = to
    else {
      if (last && from <= last[1]) isSorted = false
      kept.push([from, to])
    }
  }

  function pairs(): SeqPair[] {
    if (isSorted) return kept
    const merged: SeqPair[] = []
    for (const [from, to] of kept.sort((a, b) => a[0] - b[0])) {
      const last = merged.at(-1)
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
      else merged.push([from, to])
    }
    kept = merged
    isSorted = true
    return kept
  }

  return {
    add,
    addAll(more) {
      for (const [from, to] of more) add(from, to)
    },
    has(seq) {
      const sorted = pairs()
      let [low, high] = [0, sorted.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sorted[middle] as SeqPair)[1] < seq) low = middle + 1
        else high = middle
      }
      return low < sorted.length && (sorted[low] as SeqPair)[0] <= seq
    },
    pairs,
  }
}

/** The seqs of pairs, one by one. */
export function* seqsIn(pairs: readonly SeqPair[]): Generator<number> {
  for (const [from, to] of pairs) for (let seq = from; seq <= to; seq++) yield seq
}

/**
 * Ranges that an audit event says were deleted; empty for other events. Checks every field although the type is
 * known: `verify` reads payloads here that may have been changed in the database.
 */
export function parseRanges({
  eventType,
  payload,
  ledger,
}: Pick<ClewEvent, 'eventType' | 'payload' | 'ledger'>): RemovedRange[] {
  const listed = Array.isArray(payload['ranges']) ? (payload['ranges'] as unknown[]) : []
  return listed.flatMap((range): RemovedRange[] => {
    if (!isObject(range)) return []
    const { fromSeq, toSeq, states } = range
    const headHash = textOf(range['headHash'])
    if (typeof fromSeq !== 'number' || typeof toSeq !== 'number' || headHash === null) return []
    const isErasure = eventType === 'system.payload_erased'
    return [
      {
        kind: isErasure ? 'payloads' : typeof states === 'number' ? 'states' : 'events',
        runId: textOf(range['runId']),
        fromSeq,
        toSeq,
        headHash,
        seqs: pairsOf(range['seqs']) ?? [[fromSeq, toSeq]],
        blank: pairsOf(range['blank']) ?? [],
        states: typeof states === 'number' ? states : 0,
        deletes: range['deletes'] === true,
        rule: textOf(range['rule']),
        by: textOf(payload['by']),
        at: ledger.recordedAt,
      },
    ]
  })
}

function pairsOf(given: unknown): SeqPair[] | undefined {
  if (!Array.isArray(given)) return undefined
  return (given as unknown[]).flatMap((pair): SeqPair[] =>
    Array.isArray(pair) && typeof pair[0] === 'number' && typeof pair[1] === 'number'
      ? [[pair[0], pair[1]]]
      : [],
  )
}
