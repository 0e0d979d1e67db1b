import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Channels } from './channel.ts'
import { last } from './channels.ts'
import { send } from './command.ts'
import { END, type GraphDefinition, START } from './definition.ts'
import { type EndedTask, type Joins, type Plan, planNext, type Task } from './plan.ts'
import { StateGraph } from './state-graph.ts'

const begin = () => new StateGraph({ turns: last(0) })
const none = () => {}

const ended = (node: string, more: Partial<EndedTask> = {}): EndedTask => ({
  node,
  index: 0,
  decision: null,
  goto: null,
  sends: [],
  ended: false,
  ...more,
})
const names = ({ tasks }: Plan): string[] => tasks.map(({ node }) => node)
const start = (definition: GraphDefinition): Plan => planNext(definition, [ended(START)], {})
/** The next superstep when each task ends as told, by default along its edges. */
const after = (
  definition: GraphDefinition,
  { tasks, joins }: Plan,
  told: Record<string, Partial<EndedTask>> = {},
): Plan =>
  planNext(
    definition,
    tasks.map(({ node, index }) => ended(node, { index, ...told[node] })),
    joins,
  )

describe('planning supersteps', () => {
  const diamond = begin()
    .addNode('a', none)
    .addNode('c', none)
    .addNode('b', none)
    .addNode('join', none)
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('a', 'c')
    .addEdge(['b', 'c'], 'join')
    .toDefinition()

  it('R3 runs what edges lead to, in order of declaration, and ends where nothing follows', () => {
    const one = start(diamond)
    expect(names(one)).toEqual(['a'])
    const two = after(diamond, one)
    expect(two.tasks).toEqual([
      { node: 'c', index: 0 },
      { node: 'b', index: 1 },
    ])
    const three = after(diamond, two)
    expect(names(three)).toEqual(['join'])
    expect(after(diamond, three)).toEqual({ tasks: [], joins: {}, done: true })
  })

  it('R3 a join waits for all of its sources, over supersteps, and then begins anew', () => {
    const uneven = begin()
      .addNode('a', none)
      .addNode('b', none)
      .addNode('late', none)
      .addNode('join', none)
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge('b', 'late')
      .addEdge(['a', 'late'], 'join')
      .addEdge('join', 'a')
      .toDefinition()
    const two = after(uneven, start(uneven))
    expect(two).toEqual({ tasks: [{ node: 'late', index: 0 }], joins: { 'join#0': ['a'] }, done: false })
    const three = after(uneven, two)
    expect(three).toEqual({ tasks: [{ node: 'join', index: 0 }], joins: {}, done: false })
    const five = after(uneven, after(uneven, three))
    expect(five).toEqual({ tasks: [], joins: { 'join#0': ['a'] }, done: true })
  })

  it('R3 two joins of one node are kept apart', () => {
    const two = begin()
      .addNode('a', none)
      .addNode('b', none)
      .addNode('c', none)
      .addNode('join', none)
      .addEdge(START, 'a')
      .addEdge(START, 'c')
      .addEdge('join', 'b')
      .addEdge(['a', 'b'], 'join')
      .addEdge(['b', 'c'], 'join')
      .addConditionalEdges(START, () => END, ['join', END])
      .toDefinition()
    expect(after(two, start(two))).toEqual({
      tasks: [],
      joins: { 'join#0': ['a'], 'join#1': ['c'] },
      done: true,
    })
  })

  const routed = begin()
    .addNode('work', none)
    .addNode('other', none)
    .addNode('sent', (_: { n: number }) => {})
    .addConditionalEdges('work', () => END, ['work', 'other', 'sent', END])
    .addEdge(START, 'work')
    .addEdge('other', END)
    .toDefinition()

  it('R3 follows the names that were decided; END ends the branch only', () => {
    const one = start(routed)
    expect(names(after(routed, one, { work: { decision: ['other', 'work', END] } }))).toEqual([
      'work',
      'other',
    ])
    expect(after(routed, one, { work: { decision: [END] } }).done).toBe(true)
  })

  it('R3 `send` fans out; it does not end the run', () => {
    const sends = [send('sent', { n: 1 }), send('sent', { n: 2 }), send('work', null)]
    const two = after(routed, start(routed), { work: { sends, decision: ['other'] } })
    expect(two.tasks).toEqual([
      { node: 'other', index: 0 },
      { node: 'sent', index: 1, input: { n: 1 } },
      { node: 'sent', index: 2, input: { n: 2 } },
      { node: 'work', index: 3, input: null },
    ])
    expect(two.done).toBe(false)
  })

  it('R3 a node sent to several times leads on once', () => {
    const fan = begin()
      .addNode('plan', none, { targets: ['sent'] })
      .addNode('sent', (_: { n: number }) => {})
      .addNode('sum', none)
      .addEdge(START, 'plan')
      .addEdge('sent', 'sum')
      .toDefinition()
    const sends = [1, 2, 3].map((n) => send('sent', { n }))
    expect(names(after(fan, after(fan, start(fan), { plan: { sends } })))).toEqual(['sum'])
  })

  it('R3 a command goes to its nodes in place of the edges, and its `end` ends the run', () => {
    const one = after(diamond, start(diamond), { a: { goto: ['join'] } })
    expect(one).toEqual({ tasks: [{ node: 'join', index: 0 }], joins: {}, done: false })
    const two = after(diamond, start(diamond))
    expect(after(diamond, two, { b: { goto: [END] } })).toEqual({
      tasks: [],
      joins: { 'join#0': ['c'] },
      done: true,
    })
    expect(after(diamond, two, { b: { ended: true, sends: [send('a', 1)] } })).toEqual({
      tasks: [],
      joins: {},
      done: true,
    })
  })

  it('R3 a command that goes where there is no node, or where it did not say, is refused', () => {
    expect(() => after(diamond, start(diamond), { a: { goto: ['nowhere'] } })).toThrow(
      /Node "a" goes to "nowhere", which is no node of this graph. It can go to: a, c, b, join, or END/,
    )
    const told = begin()
      .addNode('a', none, { targets: ['b'] })
      .addNode('b', none)
      .addNode('c', none)
      .addEdge(START, 'a')
      .addEdge('b', 'c')
      .toDefinition()
    expect(names(after(told, start(told), { a: { goto: ['b'] } }))).toEqual(['b'])
    expect(() => after(told, start(told), { a: { sends: [send('c', 1)] } })).toThrow(/not among its targets/)
  })

  it('R3 deferred nodes wait for all incoming branches', () => {
    const deferred = begin()
      .addNode('short', none)
      .addNode('sum', none, { defer: true })
      .addNode('long', none)
      .addNode('longer', none)
      .addNode('report', none, { defer: true })
      .addEdge(START, 'short')
      .addEdge(START, 'long')
      .addEdge('short', 'sum')
      .addEdge('short', 'report')
      .addEdge('long', 'longer')
      .addEdge('longer', 'sum')
      .addEdge('sum', 'report')
      .toDefinition()
    const two = after(deferred, start(deferred))
    expect(two.tasks).toEqual([{ node: 'longer', index: 0 }])
    expect(two.joins).toEqual({ sum: ['short'], report: ['short'] })
    const three = after(deferred, two)
    expect(three.tasks).toEqual([{ node: 'sum', index: 0 }])
    expect(three.joins).toEqual({ report: ['short'] })
    const four = after(deferred, three)
    expect(names(four)).toEqual(['report'])
    expect(after(deferred, four)).toEqual({ tasks: [], joins: {}, done: true })
  })

  it('R3 a deferred node waits for sends too; two that lead to each other do not wait for ever', () => {
    const mutual = begin()
      .addNode('one', none, { defer: true })
      .addNode('two', none, { defer: true })
      .addNode('work', none)
      .addEdge(START, 'one')
      .addEdge(START, 'two')
      .addEdge('one', 'two')
      .addEdge('two', 'one')
      .addConditionalEdges(START, () => END, ['work', END])
      .toDefinition()
    const waiting = planNext(mutual, [ended(START, { sends: [send('work', 1)] })], {})
    expect(waiting.tasks).toEqual([{ node: 'work', index: 0, input: 1 }])
    expect(names(after(mutual, waiting))).toEqual(['one', 'two'])
  })

  it('R3 targets of a gate that is itself ready in this superstep wait one superstep', () => {
    const gated = begin()
      .addNode('a', none)
      .addNode('write', none)
      .addNode('ask', none)
      .addGate('route', () => 'write', ['write', 'ask'])
      .addEdge(START, 'a')
      .addEdge('a', 'route')
      .addEdge('a', 'write')
      .addEdge('write', 'route')
      .toDefinition()
    const two = after(gated, start(gated))
    expect(two).toEqual({ tasks: [{ node: 'route', index: 0 }], joins: { write: ['a'] }, done: false })
    // Once, though both the edge and the gate led to it.
    expect(after(gated, two, { route: { decision: ['write'] } })).toEqual({
      tasks: [{ node: 'write', index: 0 }],
      joins: {},
      done: false,
    })
    const other = after(gated, two, { route: { decision: ['ask'] } })
    expect(names(other)).toEqual(['write', 'ask'])
  })

  it('R3 gates that choose each other do not stop the run, nor does a gate in a loop hold its target for ever', () => {
    const loop = begin()
      .addNode('x', none)
      .addGate('g', () => 'x', ['x'])
    const gated = (loop as unknown as StateGraph<Channels, Record<string, unknown>>)
      .addGate('h', () => 'g', ['g', 'h', 'x'])
      .addEdge(START, 'g')
      .addEdge(START, 'h')
      .addEdge(START, 'x')
      .toDefinition()
    const one = start(gated)
    expect(names(one)).toEqual(['h'])
    expect(names(after(gated, one, { h: { decision: ['h'] } }))).toEqual(['x', 'g', 'h'])
  })
})

