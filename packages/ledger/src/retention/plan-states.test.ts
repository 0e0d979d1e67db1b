import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planStates, type StateEntry, type StateFacts } from './plan-states.ts'

/** A checkpoint with every second event; a whole state with every `whole`-th. */
const line = (runId: string, fromSeq: number, count: number, whole: number, position = 0): StateEntry[] => {
  let baseSeq = fromSeq
  return Array.from({ length: count }, (_, at) => {
    const seq = fromSeq + at * 2
    if (at % whole === 0) baseSeq = seq
    return {
      runId,
      seq,
      position: position + seq,
      hash: '',
      createdMs: seq,
      baseSeq,
      from: undefined,
      events: [seq - 1, seq].map((each) => ({ seq: each, position: position + each, hash: '' })),
      pruned: false,
    }
  })
}

const facts = (entries: readonly StateEntry[], rest: Partial<StateFacts> = {}): StateFacts => ({
  nowMs: 1e6,
  entries,
  runs: new Map(
    [...new Set(entries.map(({ runId }) => runId))].map((id) => [id, { isOver: true, forkOf: null }]),
  ),
  forks: [],
  held: new Set(),
  seenPosition: Number.MAX_SAFE_INTEGER,
  ...rest,
})

const seqsOf = (entries: readonly StateEntry[]): number[] => entries.map(({ seq }) => seq)

describe('states that a retention lets go', () => {
  it('R10 R7 the state that a fork parts from stays, and all that it is folded from', () => {
    const entries = line('r', 2, 12, 4)
    const { marked, blank } = planStates(
      { keep: 'latest' },
      facts(entries, { forks: [{ runId: 'r', seq: 15 }] }),
    )
    // The fork at 15 stands on the state at 14, which is folded from the whole one at 10.
    expect(seqsOf(marked)).not.toContain(14)
    expect(seqsOf(blank)).toEqual([2, 4, 6, 8, 16])
    expect(seqsOf(planStates({ keep: 'latest' }, facts(entries)).blank)).toEqual([2, 4, 6, 8, 10, 12, 14, 16])
  })

  it('R10 R7 a fork of the same thread keeps the prefix of its source that its kept state is folded from', () => {
    const source = line('source', 2, 6, 6)
    const own = line('fork', 8, 2, 9, 100).map((entry) => ({ ...entry, baseSeq: 2 }))
    const runs = new Map([
      ['source', { isOver: true, forkOf: null }],
      ['fork', { isOver: true, forkOf: { runId: 'source', seq: 7 } }],
    ])
    const { blank } = planStates({ keep: 'latest' }, facts([...source, ...own], { runs }))
    expect(seqsOf(blank.filter(({ runId }) => runId === 'source'))).toEqual([8, 10, 12])
    expect(blank.filter(({ runId }) => runId === 'fork')).toEqual([])
  })

  it('R10 R7 whatever the policy: no payload goes that a fork, or a state that is still to be read, is folded from', () => {
    const policies = fc.oneof(
      fc.constant({ keep: 'latest' as const }),
      fc.integer({ min: 1, max: 5 }).map((window) => ({ keep: 'windowed' as const, window })),
      fc.integer({ min: 1, max: 40 }).map((ttlMs) => ({ ttlMs })),
    )
    fc.assert(
      fc.property(
        policies,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.integer({ min: 2, max: 42 }), { maxLength: 3 }),
        (policy, count, whole, forkSeqs) => {
          const entries = line('r', 2, count, whole)
          const forks = forkSeqs.map((seq) => ({ runId: 'r', seq }))
          const { marked, blank } = planStates(policy, facts(entries, { forks, nowMs: 42 }))
          const gone = new Set(blank)
          const stood = forks.map(({ seq }) => entries.findLast((entry) => entry.seq <= seq))
          for (const entry of stood) if (entry && marked.includes(entry)) return false
          return entries
            .filter((entry) => !marked.includes(entry))
            .every(({ baseSeq, seq }) =>
              entries.every((each) => each.seq < baseSeq || each.seq > seq || !gone.has(each)),
            )
        },
      ),
    )
  })
})
