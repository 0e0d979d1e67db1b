import { createHash } from 'node:crypto'
import { inputDigest, type JsonValue } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, channel, last } from './channels.ts'
import { advanceDigests, type DigestOf, digestsOf } from './digests.ts'
import { initialState, mergeWrites, restoreState } from './merge-writes.ts'
import { messages } from './messages.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const digestOf: DigestOf = (value) => inputDigest(sha256, value as JsonValue)

const channels = {
  talk: messages(),
  notes: append<number>(),
  turns: last<unknown>(undefined, { onConflict: 'last' }),
  facts: channel<Record<string, number>, Record<string, number | null>>({
    initial: { z: 0 },
    merge: (before, write) =>
      Object.values(write).includes(4)
        ? undefined
        : (Object.fromEntries(
            Object.entries({ ...before, ...write }).filter(([, value]) => value !== null),
          ) as Record<string, number>),
  }),
}

describe('digests of a state', () => {
  const small = fc.nat(4)
  const write = fc.record(
    {
      talk: fc.record({ role: fc.constant('ai'), content: fc.string(), id: fc.constantFrom('a', 'b', 'c') }),
      notes: fc.array(small, { maxLength: 3 }),
      turns: fc.oneof(small, fc.array(small)),
      facts: fc.dictionary(fc.constantFrom('u', 'v', 'w', 'x', 'y', 'z'), fc.oneof(small, fc.constant(null))),
    },
    { requiredKeys: [] },
  )

  it('R5 advanced superstep by superstep are those of the state itself, so also of a folded one', () => {
    fc.assert(
      fc.property(fc.array(fc.array(write, { maxLength: 3 }), { maxLength: 6 }), (rounds) => {
        let state = initialState(channels)
        let digests = digestsOf(channels, state, digestOf)
        for (const round of rounds) {
          const writes = round.map((each, i) => ({ stepId: `n${i}@s1`, write: each }))
          const merged = mergeWrites(channels, state, writes, { nextId: () => 'none' })
          digests = advanceDigests(
            channels,
            digests,
            { state, operations: merged.operations, writes },
            digestOf,
          )
          state = merged.state
          const folded = restoreState(channels, JSON.parse(JSON.stringify(state)) as typeof state)
          expect(digests).toEqual(digestsOf(channels, folded, digestOf))
        }
      }),
    )
  })

  it('D2 tell states apart that differ in one item, its place or one field', () => {
    const of = (state: object) =>
      JSON.stringify(digestsOf(channels, { ...initialState(channels), ...state }, digestOf))
    const all = [
      {},
      { notes: [1, 2] },
      { notes: [2, 1] },
      { notes: [[1, 2]] },
      { facts: {} },
      { facts: { z: 1 } },
    ]
    expect(new Set([...all, { facts: { y: 0 } }, { turns: null }, { turns: [] }].map(of)).size).toBe(9)
  })

  it('L8 an append costs its items, however long the list is', () => {
    const state = restoreState(channels, { notes: Array.from({ length: 1000 }, (_, i) => i) })
    const digests = digestsOf(channels, state, digestOf)
    let calls = 0
    const counted: DigestOf = (value) => {
      calls++
      return digestOf(value)
    }
    const writes = [{ stepId: 'a@s1', write: { notes: [1, 2] } }]
    const { operations } = mergeWrites(channels, state, writes, { nextId: () => 'none' })
    advanceDigests(channels, digests, { state, operations, writes }, counted)
    expect(calls).toBe(2)
  })
})
