import { ClewError } from '@clew/ledger'
import { checkName } from '../options/check-options.ts'
import { type Branch, END, type GraphDefinition, START } from './definition.ts'
import { reachableFrom, successorsOf } from './reach.ts'

export function assertNodeName(name: string, known: ReadonlyMap<string, unknown>): void {
  if (typeof name !== 'string' || name.trim() === '')
    throw bad('A node has no name', 'Give it a name that says what it does.', {})
  checkName(name, 'A node')
  if (name.startsWith('__'))
    throw bad(
      `The name "${name}" is reserved`,
      'Names that begin with two underscores are kept; choose another.',
      {
        node: name,
      },
    )
  if (/[/@#]/.test(name))
    throw bad(
      `The name "${name}" holds "/", "@" or "#"`,
      'These signs part the ids of steps; leave them out.',
      {
        node: name,
      },
    )
  if (known.has(name))
    throw bad(`There are two nodes named "${name}"`, 'Give each node a name of its own.', { node: name })
}

export function assertTargetsGiven(from: string, targets: Branch['targets']): void {
  if (targets.length === 0)
    throw bad(`The decision at "${from}" has no targets`, 'List all nodes that it may choose, or END.', {
      node: from,
    })
}

/** Refuses a graph that cannot run as it is drawn; the first fault found is named. */
export function assertGraph(graph: Pick<GraphDefinition, 'nodes' | 'edges' | 'joins' | 'branches'>): void {
  const names = new Set(graph.nodes.map(({ name }) => name))
  assertEndpoints(graph, names)
  assertGates(graph)
  const starts = graph.edges.some(({ from, to }) => from === START && to !== END)
  if (!starts && !graph.branches.some(({ from }) => from === START))
    throw bad(
      'The graph has no entry',
      'Add an edge from START, or call setEntryPoint with the first node.',
      {},
    )
  const reached = reachableFrom(successorsOf(graph), START)
  const lost = graph.nodes.filter(({ name }) => !reached.has(name)).map(({ name }) => `"${name}"`)
  if (lost.length > 0)
    throw bad(
      lost.length === 1 ? `Nothing leads to node ${lost[0]}` : `Nothing leads to nodes ${lost.join(', ')}`,
      'Add an edge, name it among the targets of a decision, or in `targets` of the node whose command goes there.',
      { nodes: lost.join(', ') },
    )
}

type Parts = Parameters<typeof assertGraph>[0]

function assertEndpoints({ nodes, edges, joins, branches }: Parts, names: ReadonlySet<string>): void {
  const check = (name: string, allowed: string | null, what: string): void => {
    if (names.has(name) || name === allowed) return
    throw bad(
      name === START || name === END
        ? `${what} ${name === START ? 'START' : 'END'}, which cannot stand there`
        : `${what} "${name}", which is no node of this graph`,
      `Its nodes are: ${[...names].join(', ') || 'none yet'}.`,
      { node: name, known: [...names].join(', ') },
    )
  }
  for (const { from, to } of edges) {
    check(from, START, 'An edge begins at')
    check(to, END, `The edge from ${label(from)} leads to`)
  }
  for (const { sources, target } of joins) {
    if (sources.length === 0)
      throw bad(`The edge to ${label(target)} begins nowhere`, 'List the nodes that it waits for.', {
        node: target,
      })
    for (const source of sources) check(source, null, `The edge to ${label(target)} waits for`)
    check(target, null, `The edge from ${sources.map(label).join(' and ')} leads to`)
  }
  for (const { from, targets } of branches) {
    check(from, START, 'A decision stands at')
    for (const { target } of targets) check(target, END, `The decision at ${label(from)} may choose`)
  }
  for (const { name, targets } of nodes)
    for (const target of targets ?? []) check(target, END, `The targets of ${label(name)} name`)
}

function assertGates({ nodes, edges, joins, branches }: Parts): void {
  for (const { name, kind } of nodes) {
    if (kind !== 'gate') continue
    const others =
      edges.some(({ from }) => from === name) ||
      joins.some(({ sources }) => sources.includes(name)) ||
      branches.filter(({ from }) => from === name).length > 1
    if (others)
      throw bad(
        `Gate "${name}" has edges of its own beside what it decides`,
        'A gate alone says where to go on: drop the edge, or make it a node with conditional edges.',
        { node: name },
      )
  }
}

const label = (name: string): string => (name === START ? 'START' : name === END ? 'END' : `"${name}"`)

const bad = (what: string, now: string, fields: Record<string, string>): ClewError =>
  new ClewError('bad_graph', what, now, fields)

/** Refuses names that are no nodes where nodes are meant. */
export function assertKnownNodes(
  { nodes }: Pick<GraphDefinition, 'nodes'>,
  names: readonly string[],
  option: string,
): void {
  const known = nodes.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new ClewError(
    'bad_graph',
    `${option} names "${unknown}", which is no node of this graph`,
    `Its nodes are: ${known.join(', ')}.`,
    { node: unknown, known: known.join(', ') },
  )
}
