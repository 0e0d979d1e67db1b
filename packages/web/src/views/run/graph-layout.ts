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

/** Dagre refuses to route parallel edges whose labels have no size, so each pair of nodes has one edge, with a size. */
const EDGE = { width: 1, height: 1, labelpos: 'c' } as const

/** Each node right of what leads to it, or below it; loops go back. */
export function layOutGraph({ nodes, edges }: TaskGraph, direction: GraphDirection): Map<string, NodePlace> {
  const graph = new Graph()
  const size = NODES[direction]
  graph.setGraph({ ...GAPS[direction], marginx: 16, marginy: 16 })
  for (const { id } of nodes) graph.setNode(id, { ...size })
  const connect = (from: string, to: string, weight: number): void => {
    if (from !== to && graph.hasNode(from) && graph.hasNode(to) && !graph.hasEdge(from, to))
      graph.setEdge(from, to, { ...EDGE, weight })
  }
  for (const { from, to } of edges) connect(from, to, 1)
  for (const { id, parent } of nodes) if (parent !== null) connect(parent, id, 0)
  layout(graph)
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number }
      return [id, { ...size, x: x - size.width / 2, y: y - size.height / 2 }]
    }),
  )
}