describe('planning random graphs', () => {
  const NODES = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'] as const
  const node = fc.constantFrom(...NODES)
  const pair = fc.tuple(node, node)
  interface Drawn {
    readonly edges: readonly (readonly [string, string])[]
    readonly joins: readonly (readonly [readonly string[], string])[]
    readonly deferred: readonly string[]
  }
  const drawn: fc.Arbitrary<Drawn> = fc.record({
    edges: fc.array(pair, { maxLength: 9 }),
    joins: fc.array(fc.tuple(fc.uniqueArray(node, { minLength: 2, maxLength: 3 }), node), { maxLength: 2 }),
    deferred: fc.uniqueArray(node, { maxLength: 2 }),
  })
  const build = ({ edges, joins, deferred }: Drawn): GraphDefinition => {
    const graph = begin() as unknown as StateGraph<Channels, Record<string, unknown>>
    for (const name of NODES) graph.addNode(name, none, { defer: deferred.includes(name) })
    for (const name of NODES) graph.addConditionalEdges(START, () => name, [name])
    for (const [from, to] of edges) graph.addEdge(from, to)
    for (const [sources, target] of joins) graph.addEdge(sources, target)
    return graph.toDefinition()
  }
  const outcome = fc.record({
    decision: fc.constant(null),
    goto: fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.array(node, { maxLength: 2 }) },
    ),
    sends: fc.array(fc.record({ node, input: fc.nat() }), { maxLength: 2 }),
  })
  const outcomes = fc.array(outcome, { minLength: 12, maxLength: 12 })

  it('R5 the order in which tasks ended does not matter', () => {
    fc.assert(
      fc.property(
        drawn,
        fc.uniqueArray(node),
        outcomes,
        fc.infiniteStream(fc.nat()),
        (graph, first, told, dice) => {
          const definition = build(graph)
          const all = first.map((name, i) => ended(name, { index: i, ...told[i] }))
          const shuffled = all
            .map((each) => ({ each, at: dice.next().value as number }))
            .sort((a, b) => a.at - b.at)
          expect(
            planNext(
              definition,
              shuffled.map(({ each }) => each),
              {},
            ),
          ).toEqual(planNext(definition, all, {}))
        },
      ),
    )
  })

  /** What must run at some time: everything an edge, a goto, a full join or a send led to. */
  it('R5 no task is lost and none is doubled, whatever waits', () => {
    fc.assert(
      fc.property(
        drawn,
        fc.uniqueArray(node, { minLength: 1 }),
        fc.array(outcomes, { maxLength: 5 }),
        (graph, first, rounds) => {
          const definition = build(graph)
          let plan = planNext(definition, [ended(START, { decision: first })], {})
          for (const told of rounds) {
            const all = plan.tasks.map(({ node: name, index }) => ended(name, { index, ...told[index % 12] }))
            const next = planNext(definition, all, plan.joins)
            expect(summary(next)).toEqual(expected(definition, all, plan.joins))
            expect(next.tasks.map(({ index }) => index)).toEqual(next.tasks.map((_, i) => i))
            plan = next
          }
        },
      ),
    )
  })

  it('R3 deferred nodes wait for all incoming branches, in any graph', () => {
    fc.assert(
      fc.property(drawn, fc.uniqueArray(node, { minLength: 1 }), (graph, first) => {
        const definition = build(graph)
        let plan = planNext(definition, [ended(START, { decision: first })], {})
        for (let round = 0; round < 12; round++) {
          const kinds = new Set(plan.tasks.map((task) => graph.deferred.includes(task.node)))
          expect(kinds.size).toBeLessThan(2)
          if (plan.tasks.length === 0)
            expect(Object.keys(plan.joins).filter((key) => !key.includes('#'))).toEqual([])
          plan = after(definition, plan)
        }
      }),
    )
  })

  /** Nodes that run or wait, inputs sent, and arrivals at joins: counted by going through the edges one by one. */
  function expected(definition: GraphDefinition, all: readonly EndedTask[], joins: Joins): Summary {
    const led = new Set(Object.keys(joins).filter((key) => !key.includes('#')))
    const arrived = new Map(definition.joins.map(({ key }) => [key, new Set(joins[key])]))
    for (const { node: from, goto } of all) {
      for (const to of goto ?? definition.edges.filter((edge) => edge.from === from).map((edge) => edge.to))
        led.add(to)
      if (goto === null)
        for (const { key, sources } of definition.joins)
          if (sources.includes(from)) arrived.get(key)?.add(from)
    }
    for (const { key, sources, target } of definition.joins)
      if (arrived.get(key)?.size === sources.length) {
        led.add(target)
        arrived.delete(key)
      }
    const open = [...arrived].filter(([, sources]) => sources.size > 0)
    return {
      nodes: [...led].sort(),
      sends: all.flatMap(({ sends }) => sends.map((each) => `${each.node} ${String(each.input)}`)),
      joins: Object.fromEntries(open.map(([key, sources]) => [key, [...sources].sort()])),
    }
  }
  interface Summary {
    readonly nodes: readonly string[]
    readonly sends: readonly string[]
    readonly joins: Readonly<Record<string, readonly string[]>>
  }
  function summary({ tasks, joins }: Plan): Summary {
    const isSent = (task: Task): boolean => Object.hasOwn(task, 'input')
    const waiting = Object.keys(joins).filter((key) => !key.includes('#'))
    const open = Object.entries(joins).filter(([key]) => key.includes('#'))
    return {
      nodes: [...tasks.filter((task) => !isSent(task)).map((task) => task.node), ...waiting].sort(),
      sends: tasks.filter(isSent).map((task) => `${task.node} ${String(task.input)}`),
      joins: Object.fromEntries(open.map(([key, sources]) => [key, [...sources].sort()])),
    }
  }
})
