import type { TaskGraph, TaskNode } from '@clew/ledger'
import {
  formatDuration,
  KindGlyph,
  namedKind,
  plural,
  runPath,
  spellBidi,
  StatusMark,
  useClient,
} from '@clew/react'
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
  type ReactFlowInstance,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { type ReactElement, useMemo, useRef, useSyncExternalStore } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { type GraphDirection, layOutGraph, type NodePlace } from './graph-layout.ts'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

type StepNode = Node<
  { readonly task: TaskNode; readonly isChosen: boolean; readonly direction: GraphDirection },
  'task'
>

const LOOK_AGAIN_EVERY = 20

/** Graph of the run: equal steps are drawn once, taken edges in ink, edges never taken thin. */
export function GraphTab({ runId, view, chosen, choose }: TabProps): ReactElement {
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['graph', runId, view.run?.status, Math.floor(view.lastSeq / LOOK_AGAIN_EVERY)],
    queryFn: ({ signal }) => client.get<TaskGraph>(`${runPath(runId)}/graph`, {}, signal),
    placeholderData: keepPreviousData,
  })
  const pane = useRef<HTMLDivElement>(null)
  const direction = useDirection()
  const places = useMemo(() => (data ? layOutGraph(data, direction) : undefined), [data, direction])
  if (error) return <ErrorNote error={error} />
  if (!data || !places) return <p className="tab-empty">Drawing…</p>
  if (data.nodes.length === 0) return <p className="tab-empty">Nothing to draw: this run has no steps yet.</p>

  const nodes: StepNode[] = data.nodes.map((task) => ({
    id: task.id,
    type: 'task',
    ...placeOf(places, task),
    data: { task, isChosen: chosen?.nodeName === task.name && task.kind === 'step', direction },
    ariaLabel: `${task.kind} ${task.name}, ${task.count} times`,
  }))
  const edges = toEdges(data, places, direction)
  function pick(task: TaskNode): void {
    const step = view.steps.find(
      ({ nodeName, startedSeq }) =>
        nodeName === task.name && (task.firstSeq === null || startedSeq >= task.firstSeq),
    )
    if (step) choose({ step: stepKey(step), event: undefined })
    else if (task.firstSeq !== null) choose({ event: task.firstSeq, step: undefined })
  }
  return (
    <div ref={pane} className="graph">
      <ReactFlow<StepNode>
        key={direction}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        minZoom={0.1}
        fitView={direction === 'right'}
        onInit={(flow) => direction === 'down' && showTop(flow, pane.current?.clientWidth ?? 0)}
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => pick(node.data.task)}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

const PHONE = matchMedia('(max-width: 640px)')

/** A phone is scrolled down. */
const useDirection = (): GraphDirection =>
  useSyncExternalStore(
    (changed) => {
      PHONE.addEventListener('change', changed)
      return () => PHONE.removeEventListener('change', changed)
    },
    () => (PHONE.matches ? 'down' : 'right'),
  )

/** Around the nodes, for the ways back. */
const MARGIN = 28
const MIN_READABLE = 0.75

/** As wide as the pane, if names can still be read then; the rest is moved into view. */
function showTop(flow: ReactFlowInstance<StepNode>, width: number): void {
  const bounds = flow.getNodesBounds(flow.getNodes())
  const zoom = Math.min(1, Math.max(MIN_READABLE, width / (bounds.width + 2 * MARGIN)))
  const middle = bounds.x + bounds.width / 2
  void flow.setViewport({ x: width / 2 - middle * zoom, y: (MARGIN - bounds.y) * zoom, zoom })
}

type Places = ReturnType<typeof layOutGraph>

function placeOf(places: Places, { id }: TaskNode): Pick<StepNode, 'position' | 'width' | 'height'> {
  const { x, y, width, height } = places.get(id) as NodePlace
  return { position: { x, y }, width, height }
}

/** One line per way between two nodes, whatever it is known from; ways back go around the nodes. */
function toEdges({ nodes, edges }: TaskGraph, places: Places, direction: GraphDirection): Edge[] {
  const never = new Set(nodes.filter(({ kind }) => kind === 'target').map(({ id }) => id))
  const rank = (id: string): number => places.get(id)?.[direction === 'right' ? 'x' : 'y'] ?? 0
  const ways = Map.groupBy(edges, ({ from, to }) => JSON.stringify([from, to]))
  const taken = [...ways.values()].map((those): Edge => {
    const [{ from, to }] = those as [(typeof edges)[number]]
    const best = those.find(({ kind }) => kind === 'decision') ?? those[0]
    const count = Math.max(...those.map((each) => each.count))
    const isBack = rank(to) <= rank(from)
    return {
      id: `${from} → ${to}`,
      source: from,
      target: to,
      ...(isBack
        ? { type: 'smoothstep', sourceHandle: 'back-out', targetHandle: 'back-in' }
        : { sourceHandle: 'out', targetHandle: 'in' }),
      label: `${best?.label ?? ''}${count > 1 ? ` ×${count}` : ''}`.trim() || undefined,
      className: never.has(to) ? 'edge-untaken' : `edge-${best?.kind}`,
      markerEnd: {
        type: MarkerType.ArrowClosed,
        width: 14,
        height: 14,
        color: never.has(to) ? 'var(--clew-line-strong)' : 'var(--clew-ink)',
      },
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

/** Anchor points of edges on a node. */
const SIDES = {
  right: {
    in: Position.Left,
    out: Position.Right,
    back: Position.Top,
    inside: Position.Bottom,
    along: 'left',
  },
  down: { in: Position.Top, out: Position.Bottom, back: Position.Right, inside: Position.Left, along: 'top' },
} as const

function TaskBox({ data: { task, isChosen, direction } }: NodeProps<StepNode>): ReactElement {
  const kind = task.kind === 'step' ? namedKind(task.stepKind ?? 'step', task.name) : KINDS[task.kind]
  const side = SIDES[direction]
  return (
    <div className="task" data-kind={task.kind} data-status={task.status ?? ''} data-chosen={isChosen}>
      <Handle id="in" type="target" position={side.in} isConnectable={false} />
      <Handle
        id="back-in"
        type="target"
        position={side.back}
        isConnectable={false}
        style={{ [side.along]: '30%' }}
      />
      <Handle
        id="back-out"
        type="source"
        position={side.back}
        isConnectable={false}
        style={{ [side.along]: '70%' }}
      />
      <Handle id="inside" type="source" position={side.inside} isConnectable={false} />
      <div className="task-name">
        <KindGlyph kind={task.status === 'failed' ? 'error' : kind} />
        <span>{spellBidi(task.name)}</span>
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
      <Handle id="out" type="source" position={side.out} isConnectable={false} />
    </div>
  )
}

const NODE_TYPES = { task: TaskBox }
