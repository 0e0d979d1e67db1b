import type { Ledger } from '@clew/ledger'
import { append, END, last, START, StateGraph, type CompiledGraph } from '@clew/runtime'
import type { Change } from './changed-agents.ts'

const later = <T>(value: T) => new Promise<T>((resolve) => void setImmediate(() => resolve(value)))

interface LooseGraph {
  addNode(name: string, body: unknown, options?: object): void
  addGate(name: string, path: unknown, targets: readonly string[]): void
  addEdge(from: string | readonly string[], to: string): void
  addConditionalEdges(from: string, path: unknown, targets: readonly string[]): void
  compile(options: object): CompiledGraph
}

interface State {
  readonly pages: readonly string[]
  readonly topic: string
}

/** The researcher as a graph: plan, search and read (in turn or at once), model, and round again or not. */
export function researchGraph(ledger: Ledger, isParallel: boolean, change: Change = 'none'): CompiledGraph {
  const is = (other: Change): boolean => change === other
  const graph = new StateGraph({
    topic: last(''),
    pages: append<string>(),
    said: last(''),
    round: last(0),
  }) as unknown as LooseGraph
  const search = is('renamed') ? 'look up' : 'search'
  graph.addNode('plan', ({ topic }: State) => ({
    topic: is('random in a body') ? `${topic} ${Math.random()}` : topic,
    ...(is('other result') && { said: 'planned' }),
  }))
  // Nodes of a superstep run in the order in which they were declared.
  const isFirst = is('reordered') && isParallel
  if (isFirst) graph.addNode('read', () => ({ pages: 'read' }))
  graph.addNode(
    search,
    async ({ topic }: State, run: { effect: (...given: unknown[]) => Promise<string> }) => {
      const q = is('other argument') ? `more ${topic}` : topic
      const at = is('clock in an argument') ? { at: Date.now() } : {}
      return { pages: await run.effect('find', { q, ...at }, () => later('found')) }
    },
  )
  if (!is('removed') && !isFirst) graph.addNode('read', () => ({ pages: 'read' }))
  graph.addNode(
    'model',
    async (
      _: State,
      run: {
        effect: (...given: unknown[]) => Promise<string>
        step: (...given: unknown[]) => Promise<string>
      },
    ) => {
      const model = is('other model') ? 'small' : 'big'
      const prompt = is('other prompt') ? 'Be brief.' : 'Sum up.'
      if (is('fails')) throw new Error('changed its mind')
      const ask = is('other kind') ? run.step : run.effect
      const write = { said: await ask('ask', { model, prompt }, () => later('so')) }
      return write
    },
  )
  const isExtra = is('inserted') || is('inserted computation') || is('extra at the end')
  if (isExtra)
    graph.addNode('check', async (_: State, run: { effect: (...given: unknown[]) => Promise<string> }) =>
      is('inserted')
        ? { said: await run.effect('judge', { strict: true }, () => 'good') }
        : { said: 'checked' },
    )
  const way = order(isParallel !== is('other shape'), change, search)
  const { first, edges } = way
  for (const name of first) graph.addEdge(START, name)
  for (const [from, to] of edges) graph.addEdge(from, to)
  const targets = ['plan', END, ...(is('extra at the end') ? ['check'] : [])]
  graph.addConditionalEdges(
    'model',
    ({ pages }: State) =>
      is('extra at the end') ? 'check' : pages.length > (is('other branch') ? 1 : 9) ? 'plan' : END,
    targets,
  )
  if (is('returns early')) graph.addConditionalEdges(search, () => END, ['read', 'model', END])
  return graph.compile({ checkpointer: ledger, name: 'research', recursionLimit: 12 })
}

type Edges = readonly (readonly [string | readonly string[], string])[]

function order(
  isParallel: boolean,
  change: Change,
  search: string,
): { first: readonly string[]; edges: Edges } {
  const both = change === 'removed' ? [search] : [search, 'read']
  const way = change === 'reordered' ? both.toReversed() : both
  const inserted = change === 'inserted' || change === 'inserted computation' ? ['check'] : []
  if (isParallel) {
    const after = inserted.length > 0 ? 'check' : 'model'
    const edges: [string | readonly string[], string][] = [
      ...way.map((name): [string, string] => ['plan', name]),
      [way, after],
      ...inserted.map((name): [string, string] => [name, 'model']),
    ]
    return { first: ['plan'], edges }
  }
  const line = ['plan', ...way.slice(0, 1), ...inserted, ...way.slice(1), 'model']
  const edges = line.slice(1).map((name, at): [string, string] => [line[at] as string, name])
  return {
    first: ['plan'],
    edges: change === 'returns early' ? edges.filter(([from]) => from !== search) : edges,
  }
}
