import { applyOperation, type StateOperation } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Channels } from './channel.ts'
import { append, channel, last } from './channels.ts'
import { resolveOperations } from './digests.ts'
import {
  advanceVersions,
  initialState,
  mergeWrites,
  prepareWrite,
  restoreState,
  type State,
  type StepWrite,
} from './merge-writes.ts'
import { Message } from './message.ts'
import { messages } from './messages.ts'

const ids = () => {
  let count = 0
  return () => `id-${++count}`
}
const merge = (channels: Channels, state: State, ...writes: StepWrite[]) =>
  mergeWrites(channels, state, writes, { nextId: ids() })
const by = (node: string, write: StepWrite['write']): StepWrite => ({ stepId: `${node}@s1`, node, write })

/** What a fold makes of the operations, without any merge rule. */
const fold = (state: State, operations: readonly StateOperation[], writes: readonly StepWrite[]): State =>
  resolveOperations(operations, writes).reduce<State>(applyOperation, state)

describe('merging writes', () => {
  it("R3 a node's returned partial state is merged by channel rules", () => {
    const channels = {
      notes: append<string>(),
      turns: last(0),
      most: channel({ initial: 5, merge: Math.max }),
    }
    const begin = initialState(channels)
    const { state, operations } = merge(channels, begin, by('a', { notes: 'x', turns: 1, most: 9 }))
    expect(state).toEqual({ notes: ['x'], turns: 1, most: 9 })
    expect(operations).toEqual([
      { op: 'append', channel: 'notes', from: 'a@s1' },
      { op: 'set', channel: 'turns', from: 'a@s1' },
      { op: 'set', channel: 'most', from: 'a@s1' },
    ])
    expect(advanceVersions({}, operations)).toEqual({ notes: 1, turns: 1, most: 1 })
    expect(begin).toEqual({ notes: [], turns: 0, most: 5 })
  })

  it('R3 a channel that nobody wrote keeps its value, a superstep without writes the whole state', () => {
    const channels = { big: last({ deep: [1, 2] }), notes: append<string>() }
    const begin = initialState(channels)
    const { state } = merge(channels, begin, by('a', { notes: ['x'] }))
    expect(state['big']).toBe(begin['big'])
    const nothing = merge(channels, state, by('a', { notes: [] }), by('b', { big: undefined }))
    expect(nothing).toEqual({ state, operations: [] })
    expect(nothing.state).toBe(state)
  })

  it('R5 versions count operations: 1 for the first production, +1 for each further one', () => {
    const channels = { notes: append<string>(), turns: last(0) }
    const writes = [by('a', { notes: 'x' }), by('b', { notes: 'y', turns: 1 })]
    const { operations } = merge(channels, initialState(channels), ...writes)
    expect(advanceVersions({ notes: 3 }, operations)).toEqual({ notes: 5, turns: 1 })
  })

  it('R3 two writes to one value in a superstep are a conflict that names the channel and both nodes', () => {
    const channels = { turns: last(0), other: last(0, { onConflict: 'last' }) }
    const begin = initialState(channels)
    expect(() => merge(channels, begin, by('a', { turns: 1 }), by('b', { turns: 1 }))).toThrow(
      /Nodes "a" and "b" both wrote channel "turns" in one superstep/,
    )
    expect(() => merge(channels, begin, by('a', { turns: 1 }), by('a', { turns: 2 }))).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    )
    const { state, operations } = merge(channels, begin, by('a', { other: 1 }), by('b', { other: 2 }))
    expect(state['other']).toBe(2)
    expect(operations).toEqual([{ op: 'set', channel: 'other', from: 'b@s1' }])
  })

  it('R3 an unknown channel is refused by the names of node, channel and known ones', () => {
    const channels = { turns: last(0), notes: append<string>() }
    expect(() => merge(channels, {}, by('think', { turn: 1 }))).toThrow(
      /Node "think" wrote to "turn", which is no channel of this graph. Its channels are: turns, notes/,
    )
    expect(() => merge(channels, {}, by('think', { constructor: 1 }))).toThrow(/no channel/)
    expect(() => prepareWrite(channels, ['x'], { node: 'think', nextId: ids() })).toThrow(/returned a list/)
  })

  it('R3 a list as an item is written as a list of lists', () => {
    const channels = { pairs: append<number[]>() }
    expect(merge(channels, initialState(channels), by('a', { pairs: [[1, 2]] })).state['pairs']).toEqual([
      [1, 2],
    ])
  })

  it('L1 the first append to a channel that begins with something is recorded as a whole', () => {
    const channels = { notes: append(['begin']), talk: messages([{ id: 'a', role: 'system', content: 's' }]) }
    const writes = [by('a', { notes: 'x', talk: { id: 'b', role: 'human', content: 'h' } })]
    const { state, operations } = merge(channels, initialState(channels), ...writes)
    expect(operations.map(({ op }) => op)).toEqual(['set', 'set'])
    expect(fold({}, operations, writes)).toEqual(state)
  })

  it('L1 a merge rule of your own gives the smallest closed operation', () => {
    const facts = channel<Record<string, number>, Record<string, number | null>>({
      initial: {},
      merge: (before, write) => {
        const all = Object.entries({ ...before, ...write })
        return Object.fromEntries(all.filter((entry): entry is [string, number] => entry[1] !== null))
      },
    })
    const seen = channel<string[], string>({
      initial: [],
      merge: (before, write) => [...new Set([...before, write])],
    })
    const odd = channel<number, number>({
      initial: 1,
      merge: (_, write) => (write < 0 ? undefined : write + 1),
    })
    const channels = { facts, seen, odd }
    const step = (state: State, write: StepWrite['write']) => merge(channels, state, by('a', write))
    const one = step(initialState(channels), { facts: { a: 1, b: 2, c: 3 }, seen: 'x', odd: 4 })
    expect(one.operations).toEqual([
      { op: 'set', channel: 'facts', value: { a: 1, b: 2, c: 3 } },
      { op: 'set', channel: 'seen', value: ['x'] },
      { op: 'set', channel: 'odd', value: 5 },
    ])
    expect(step(one.state, { facts: { d: 4 }, seen: 'y', odd: -1 }).operations).toEqual([
      { op: 'patch', channel: 'facts', from: 'a@s1' },
      { op: 'append', channel: 'seen', from: 'a@s1' },
      { op: 'remove', channel: 'odd' },
    ])
    expect(step(one.state, { facts: { b: null }, seen: 'x' }).operations).toEqual([
      { op: 'patch', channel: 'facts', remove: ['b'] },
    ])
    expect(step(one.state, { facts: { e: 5, b: null } }).operations).toEqual([
      { op: 'set', channel: 'facts', value: { a: 1, c: 3, e: 5 } },
    ])
    const many = step(one.state, { facts: { f: 6, g: 7, h: 8, i: 9 } }).state
    expect(step(many, { facts: { e: 5, b: null } }).operations).toEqual([
      { op: 'patch', channel: 'facts', set: { e: 5 }, remove: ['b'] },
    ])
    expect(step(one.state, { odd: -1 }).state['odd']).toBe(1)
    expect(step(initialState(channels), { odd: -1, facts: {} }).state).toEqual({
      facts: {},
      seen: [],
      odd: 1,
    })
  })

  it('L1 a rule that takes something out while it adds what was written says both', () => {
    const newest = channel<Record<string, number>, Record<string, number>>({
      initial: {},
      merge: (before, write) => Object.fromEntries(Object.entries({ ...before, ...write }).slice(-4)),
    })
    const begin = merge({ newest }, {}, by('a', { newest: { a: 1, b: 2, c: 3, d: 4 } })).state
    expect(merge({ newest }, begin, by('a', { newest: { e: 5 } })).operations).toEqual([
      { op: 'patch', channel: 'newest', set: { e: 5 }, remove: ['a'] },
    ])
  })

  it('R3 a merge rule that fails or changes what it is given is named with its channel and node', () => {
    const channels = {
      list: channel<number[], number>({
        initial: [],
        merge: (before, write) => {
          before.push(write)
          return before
        },
      }),
    }
    expect(() => merge(channels, initialState(channels), by('a', { list: 1 }))).toThrow(
      /merge rule of channel "list" failed on what node "a" wrote/,
    )
  })
})

