import { describe, expect, it } from 'vitest'
import { append, channel, last } from './channels.ts'
import { command, send } from './command.ts'
import { END, START, type SubGraph } from './definition.ts'
import { Message } from './message.ts'
import { messages } from './messages.ts'
import { StateGraph } from './state-graph.ts'

/** What the compiler must take and must refuse; a line that expects an error fails the type check without one. */
const begin = () =>
  new StateGraph({
    talk: messages(),
    notes: append<string>(),
    turns: last(0),
    topic: last<string>(),
    most: channel({ initial: 0, merge: (before, write: number) => Math.max(before, write) }),
  })

const same = <A>(value: A): A => value

describe('types of a graph', () => {
  it('R3 infers the state from the channels, widened', () => {
    const graph = begin().addNode('think', (state) => {
      same<number>(state.turns)
      same<string | undefined>(state.topic)
      same<readonly string[]>(state.notes)
      same<string>(state.talk[0]?.id ?? '')
      same<number>(state.most)
      // @ts-expect-error -- a topic may not be there yet
      same<string>(state.topic)
      // @ts-expect-error -- no such channel
      same(state.nothing)
      // @ts-expect-error -- the state is read-only
      state.turns = 1
      return { turns: state.turns + 1, notes: 'one', topic: 'owls', most: 3 }
    })
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 takes one item, a list, a command, nothing, and promises of them', () => {
    const graph = begin()
      .addNode('one', async () => ({ notes: 'a', talk: Message.human('hi') }))
      .addNode('many', async (_state, run) => ({ notes: ['a', 'b'], talk: [Message.remove(run.runId)] }))
      .addNode('none', () => {})
      .addNode('maybe', async (state) => (state.turns > 1 ? { turns: 1 } : undefined))
      .addNode('told', () => command({ update: { turns: 2 }, goto: 'one' }))
      .addNode('gone', () => command({ goto: [END] }))
      .addNode('either', (state) => (state.turns > 1 ? { turns: 1 } : command({ end: true })))
      .addNode('literal', () => ({ talk: { role: 'ai', content: 'hi' } }))
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 a write to no channel, or of a wrong type, is a compile error', () => {
    const graph = begin()
    // @ts-expect-error -- "turn" is no channel
    graph.addNode('a', () => ({ turn: 1 }))
    // @ts-expect-error -- one right channel does not excuse a wrong one
    graph.addNode('b', async () => ({ turns: 1, turn: 1 }))
    // @ts-expect-error -- turns holds numbers
    graph.addNode('c', () => ({ turns: 'one' }))
    // @ts-expect-error -- notes are texts
    graph.addNode('d', async () => ({ notes: [1] }))
    // @ts-expect-error -- the same holds for the update of a command
    graph.addNode('e', () => command({ update: { turn: 1 } }))
    // @ts-expect-error -- a text is no write
    graph.addNode('f', () => 'done')
    // @ts-expect-error -- extra keys in one of two returns
    graph.addNode('g', (state) => (state.turns > 1 ? { turns: 1 } : { turns: 1, turn: 1 }))
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 a wrong edge name is a compile error', () => {
    const graph = begin()
      .addNode('think', () => {})
      .addNode('act', () => {})
      .addEdge(START, 'think')
      .addEdge('think', 'act')
      .addEdge(['think', 'act'], 'think')
      .addEdge('act', END)
      .setEntryPoint('think')
    // @ts-expect-error -- no such node
    graph.addEdge('think', 'atc')
    // @ts-expect-error -- no such node
    graph.addEdge('thnik', 'act')
    // @ts-expect-error -- no such node
    graph.addEdge(['think', 'atc'], 'act')
    // @ts-expect-error -- nothing comes after the end
    graph.addEdge(END, 'act')
    // @ts-expect-error -- nothing goes back to the start
    graph.addEdge('act', START)
    // @ts-expect-error -- no such node
    graph.setEntryPoint('atc')
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 a wrong conditional target is a compile error', () => {
    const graph = begin()
      .addNode('think', () => {})
      .addNode('act', () => {})
      .addConditionalEdges('think', (state) => (state.turns < 3 ? 'think' : END), ['think', END])
      .addConditionalEdges('think', async () => ['think', 'act'] as const, ['think', 'act'])
      .addConditionalEdges(START, (state) => state.turns > 1, { true: 'think', false: END })
      .addConditionalEdges('act', () => 'again', { again: 'think', over: END })
      .addGate('route', (state) => (state.turns > 1 ? 'act' : END), ['act', END])
      .addGate('yes', (state) => state.turns > 1, { true: 'route', false: 'act' })
    // @ts-expect-error -- no such node
    graph.addConditionalEdges('think', () => 'atc', ['atc'])
    // @ts-expect-error -- "act" is not among the targets
    graph.addConditionalEdges('think', () => 'act', ['think', END])
    // @ts-expect-error -- no such label
    graph.addConditionalEdges('think', () => 'agian', { again: 'think' })
    // @ts-expect-error -- no such node behind the label
    graph.addConditionalEdges('think', () => 'again', { again: 'thnik' })
    // @ts-expect-error -- a boolean needs the labels true and false
    graph.addConditionalEdges('think', () => true, { yes: 'think' })
    // @ts-expect-error -- no such node
    graph.addGate('bad', () => 'atc', ['atc'])
    // @ts-expect-error -- decisions stand at nodes
    graph.addConditionalEdges('thnik', () => 'act', ['act'])
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 the compiler explains a wrong name by the names there are: the last overload is the common one', () => {
    const graph = begin()
      .addNode('think', () => {})
      .addNode('act', () => {})
    type Edge = Parameters<typeof graph.addEdge>
    same<readonly ['think' | 'act' | typeof START, 'think' | 'act' | typeof END]>(['think', 'act'] as Edge)
    type Branch = Parameters<typeof graph.addConditionalEdges>
    same<readonly ('think' | 'act' | typeof END)[]>(['act'] as Branch[2])
    type Gate = Parameters<typeof graph.addGate>
    same<readonly ('think' | 'act' | typeof END)[]>(['act'] as Gate[2])
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 the input of a send has the type that its node takes', () => {
    const graph = begin()
      .addNode('plan', () => {})
      .addNode('fetch', async (input: { url: string }) => ({ notes: input.url }))
      .addConditionalEdges('plan', (state) => state.notes.map((url) => send('fetch', { url })), ['fetch'])
      .addConditionalEdges('plan', (s) => (s.turns > 1 ? send('fetch', { url: '' }) : END), ['fetch', END])
    // @ts-expect-error -- a url is a text
    graph.addConditionalEdges('plan', () => send('fetch', { url: 1 }), ['fetch'])
    // @ts-expect-error -- an edge would hand over the state
    graph.addEdge('plan', 'fetch')
    // @ts-expect-error -- so would a decision for its name
    graph.addConditionalEdges('plan', () => 'fetch', ['fetch'])
    expect(graph).toBeInstanceOf(StateGraph)
  })

  it('R3 a compiled graph is a node like any other', () => {
    const structure = { channels: [], nodes: [], edges: [], joins: [], branches: [] }
    const inner: SubGraph = { kind: 'graph', name: 'inner', structure }
    const graph = begin().addNode('inner', inner, { defer: true }).addEdge(START, 'inner')
    // @ts-expect-error -- no such node
    graph.addEdge('inner', 'outer')
    // @ts-expect-error -- neither a function nor a graph
    graph.addNode('other', { kind: 'tree' })
    expect(graph).toBeInstanceOf(StateGraph)
  })
})
