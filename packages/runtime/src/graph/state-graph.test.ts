import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Channels } from './channel.ts'
import { append, last } from './channels.ts'
import { command, readReturn, send } from './command.ts'
import { readDecision } from './decision.ts'
import { type Branch, END, START } from './definition.ts'
import { drawData, drawMermaid } from './draw.ts'
import { StateGraph } from './state-graph.ts'
import { nodeSignature, structureHash, structureOf } from './structure.ts'

type Loose = StateGraph<Channels, Record<string, unknown>>
const typed = () => new StateGraph({ turns: last(0), notes: append<string>() })
/** As from JavaScript, where the compiler finds nothing. */
const loose = (): Loose => typed()
const none = () => {}

describe('a graph in the making', () => {
  it('R3 gives everything that runs it, in order of declaration', () => {
    const think = async () => ({ turns: 1 })
    const choose = () => END
    const definition = typed()
      .addNode('think', think, { retry: 3, timeoutMs: 100, safety: 'write', cache: true })
      .addNode('act', none, { defer: true, targets: ['think'] })
      .addGate('route', choose, ['act', END])
      .addEdge(START, 'think')
      .addEdge('think', 'route')
      .addEdge('think', 'route')
      .addEdge(['think', 'act'], 'route')
      .addConditionalEdges('act', () => true, { true: 'think', false: END })
      .toDefinition()
    const policy = { retry: 3, timeoutMs: 100, safety: 'write', cache: true }
    expect(definition).toMatchObject({
      nodes: [
        { name: 'think', kind: 'node', fn: think, defer: false, targets: null, policy },
        { name: 'act', kind: 'node', defer: true, targets: ['think'], policy: {} },
        { name: 'route', kind: 'gate', fn: choose, defer: false, targets: null, policy: {} },
      ],
      edges: [
        { from: START, to: 'think' },
        { from: 'think', to: 'route' },
      ],
      joins: [{ key: 'route#0', sources: ['think', 'act'], target: 'route' }],
      branches: [
        {
          from: 'route',
          decide: choose,
          targets: [
            { label: null, target: 'act' },
            { label: null, target: END },
          ],
        },
        {
          from: 'act',
          targets: [
            { label: 'true', target: 'think' },
            { label: 'false', target: END },
          ],
        },
      ],
      entry: ['think'],
    })
    expect(Object.keys(definition.channels)).toEqual(['turns', 'notes'])
  })

  it('R3 a definition does not change when the builder goes on', () => {
    const graph = typed().addNode('a', none).setEntryPoint('a')
    const definition = graph.toDefinition()
    graph.addNode('b', none).addEdge('a', 'b')
    expect(definition.nodes.map(({ name }) => name)).toEqual(['a'])
    expect(definition.edges).toEqual([{ from: START, to: 'a' }])
  })

  it.each<[string, (graph: Loose) => Loose, RegExp]>([
    ['two nodes of one name', (g) => g.addNode('a', none).addNode('a', none), /two nodes named "a"/],
    ['a reserved name', (g) => g.addNode(END, none), /"__end__" is reserved/],
    ['a slash in a name', (g) => g.addNode('a/b', none), /"a\/b" holds "\/", "@" or "#"/],
    ['an @ in a name', (g) => g.addGate('a@1', () => END, [END]), /"a@1" holds/],
    ['a # in a name', (g) => g.addNode('a#1', none), /"a#1" holds/],
    ['an empty name', (g) => g.addNode(' ', none), /has no name/],
    ['no entry', (g) => g.addNode('a', none), /no entry/],
    ['no entry but the end', (g) => g.addNode('a', none).addEdge(START, END), /no entry/],
    [
      'an edge to no node',
      (g) => g.addNode('a', none).addEdge(START, 'b'),
      /from START leads to "b", which is no node/,
    ],
    [
      'an edge from no node',
      (g) => g.addNode('a', none).addEdge(START, 'a').addEdge('b', 'a'),
      /begins at "b"/,
    ],
    [
      'an edge from END',
      (g) => g.addNode('a', none).addEdge(END, 'a'),
      /begins at END, which cannot stand there/,
    ],
    ['an edge to START', (g) => g.addNode('a', none).addEdge('a', START), /leads to START, which cannot/],
    ['a join of no node', (g) => g.addNode('a', none).addEdge(['a', 'b'], 'a'), /to "a" waits for "b"/],
    ['a join of nothing', (g) => g.addNode('a', none).addEdge([], 'a'), /begins nowhere/],
    [
      'a join to END',
      (g) => g.addNode('a', none).addNode('b', none).addEdge(['a', 'b'], END),
      /leads to END/,
    ],
    [
      'a decision for no node',
      (g) => g.addNode('a', none).addConditionalEdges('a', () => 'b', ['b']),
      /at "a" may choose "b"/,
    ],
    [
      'a decision at no node',
      (g) => g.addNode('a', none).addConditionalEdges('b', () => 'a', ['a']),
      /stands at "b"/,
    ],
    [
      'a decision without targets',
      (g) => g.addNode('a', none).addConditionalEdges('a', () => [], []),
      /"a" has no targets/,
    ],
    ['commands to no node', (g) => g.addNode('a', none, { targets: ['b'] }), /targets of "a" name "b"/],
    [
      'an unreachable node',
      (g) => g.addNode('a', none).addNode('b', none).setEntryPoint('a'),
      /leads to node "b"/,
    ],
    [
      'an edge of a gate',
      (g) =>
        g
          .addNode('a', none)
          .addGate('g', () => 'a', ['a'])
          .setEntryPoint('g')
          .addEdge('g', 'a'),
      /Gate "g" has edges of its own/,
    ],
  ])('R3 %s is one clear error', (_, build, message) => {
    expect(() => build(loose()).toDefinition()).toThrow(expect.objectContaining({ code: 'bad_graph' }))
    expect(() => build(loose()).toDefinition()).toThrow(message)
  })

  it('R3 a node that leads nowhere is fine, and so is one that only commands or sends reach', () => {
    const graph = typed()
      .addNode('a', none, { targets: ['b'] })
      .addNode('b', none)
      .setEntryPoint('a')
    expect(graph.toDefinition().entry).toEqual(['a'])
  })
})