describe('state handed to nodes', () => {
  it('R3 is frozen all the way down, and what a node keeps stays its own', () => {
    const channels = { doc: last<unknown>(), notes: append<{ tags: string[] }>() }
    const mine = { tags: ['a'] }
    const { state } = merge(channels, initialState(channels), by('a', { doc: { deep: [mine] }, notes: mine }))
    mine.tags.push('b')
    expect(state).toEqual({ doc: { deep: [{ tags: ['a'] }] }, notes: [{ tags: ['a'] }] })
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      expect(Object.isFrozen(value)).toBe(true)
      Object.values(value).forEach(walk)
    }
    walk(state)
  })

  it('L8 what is owned already is neither copied nor walked again', () => {
    const channels = { doc: last<unknown>(), notes: append<unknown>() }
    const first = merge(channels, initialState(channels), by('a', { notes: { a: [1] } })).state
    const second = merge(channels, first, by('a', { notes: 2, doc: first['notes'] })).state
    expect(second['doc']).toBe(first['notes'])
    expect((second['notes'] as unknown[])[0]).toBe((first['notes'] as unknown[])[0])
  })

  it('R10 what cannot be stored is refused by its path', () => {
    const channels = { doc: last<unknown>() }
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const write = (doc: unknown) => () => merge(channels, {}, by('a', { doc }))
    expect(write({ x: 1, list: [{ y: 1 }, { run: () => 1 }] })).toThrow(
      /value at a\.doc\.list\[1\]\.run is a function/,
    )
    expect(write(circle)).toThrow(/refers to itself/)
    expect(write({ at: new Date(0), none: undefined })().state['doc']).toStrictEqual({ at: new Date(0) })
  })

  it('R5 a folded state is completed by what channels begin with', () => {
    const channels = { turns: last(3), notes: append(['begin']) }
    expect(restoreState(channels, { turns: 7, gone: 1 })).toEqual({ turns: 7, notes: ['begin'] })
  })
})

