import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'

const State = Annotation.Root({
  lines: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  last: Annotation<string>({ reducer: (_, next) => next, default: () => '' }),
})

/** What a node does besides saying its name. */
const KINDS = [
  'plain',
  'wait',
  'empty',
  'ask',
  'twice',
  'flaky',
  'goto',
  'sends',
  'inner',
  'inner-ask',
] as const
const node = fc.record({ kind: fc.constantFrom(...KINDS), turns: fc.nat({ max: 3 }) })
export type RandomNode = { readonly kind: (typeof KINDS)[number]; readonly turns: number }

/** Layers of nodes: all of one lead to all of the next, but where a node chooses. */
export const randomLayers = fc.array(fc.array(node, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 4,
})

async function wait(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** `broken` has the names of nodes that throw the next time. */
export function compileRandom(
  layers: readonly (readonly RandomNode[])[],
  checkpointer: BaseCheckpointSaver,
  broken: Set<string>,
) {
  // The names of nodes are known at run time only.
  const graph = new StateGraph(State) as unknown as StateGraph<
    typeof State.spec,
    typeof State.State,
    typeof State.Update,
    string
  >
  const namesOf = (layer: number): string[] => (layers[layer] ?? []).map((_, at) => `n${layer}${at}`)
  for (const [layer, nodes] of layers.entries())
    for (const [at, { kind, turns }] of nodes.entries()) {
      const name = `n${layer}${at}`
      const next = namesOf(layer + 1)
      const ends = next.length > 0 ? next : [END]
      if (kind === 'inner' || kind === 'inner-ask') {
        graph.addNode(name, inner(kind === 'inner-ask', turns), {})
      } else if (kind === 'goto') {
        const goto = ends.slice(0, 1 + (turns % ends.length))
        graph.addNode(
          name,
          async () => {
            await wait(turns)
            return new Command({ update: { lines: [name] }, goto })
          },
          { ends },
        )
        continue
      } else
        graph.addNode(name, async () => {
          if (kind === 'wait') await wait(turns)
          if (kind === 'empty') return {}
          if (kind === 'ask') return { lines: [`${name} ${interrupt<string, string>(`${name}?`)}`] }
          if (kind === 'twice')
            return {
              lines: [interrupt<string, string>(`${name} 1?`), interrupt<string, string>(`${name} 2?`)],
            }
          if (kind === 'flaky' && broken.delete(name)) throw new TypeError(`${name} broke`)
          return { lines: [name], last: name }
        })
      if (kind === 'sends') {
        const worker = `${name}w`
        graph.addNode(worker, async ({ last }) => {
          await wait(turns)
          return { lines: [`${worker} ${last}`] }
        })
        graph.addConditionalEdges(
          name,
          () => Array.from({ length: turns }, (_, i) => new Send(worker, { last: `${i}` })),
          [worker],
        )
        for (const end of ends) graph.addEdge(worker, end)
      } else for (const end of ends) graph.addEdge(name, end)
    }
  for (const name of namesOf(0)) graph.addEdge(START, name)
  return graph.compile({ checkpointer })
}

function inner(asks: boolean, turns: number) {
  return new StateGraph(State)
    .addNode('i0', async () => {
      await wait(turns)
      return { lines: ['i0'] }
    })
    .addNode('i1', () => ({ lines: [asks ? interrupt<string, string>('i1?') : 'i1'] }))
    .addEdge(START, 'i0')
    .addEdge('i0', 'i1')
    .addEdge('i1', END)
    .compile()
}