describe('decisions', () => {
  const branch = (targets: Branch['targets']): Branch => ({ from: 'route', decide: none, targets })
  const listed = branch(['write', 'ask', END].map((target) => ({ label: null, target })))
  const labelled = branch([
    { label: 'true', target: 'write' },
    { label: 'false', target: END },
    { label: 'again', target: 'write' },
  ])

  it('R3 a gate stores the target names it chose, never the raw return; booleans are normalised; END is stored as text', () => {
    expect(readDecision(listed, 'write')).toEqual({ targets: ['write'], sends: [] })
    expect(readDecision(listed, ['ask', END, 'ask'])).toEqual({ targets: ['ask', '__end__'], sends: [] })
    expect(readDecision(labelled, true).targets).toEqual(['write'])
    expect(readDecision(labelled, false).targets).toEqual(['__end__'])
    expect(readDecision(labelled, ['again', true]).targets).toEqual(['write'])
    expect(readDecision(listed, []).targets).toEqual([])
  })

  it('R3 sends are kept apart from names', () => {
    const one = send('ask', { n: 1 })
    expect(readDecision(listed, [one, 'write'])).toEqual({ targets: ['write'], sends: [one] })
    expect(readDecision(listed, one)).toEqual({ targets: [], sends: [one] })
  })

  it.each([
    ['wrtie', /at "route" gave "wrtie", which is not among its targets. Return one of write, ask, __end__/],
    [undefined, /gave nothing/],
    [null, /gave null/],
    [true, /gave "true"/],
    [7, /gave a number/],
    [send('other', 1), /gave a send to "other"/],
  ])('R3 a decision for what is no target is refused: %o', (returned, message) => {
    expect(() => readDecision(listed, returned)).toThrow(message)
  })
})

