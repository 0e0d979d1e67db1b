import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { END, last, messages, type Run, START, StateGraph } from '../index.ts'

const ledger = createMemoryWorld().open()
interface Loose {
  n: number
  list: number[]
  deep?: { a: number }
}
const graph = (fn: (state: Loose, run: Run) => void | Promise<void>, safety?: 'write') =>
  new StateGraph({ n: last(0), list: last<number[]>([2, 1]), deep: last({ a: 1 }), talk: messages() })
    .addNode('spoil', (state, run) => fn(state as unknown as Loose, run), { safety })
    .addEdge(START, 'spoil')

describe('graphs used wrongly', () => {
  it.each<[string, (state: Loose) => void]>([
    ['assigns', (state) => void (state.n = 2)],
    ['assigns deep inside', (state) => void ((state.deep as { a: number }).a = 2)],
    ['pushes', (state) => void state.list.push(2)],
    ['fills', (state) => void state.list.fill(3)],
    ['deletes', (state) => void delete state.deep],
    ['adds', (state) => void Object.assign(state, { more: 1 })],
    ['defines', (state) => void Object.defineProperty(state, 'more', { value: 1 })],
  ])('R3 a node that %s in the state it was given is told so', async (_what, fn) => {
    for (const compiled of [
      graph(fn).compile(),
      graph(async (state) => fn(state)).compile({ checkpointer: ledger }),
      graph(fn, 'write').compile({ checkpointer: ledger }),
    ]) {
      const { error } = await compiled.invoke({})
      expect(error?.code).toBe('bad_write')
      expect(error?.message).toMatch(
        /^Node "spoil" tried to change the state it was given \(.*\)\. Return what it writes/,
      )
    }
  })

  it('R3 so is a gate and a conditional edge; another TypeError stays as it is', async () => {
    const spoil = (state: unknown): typeof END => {
      ;(state as Loose).n = 2
      return END
    }
    const gate = new StateGraph({ n: last(0) }).addGate('choose', spoil, [END]).addEdge(START, 'choose')
    expect((await gate.compile().invoke({})).error?.message).toMatch(/^Node "choose" tried to change/)
    const edge = new StateGraph({ n: last(0) })
      .addNode('a', () => {})
      .addEdge(START, 'a')
      .addConditionalEdges('a', spoil, [END])
    expect((await edge.compile().invoke({})).error?.message).toMatch(/^Node "a" tried to change/)
    const other = graph((state) => (state.n as unknown as () => void)())
    expect((await other.compile().invoke({})).error).toMatchObject({ name: 'TypeError', code: 'thrown' })
  })

  it('R3 an input that names no channel is called the input, and so is an update from outside', async () => {
    const compiled = graph(() => {}).compile({ checkpointer: ledger })
    const nope = { nope: 1 } as never
    await expect(compiled.invoke(nope)).rejects.toThrow(/^The input names "nope", which is no channel/)
    await expect(compiled.invoke([] as never)).rejects.toThrow(
      /^The input is a list where an object was expected/,
    )
    await compiled.invoke({}, { threadId: 'edited' })
    const place = { threadId: 'edited' }
    await expect(compiled.updateState(place, nope)).rejects.toThrow(/^The update names "nope"/)
    expect(
      (
        await graph(() => {})
          .compile()
          .invoke(nope)
      ).error?.message,
    ).toMatch(/^The input names "nope"/)
  })

  it('R3 a message with a role that no model knows is refused', async () => {
    const talk = { role: 'owl', content: 'hi' } as never
    const compiled = graph(() => {}).compile({ checkpointer: ledger })
    await expect(compiled.invoke({ talk })).rejects.toThrow('has no role of user, assistant, system or tool')
  })
})