describe('messages', () => {
  const channels = { talk: messages() }
  const kept = (state: State) =>
    (state['talk'] as { id: string; content: string }[]).map((m) => `${m.id} ${m.content}`)

  it('R3 merge by id: new ones are appended, known ones replaced in place, tombstones take out', () => {
    const one = merge(
      channels,
      initialState(channels),
      by('a', { talk: [Message.human('hi'), Message.ai('ho')] }),
    ).state
    expect(kept(one)).toEqual(['id-1 hi', 'id-2 ho'])
    const two = merge(
      channels,
      one,
      by('a', { talk: [Message.human('HI', { id: 'id-1' }), Message.ai('new', { id: 'n' })] }),
    )
    expect(kept(two.state)).toEqual(['id-1 HI', 'id-2 ho', 'n new'])
    expect(two.operations).toEqual([{ op: 'set', channel: 'talk', value: two.state['talk'] }])
    const three = merge(
      channels,
      two.state,
      by('a', { talk: [Message.remove('id-2'), Message.remove('unknown')] }),
    )
    expect(kept(three.state)).toEqual(['id-1 HI', 'n new'])
    expect(merge(channels, three.state, by('a', { talk: Message.remove('id-2') })).operations).toEqual([])
  })

  it('L1 a prepared write is appended by reference, one that got its ids only now as a literal', () => {
    const begin = initialState(channels)
    const write = prepareWrite(channels, { talk: Message.human('hi') }, { node: 'a', nextId: ids() })
    expect(write).toEqual({ talk: [{ id: 'id-1', role: 'human', content: 'hi' }] })
    expect(prepareWrite(channels, write, { node: 'a', nextId: ids() })).toBe(write)
    expect(merge(channels, begin, by('a', write)).operations).toEqual([
      { op: 'append', channel: 'talk', from: 'a@s1' },
    ])
    expect(merge(channels, begin, by('a', { talk: Message.human('hi') })).operations).toEqual([
      { op: 'append', channel: 'talk', items: [{ id: 'id-1', role: 'human', content: 'hi' }] },
    ])
    const given = { talk: [{ ...Message.human('hi'), id: 'x' }] }
    expect(merge(channels, begin, by('a', given)).operations).toEqual([
      { op: 'append', channel: 'talk', from: 'a@s1' },
    ])
  })

  it('R7 an older state can be merged into again, as a fork does', () => {
    const write = (id: string) => by('a', { talk: { role: 'ai', content: '', id } })
    const one = merge(channels, initialState(channels), write('x')).state
    const two = merge(channels, one, write('y')).state
    for (const other of [merge(channels, one, write('y')), merge(channels, one, write('y'))])
      expect(other).toEqual({
        ...other,
        state: two,
        operations: [{ op: 'append', channel: 'talk', from: 'a@s1' }],
      })
    expect(merge(channels, two, write('x')).operations).toEqual([expect.objectContaining({ op: 'set' })])
  })

  it('R3 what is no message is refused by its place', () => {
    const write = (talk: unknown) => () => merge(channels, {}, by('a', { talk }))
    expect(write([Message.human('x'), 'text'])).toThrow(/message at a\.talk\[1\] is not a plain object/)
    expect(write({ role: 'robot', content: '' })).toThrow(/has no role/)
    expect(write({ role: 'remove' })).toThrow(/without naming its id/)
    expect(write({ role: 'ai', content: '', id: 1 })).toThrow(/id that is no text/)
  })
})

