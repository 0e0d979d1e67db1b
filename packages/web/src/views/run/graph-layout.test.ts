import type { TaskEdge, TaskGraph, TaskNode } from '@clew/ledger'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { layOutGraph } from './graph-layout.ts'

const node = (id: string, parent: string | null): TaskNode => ({
  id,
  name: id,
  kind: 'step',
  parent,
  stepKind: null,
  count: 1,
  attempts: 1,
  loops: 0,
  status: null,
  statuses: {},
  totalMs: 0,
  maxMs: 0,
  firstSeq: 1,
  runIds: [],
})

const KINDS = ['sequence', 'decision', 'cause', 'handoff', 'child_run'] as const
const graphs = fc
  .array(fc.option(fc.nat(), { nil: null }), { minLength: 1, maxLength: 12 })
  .chain((parents) => {
    const some = fc.nat(parents.length - 1)
    return fc.record({
      nodes: fc.constant(
        parents.map((parent, at) => node(`n${at}`, parent === null || at === 0 ? null : `n${parent % at}`)),
      ),
      edges: fc.array(
        fc.record({ from: some, to: some, kind: fc.constantFrom(...KINDS) }).map(
          ({ from, to, kind }): TaskEdge => ({
            from: `n${from}`,
            to: `n${to}`,
            kind,
            count: 1,
            label: null,
          }),
        ),
        { maxLength: 40 },
      ),
    })
  })

it('U1 lays out every graph: parallel edges of several kinds, loops, nodes in nodes; no two nodes overlap', () => {
  fc.assert(
    fc.property(graphs, fc.constantFrom('right' as const, 'down' as const), (drawn, direction) => {
      const graph: TaskGraph = { runId: null, agent: null, status: null, ...drawn }
      const places = [...layOutGraph(graph, direction).values()]
      expect(places).toHaveLength(graph.nodes.length)
      for (const [at, a] of places.entries())
        for (const b of places.slice(at + 1))
          expect(Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= a.height).toBe(true)
    }),
  )
})
