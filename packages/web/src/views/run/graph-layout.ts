import { Graph, layout } from '@dagrejs/dagre'
import type { TaskGraph } from '@clew/ledger'

export type GraphDirection = 'right' | 'down'

const NODES = { right: { width: 172, height: 52 }, down: { width: 152, height: 52 } } as const
const GAPS = {
  right: { rankdir: 'LR', ranksep: 56, nodesep: 28 },
  down: { rankdir: 'TB', ranksep: 40, nodesep: 16 },
} as const

export interface NodePlace {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Each node right of what leads to it, or below it; loops go back. */
export function layOutGraph({ nodes, edges }: TaskGraph, direction: GraphDirection): Map<string, NodePlace> {
  const graph = new Graph({ multigraph: true })
  const size = NODES[direction]
  graph.setGraph({ ...GAPS[direction], marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of nodes) graph.setNode(id, { ...size })
  for (const { from, to, kind } of edges) if (from !== to) graph.setEdge(from, to, {}, kind)
  for (const { id, parent } of nodes) if (parent !== null) graph.setEdge(parent, id, { weight: 0 }, 'inside')
  layout(graph)
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number }
      return [id, { ...size, x: x - size.width / 2, y: y - size.height / 2 }]
    }),
  )
}
