import { Graph, layout } from '@dagrejs/dagre'
import type { TaskGraph } from '@clew/ledger'

export const GRAPH_NODE = { width: 172, height: 52 }

/** From left to right, each node right of what leads to it; loops go back. */
export function layOutGraph({
  nodes,
  edges,
}: TaskGraph): Map<string, { readonly x: number; readonly y: number }> {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 56, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of nodes) graph.setNode(id, { ...GRAPH_NODE })
  for (const { from, to, kind } of edges) if (from !== to) graph.setEdge(from, to, {}, kind)
  for (const { id, parent } of nodes) if (parent !== null) graph.setEdge(parent, id, { weight: 0 }, 'inside')
  layout(graph)
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number }
      return [id, { x: x - GRAPH_NODE.width / 2, y: y - GRAPH_NODE.height / 2 }]
    }),
  )
}