describe('operations', () => {
  const channels = {
    talk: messages(),
    notes: append<number>([0]),
    turns: last(0, { onConflict: 'last' }),
    facts: channel<Record<string, number>, Record<string, number>>({
      initial: { z: 0 },
      merge: (a, b) => ({ ...a, ...b }),
    }),
    seen: channel<number[], number>({
      initial: [],
      merge: (a, b) => (b === 0 ? undefined : a.includes(b) ? a : [...a, b]),
    }),
  }
  const small = fc.nat(4)
  const id = fc.constantFrom('a', 'b', 'c', 'd')
  const message = fc.oneof(
    fc.record({ role: fc.constant('ai'), content: fc.string(), id }),
    fc.record({ role: fc.constant('ai'), content: fc.string() }),
    id.map((each) => Message.remove(each)),
  )
  const write = fc.record(
    {
      talk: fc.oneof(message, fc.array(message, { maxLength: 3 })),
      notes: fc.oneof(small, fc.array(small, { maxLength: 3 })),
      turns: small,
      facts: fc.dictionary(fc.constantFrom('x', 'y', 'z', '__proto__'), small),
      seen: small,
    },
    { requiredKeys: [] },
  )
  const supersteps = fc.array(fc.array(write, { maxLength: 3 }), { maxLength: 8 })

  it('L1 folded without any merge rule, they give the state that the merge gave', () => {
    fc.assert(
      fc.property(supersteps, fc.boolean(), (rounds, isPrepared) => {
        const nextId = ids()
        let state = initialState(channels)
        let folded: State = {}
        for (const round of rounds) {
          const writes = round.map((each, i) => ({
            stepId: `n${i}@s1`,
            write: isPrepared ? prepareWrite(channels, each, { node: `n${i}`, nextId }) : each,
          }))
          const merged = mergeWrites(channels, state, writes, { nextId })
          folded = fold(folded, merged.operations, writes)
          state = merged.state
          expect(restoreState(channels, folded)).toEqual(state)
        }
      }),
    )
  })
})