describe('commands', () => {
  it('R3 a command can update, go to, send to many, or end', () => {
    const sends = [send('a', 1), send('b', 2)]
    expect(readReturn(command({ update: { turns: 1 }, goto: 'a', send: sends }))).toEqual({
      write: { turns: 1 },
      goto: ['a'],
      sends,
      end: false,
    })
    expect(readReturn(command({ goto: ['a', END], send: sends[0], end: true }))).toEqual({
      write: null,
      goto: ['a', '__end__'],
      sends: [sends[0]],
      end: true,
    })
  })

  it('R3 a returned object is a write, also one that looks like a command; nothing is no write', () => {
    const write = { update: 1, goto: 'x', sends: [] }
    expect(readReturn(write)).toEqual({ write, goto: null, sends: [], end: false })
    expect(readReturn(undefined)).toEqual({ write: null, goto: null, sends: [], end: false })
  })
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hash = (graph: { toDefinition(): Parameters<typeof structureOf>[0] }): string =>
  structureHash(sha256, structureOf(graph.toDefinition()))
const pair = () => typed().addNode('a', none).addNode('b', none).setEntryPoint('a')

describe('structure', () => {
  it('R5 has the same hash for other code and another order of edges, another one for another graph', () => {
    const base = hash(pair().addEdge('a', 'b').addEdge('b', END))
    expect(base).toMatch(/^[0-9a-f]{64}$/)
    expect(hash(pair().addEdge('b', END).addEdge('a', 'b'))).toBe(base)
    const others = [
      pair().addEdge('a', 'b'),
      pair().addEdge('a', 'b').addEdge('b', 'a'),
      pair().addConditionalEdges('a', () => 'b', ['b']),
      pair().addConditionalEdges('a', () => 'x', { x: 'b' }),
      pair().addEdge(['a', 'b'], 'b'),
      typed()
        .addNode('a', none)
        .addNode('b', none, { defer: true })
        .setEntryPoint('a')
        .addEdge('a', 'b')
        .addEdge('b', END),
      typed().addNode('b', none).addNode('a', none).setEntryPoint('a').addEdge('a', 'b').addEdge('b', END),
      new StateGraph({ turns: append<number>() }).addNode('a', none).setEntryPoint('a'),
      new StateGraph({ turns: last(0) }).addNode('a', none).setEntryPoint('a'),
    ]
    expect(new Set([base, ...others.map(hash)]).size).toBe(others.length + 1)
  })

  it('R7 a node is the same in a changed graph while its kind, inputs and outputs are', () => {
    const before = structureOf(pair().addEdge('a', 'b').toDefinition())
    const after = structureOf(
      pair()
        .addGate('c', () => 'b', ['b'])
        .addEdge('a', 'c')
        .toDefinition(),
    )
    expect(nodeSignature(after, 'b')).toBe(nodeSignature(before, 'b'))
    const gate = structureOf(
      typed()
        .addNode('b', none)
        .addGate('a', () => 'b', ['b'])
        .setEntryPoint('a')
        .toDefinition(),
    )
    expect(nodeSignature(gate, 'a')).not.toBe(nodeSignature(before, 'a'))
    const wider = structureOf(
      typed()
        .addNode('b', none)
        .addGate('a', () => END, ['b', END])
        .setEntryPoint('a')
        .toDefinition(),
    )
    expect(nodeSignature(wider, 'a')).not.toBe(nodeSignature(gate, 'a'))
    const other = structureOf(
      new StateGraph({ turns: last(0) }).addNode('b', none).setEntryPoint('b').toDefinition(),
    )
    expect(nodeSignature(other, 'b')).not.toBe(nodeSignature(before, 'b'))
    expect(() => nodeSignature(before, 'x')).toThrow(/no node "x".*Its nodes are: a, b/)
  })
})

describe('drawing', () => {
  const inner = pair().addEdge('a', 'b').toDefinition()
  const definition = typed()
    .addNode('think "hard"', none, { targets: ['sub'] })
    .addNode('sub', { kind: 'graph', name: 'inner', structure: structureOf(inner) })
    .addNode('sum', none, { defer: true })
    .addGate('route', () => true, { true: 'sum', false: END })
    .addEdge(START, 'think "hard"')
    .addEdge(['think "hard"', 'sub'], 'route')
    .toDefinition()
  const structure = structureOf(definition)

  it('R3 draws Mermaid with start and end, decisions, joins, deferred nodes and sub-graphs, names escaped', () => {
    expect(drawMermaid(structure)).toBe(`flowchart TD
  s(["start"])
  n0["think #34;hard#34;"]
  subgraph n1["sub"]
    n1_s(["start"])
    n1_n0["a"]
    n1_n1["b"]
    n1_e(["end"])
  end
  n2["sum"]
  n3{"route"}
  j0(("all"))
  e(["end"])
  n1_s --> n1_n0
  n1_n0 --> n1_n1
  n1_n1 --> n1_e
  s --> n0
  n3 -.->|"true"| n2
  n3 -.->|"false"| e
  n0 -.->|"command"| n1
  n0 --> j0
  n1 --> j0
  j0 --> n3
  n2 --> e
  classDef deferred stroke-dasharray: 4 3
  class n2 deferred
`)
  })

  it('R3 gives the same to a page as data', () => {
    const { nodes, edges } = drawData(structure)
    expect(nodes).toHaveLength(11)
    expect(nodes).toContainEqual({
      id: 'n0',
      label: 'think "hard"',
      kind: 'node',
      parent: null,
      defer: false,
    })
    expect(nodes).toContainEqual({ id: 'n1_n1', label: 'b', kind: 'node', parent: 'n1', defer: false })
    expect(nodes).toContainEqual({ id: 'n2', label: 'sum', kind: 'node', parent: null, defer: true })
    expect(edges).toContainEqual({ from: 'n3', to: 'n2', kind: 'branch', label: 'true' })
    expect(edges).toContainEqual({ from: 'n1', to: 'j0', kind: 'join' })
    const ids = new Set(nodes.map(({ id }) => id))
    expect(edges.flatMap(({ from, to }) => [from, to]).filter((id) => !ids.has(id))).toEqual([])
  })

  it('P3 no name can draw: quotes, brackets, line breaks and markup come out as text', () => {
    const name = 'x"] --> y\nclick n0 "javascript:1" <b>\u202e'
    const [, , line = ''] = drawMermaid(
      structureOf(typed().addNode(name, none).setEntryPoint(name).toDefinition()),
    ).split('\n')
    expect(line).toMatch(/^  n0\["x#34;#93; --#62; y click n0 #34;javascript:1#34; #60;b#62; "\]$/)
  })
})
