import type { TaskGraph, TaskNode } from '@clew/ledger'
import {
  formatTook,
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
import { NodeSteps } from './node-steps.tsx'
import { RunLink } from './run-head.tsx'
import { type GraphDirection, layOutGraph, type NodePlace } from './graph-layout.ts'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

interface TaskBoxData extends Record<string, unknown> {
  readonly task: TaskNode
  readonly isChosen: boolean
  /** It had not begun at the superstep under the scrubber. */
  readonly isLater: boolean
  readonly direction: GraphDirection
}
type StepNode = Node<TaskBoxData, 'task'>

const LOOK_AGAIN_EVERY = 20

/** With more nodes than this, only those that ran most often are drawn. */
const MAX_DRAWN = 250

/** Graph of the run: equal steps are drawn once, taken edges in ink, edges never taken thin. */
export function GraphTab(props: TabProps): ReactElement {
  const { runId, view, chosen, untilSeq, search, choose } = props
  const client = useClient()
  const { child } = search
  const drawnRun = child ?? runId
  const { data, error } = useQuery({
    queryKey: ['graph', drawnRun, view.run?.status, Math.floor(view.lastSeq / LOOK_AGAIN_EVERY)],
    queryFn: ({ signal }) => client.get<TaskGraph>(`${runPath(drawnRun)}/graph`, {}, signal),
    placeholderData: keepPreviousData,
  })
  const pane = useRef<HTMLDivElement>(null)
  const direction = useDirection()
  const drawn = useMemo(() => data && withMostRun(data, MAX_DRAWN), [data])
  const places = useMemo(() => drawn && layOutGraph(drawn, direction), [drawn, direction])
  if (error) return <ErrorNote error={error} />
  if (!data || !drawn || !places) return <p className="tab-empty">Drawing…</p>
  if (data.nodes.length === 0) return <p className="tab-empty">Nothing to draw: this run has no steps yet.</p>

  const isChosen = (task: TaskNode): boolean =>
    search.node === undefined
      ? chosen?.nodeName === task.name && task.kind === 'step'
      : search.node === task.id
  const nodes: StepNode[] = drawn.nodes.map((task) => ({
    id: task.id,
    type: 'task',
    ...placeOf(places, task),
    data: {
      task,
      isChosen: isChosen(task),
      isLater: child === undefined && untilSeq !== null && (task.firstSeq ?? Infinity) > untilSeq,
      direction,
    },
    ariaLabel: `${task.kind} ${task.name}, ${plural(task.count, 'time')}${failedOf(task) > 0 ? `, ${failedOf(task)} failed` : ''}`,
  }))
  const edges = toEdges(drawn, places, direction)
  function pick(task: TaskNode): void {
    if (child !== undefined && task.kind !== 'run') return
    const step = view.steps.find(
      ({ nodeName, startedSeq }) =>
        nodeName === task.name && (task.firstSeq === null || startedSeq >= task.firstSeq),
    )
    const isList = task.count > 1 || task.runIds.length > 0
    const place = isList ? { node: task.id } : { node: undefined }
    if (step && child === undefined) choose({ ...place, step: stepKey(step), event: undefined })
    else if (isList) choose(place)
    else if (task.firstSeq !== null) choose({ ...place, event: task.firstSeq, step: undefined })
  }
  const listed = drawn.nodes.find(({ id }) => id === search.node)
  return (
    <div className="graph-box">
      {child !== undefined && (
        <p className="graph-inside">
          <button
            type="button"
            className="link"
            onClick={() => choose({ child: undefined, node: undefined })}
          >
            {view.run?.agent ?? 'run'}
          </button>
          <span aria-hidden="true">›</span>
          <RunLink runId={child} />
        </p>
      )}
      {drawn !== data && (
        <p className="graph-inside quiet">
          {data.nodes.length.toLocaleString('en')} nodes: the {MAX_DRAWN} that ran most often are drawn.
        </p>
      )}
      <div ref={pane} className="graph">
        <ReactFlow<StepNode>
          key={`${direction} ${drawnRun}`}
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
      {listed && <NodeSteps {...props} key={listed.id} task={listed} />}
    </div>
  )
}

const failedOf = ({ statuses }: TaskNode): number => statuses.failed ?? 0

/** The nodes that ran most often and the edges between them; the graph itself where all fit. */
function withMostRun(graph: TaskGraph, limit: number): TaskGraph {
  if (graph.nodes.length <= limit) return graph
  const kept = new Set(
    graph.nodes
      .toSorted((a, b) => b.count - a.count || (a.firstSeq ?? 0) - (b.firstSeq ?? 0))
      .slice(0, limit)
      .map(({ id }) => id),
  )
  return {
    ...graph,
    nodes: graph.nodes
      .filter(({ id }) => kept.has(id))
      .map((node) => (node.parent !== null && !kept.has(node.parent) ? { ...node, parent: null } : node)),
    edges: graph.edges.filter(({ from, to }) => kept.has(from) && kept.has(to)),
  }
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

function TaskBox({ data: { task, isChosen, isLater, direction } }: NodeProps<StepNode>): ReactElement {
  const kind = task.kind === 'step' ? namedKind(task.stepKind ?? 'step', task.name) : KINDS[task.kind]
  const side = SIDES[direction]
  return (
    <div
      className="task"
      data-kind={task.kind}
      data-status={task.status ?? ''}
      data-chosen={isChosen}
      data-later={isLater}
    >
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
            {failedOf(task) > 0 && task.status !== 'failed' && (
              <span className="clew-row-error">{failedOf(task)} failed</span>
            )}
            <span className="clew-mono">{formatTook(task.totalMs)}</span>
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
