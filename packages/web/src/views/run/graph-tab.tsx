import type { TaskGraph, TaskNode } from '@clew/ledger'
import { formatDuration, KindGlyph, namedKind, plural, runPath, StatusMark, useClient } from '@clew/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { type ReactElement, useMemo } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { GRAPH_NODE, layOutGraph } from './graph-layout.ts'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

type StepNode = Node<{ readonly task: TaskNode; readonly isChosen: boolean }, 'task'>

const LOOK_AGAIN_EVERY = 20

/** What led to what, with equal steps drawn once; the way that was taken in ink, what was never reached thin. */
export function GraphTab({ runId, view, chosen, choose }: TabProps): ReactElement {
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['graph', runId, view.run?.status, Math.floor(view.lastSeq / LOOK_AGAIN_EVERY)],
    queryFn: ({ signal }) => client.get<TaskGraph>(`${runPath(runId)}/graph`, {}, signal),
    placeholderData: keepPreviousData,
  })
  const places = useMemo(() => (data ? layOutGraph(data) : undefined), [data])
  if (error) return <ErrorNote error={error} />
  if (!data || !places) return <p className="tab-empty">Drawing…</p>
  if (data.nodes.length === 0) return <p className="tab-empty">Nothing to draw: this run has no steps yet.</p>

  const nodes: StepNode[] = data.nodes.map((task) => ({
    id: task.id,
    type: 'task',
    position: places.get(task.id) ?? { x: 0, y: 0 },
    data: { task, isChosen: chosen?.nodeName === task.name && task.kind === 'step' },
    width: GRAPH_NODE.width,
    height: GRAPH_NODE.height,
    ariaLabel: `${task.kind} ${task.name}, ${task.count} times`,
  }))
  const edges = toEdges(data, places)
  function pick(task: TaskNode): void {
    const step = view.steps.find(
      ({ nodeName, startedSeq }) =>
        nodeName === task.name && (task.firstSeq === null || startedSeq >= task.firstSeq),
    )
    if (step) choose({ step: stepKey(step), event: undefined })
    else if (task.firstSeq !== null) choose({ event: task.firstSeq, step: undefined })
  }
  return (
    <div className="graph">
      <ReactFlow<StepNode>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        minZoom={0.1}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => pick(node.data.task)}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

type Places = ReturnType<typeof layOutGraph>

/** One line per way between two nodes, whatever it is known from; ways back arch over the nodes. */
function toEdges({ nodes, edges }: TaskGraph, places: Places): Edge[] {
  const never = new Set(nodes.filter(({ kind }) => kind === 'target').map(({ id }) => id))
  const x = (id: string): number => places.get(id)?.x ?? 0
  const ways = Map.groupBy(edges, ({ from, to }) => JSON.stringify([from, to]))
  const taken = [...ways.values()].map((those): Edge => {
    const [{ from, to }] = those as [(typeof edges)[number]]
    const best = those.find(({ kind }) => kind === 'decision') ?? those[0]
    const count = Math.max(...those.map((each) => each.count))
    const isBack = x(to) <= x(from)
    return {
      id: `${from} → ${to}`,
      source: from,
      target: to,
      ...(isBack
        ? { type: 'smoothstep', sourceHandle: 'back-out', targetHandle: 'back-in' }
        : { sourceHandle: 'out', targetHandle: 'in' }),
      label: `${best?.label ?? ''}${count > 1 ? ` ×${count}` : ''}`.trim() || undefined,
      className: never.has(to) ? 'edge-untaken' : `edge-${best?.kind}`,
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: 'var(--clew-ink-3)' },
    }
  })
  const inside = nodes.flatMap(({ id, parent }): Edge[] =>
    parent === null
      ? []
      : [
          {
            id: `${parent} ⊃ ${id}`,
            source: parent,
            target: id,
            sourceHandle: 'inside',
            targetHandle: 'in',
            type: 'smoothstep',
            className: 'edge-inside',
          },
        ],
  )
  return [...taken, ...inside]
}

const KINDS: Readonly<Record<TaskNode['kind'], string>> = {
  step: 'step',
  call: 'tool',
  message: 'message',
  agent: 'agent',
  run: 'agent',
  target: 'node',
}

function TaskBox({ data: { task, isChosen } }: NodeProps<StepNode>): ReactElement {
  const kind = task.kind === 'step' ? namedKind(task.stepKind ?? 'step', task.name) : KINDS[task.kind]
  return (
    <div className="task" data-kind={task.kind} data-status={task.status ?? ''} data-chosen={isChosen}>
      <Handle id="in" type="target" position={Position.Left} isConnectable={false} />
      <Handle
        id="back-in"
        type="target"
        position={Position.Top}
        isConnectable={false}
        style={{ left: '30%' }}
      />
      <Handle
        id="back-out"
        type="source"
        position={Position.Top}
        isConnectable={false}
        style={{ left: '70%' }}
      />
      <Handle id="inside" type="source" position={Position.Bottom} isConnectable={false} />
      <div className="task-name">
        <KindGlyph kind={task.status === 'failed' ? 'error' : kind} />
        <span>{task.name}</span>
        {task.count > 1 && <span className="task-count clew-mono">×{task.count}</span>}
      </div>
      <div className="task-facts">
        {task.kind === 'target' ? (
          'never reached'
        ) : (
          <>
            {task.status !== null && task.status !== 'completed' && <StatusMark status={task.status} />}
            <span className="clew-mono">{formatDuration(task.totalMs)}</span>
            {task.loops > 0 && <span>{plural(task.loops, 'loop')}</span>}
            {task.attempts > task.count && <span>{task.attempts} attempts</span>}
          </>
        )}
      </div>
      <Handle id="out" type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

const NODE_TYPES = { task: TaskBox }
