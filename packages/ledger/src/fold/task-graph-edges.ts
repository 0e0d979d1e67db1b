import type { RunStatus } from './run-summary.ts'
import type { StepStatus } from './steps.ts'
import type { TaskEdge, TaskGraphState, TaskNode, Handoff } from './task-graph.ts'
import type { Timeline, TimelineItem } from './timeline.ts'

/** A join of more steps than this, all of different names, is drawn from the last of them, and for the first to follow. */
const WIDEST_JOIN = 64
/** Limit of levels that a cause is searched upward for the enclosing step. */
const LEVELS = 64

type MutableNode = { -readonly [K in keyof TaskNode]: TaskNode[K] } & {
  statuses: Partial<Record<StepStatus, number>>
}
interface EdgeDraft extends TaskEdge {
  count: number
}

export function drawGraph(
  { items, agent, status }: Timeline,
  ownerOf: (eventId: string) => number | undefined,
  { decisions, handoffs, timeline }: TaskGraphState,
): { nodes: TaskNode[]; edges: TaskEdge[] } {
  const graph = createGraph()
  const nodeOf = gatherNodes(graph, items, status)
  addSequence(graph, timeline.happened ? momentsByTime(items) : momentsBySeq(items), items, nodeOf)
  for (const [index, item] of items.entries()) {
    const node = nodeOf[index]
    const handoff = handoffs.get(item.eventId)
    if (handoff) addHandoff(graph, handoff, climb(items, nodeOf, index), agent)
    if (!node || item.kind !== 'step') continue
    for (const target of decisions.get(`${item.attempt} ${item.stepId}`) ?? [])
      graph.link(
        node,
        graph.find(node.parent, 'step', target) ?? graph.node(node.parent, 'target', target),
        'decision',
      )
    if (item.childRunId !== null) addChildRun(graph, node, item.childRunId)
  }
  addCauses(graph, items, nodeOf, ownerOf)
  return { nodes: graph.nodes(), edges: graph.edges() }
}

interface Graph {
  node(parent: string | null, kind: TaskNode['kind'], name: string): MutableNode
  find(parent: string | null, kind: TaskNode['kind'], name: string): MutableNode | undefined
  link(from: MutableNode, to: MutableNode, kind: TaskEdge['kind'], label?: string | null): void
  has(from: MutableNode, to: MutableNode, kind: TaskEdge['kind']): boolean
  nodes(): TaskNode[]
  edges(): TaskEdge[]
}

function createGraph(): Graph {
  const nodes = new Map<string, MutableNode>()
  const edges = new Map<string, EdgeDraft>()
  const keyOf = (parent: string | null, kind: string, name: string): string => `${parent} ${kind} ${name}`
  const edgeKey = (from: MutableNode, to: MutableNode, kind: string): string => `${from.id} ${to.id} ${kind}`
  return {
    find: (parent, kind, name) => nodes.get(keyOf(parent, kind, name)),
    node(parent, kind, name) {
      const key = keyOf(parent, kind, name)
      const found = nodes.get(key)
      if (found) return found
      const made: MutableNode = {
        id: `n${nodes.size + 1}`,
        name,
        kind,
        parent,
        stepKind: null,
        count: 0,
        attempts: 0,
        loops: 0,
        status: null,
        statuses: {},
        totalMs: 0,
        maxMs: 0,
        firstSeq: null,
        runIds: [],
      }
      nodes.set(key, made)
      return made
    },
    link(from, to, kind, label = null) {
      const key = edgeKey(from, to, kind)
      const edge = edges.get(key)
      if (edge) edge.count++
      else edges.set(key, { from: from.id, to: to.id, kind, count: 1, label })
    },
    has: (from, to, kind) => edges.has(edgeKey(from, to, kind)),
    nodes: () => [...nodes.values()],
    edges: () => [...edges.values()],
  }
}

/** The node of each item that has one. Items come after the one they lie in. */
function gatherNodes(
  graph: Graph,
  items: readonly TimelineItem[],
  runStatus: RunStatus | null,
): (MutableNode | undefined)[] {
  // The run is idle: steps that have begun and not ended wait with it, also those around the question.
  const isWaiting = runStatus === 'paused' || runStatus === 'pending'
  const nodeOf: (MutableNode | undefined)[] = []
  const seen = new Set<string>()
  for (const item of items) {
    const kind = kindOf(item, item.parent === null ? undefined : items[item.parent])
    if (kind === undefined) {
      nodeOf.push(undefined)
      continue
    }
    const around = item.parent === null ? null : (nodeOf[item.parent]?.id ?? null)
    const node = graph.node(around, kind, item.name)
    nodeOf.push(node)
    node.attempts++
    if (item.stepId === null || item.kind !== 'step' || !seen.has(item.stepId)) node.count++
    if (item.stepId !== null && item.kind === 'step') seen.add(item.stepId)
    node.firstSeq = Math.min(node.firstSeq ?? item.seq, item.seq)
    node.stepKind = item.stepKind ?? node.stepKind
    const status = isWaiting && item.status === 'running' ? 'paused' : item.status
    node.status = status
    if (status !== null) node.statuses[status] = (node.statuses[status] ?? 0) + 1
    node.totalMs += item.durationMs ?? 0
    node.maxMs = Math.max(node.maxMs, item.durationMs ?? 0)
  }
  return nodeOf
}

function kindOf(
  { kind, name, eventType }: TimelineItem,
  parent: TimelineItem | undefined,
): TaskNode['kind'] | undefined {
  // A step made for one call has the name of its tool; it is drawn once.
  if (kind === 'call' && parent?.kind === 'step' && parent.name === name) return undefined
  if (kind !== 'event') return kind
  return !parent && /^(?:execution\.message|ui\.message_created)$/.test(eventType) ? 'message' : undefined
}

interface GraphPosition {
  ended: Set<MutableNode>
  before: readonly MutableNode[]
  /** How many have begun since the last of `before` ended. */
  followers: number
  readonly everEnded: Set<MutableNode>
}

/** The beginning or the end of an item. */
interface ItemMoment {
  readonly end: boolean
  readonly index: number
}

function momentsBySeq(items: readonly TimelineItem[]): ItemMoment[] {
  const moments: (ItemMoment & { seq: number })[] = []
  for (const [index, { seq, endSeq, kind }] of items.entries()) {
    moments.push({ seq, end: false, index })
    if (kind === 'event') moments.push({ seq, end: true, index })
    else if (endSeq !== null && endSeq >= seq) moments.push({ seq: endSeq, end: true, index })
  }
  return moments.sort((a, b) => a.seq - b.seq || Number(a.end) - Number(b.end))
}

/** In an exported run seqs say only when an item was sent. Items come in the order of their start. */
function momentsByTime(items: readonly TimelineItem[]): ItemMoment[] {
  const moments: (ItemMoment & { ms: number })[] = []
  for (const [index, { startMs, endMs }] of items.entries()) {
    moments.push({ ms: startMs, end: false, index })
    if (endMs !== null) moments.push({ ms: endMs, end: true, index })
  }
  return moments.sort((a, b) => a.ms - b.ms || a.index - b.index || Number(a.end) - Number(b.end))
}

/** Within one parent step: whatever begins follows all that ended since the last time something began. */
function addSequence(
  graph: Graph,
  moments: readonly ItemMoment[],
  items: readonly TimelineItem[],
  nodeOf: readonly (MutableNode | undefined)[],
): void {
  const places = new Map<number | null, GraphPosition>()
  for (const { end, index } of moments) {
    const item = items[index] as TimelineItem
    const node = nodeOf[index]
    if (!node) continue
    let place = places.get(item.parent)
    if (!place) {
      place = { ended: new Set(), before: [], followers: 0, everEnded: new Set() }
      places.set(item.parent, place)
    }
    if (end) {
      place.ended.add(node)
      place.everEnded.add(node)
      continue
    }
    if ((item.attempt ?? 1) > 1 && item.kind === 'step') {
      place.ended.delete(node)
      continue
    }
    if (place.ended.size > 0) {
      place.before = [...place.ended].slice(-WIDEST_JOIN)
      place.ended = new Set()
      place.followers = 0
    }
    if (++place.followers > WIDEST_JOIN) place.before = place.before.slice(-1)
    if (place.everEnded.has(node)) node.loops++
    for (const from of place.before) graph.link(from, node, 'sequence')
  }
}

function addHandoff(
  graph: Graph,
  handoff: Handoff,
  around: MutableNode | undefined,
  agent: string | null,
): void {
  const to = graph.node(null, 'agent', handoff.to ?? 'unknown')
  to.count++
  const from = around ?? graph.node(null, 'agent', handoff.from ?? agent ?? 'unknown')
  graph.link(from, to, 'handoff', handoff.reason)
}

function addChildRun(graph: Graph, node: MutableNode, childRunId: string): void {
  const run = graph.node(node.id, 'run', 'child run')
  run.count++
  ;(run.runIds as string[]).push(childRunId)
  graph.link(node, run, 'child_run')
}

/** The nearest node at or around an item. */
function climb(
  items: readonly TimelineItem[],
  nodeOf: readonly (MutableNode | undefined)[],
  index: number,
): MutableNode | undefined {
  let at: number | null = index
  for (let level = 0; at !== null && level < LEVELS; level++) {
    const node = nodeOf[at]
    if (node) return node
    at = items[at]?.parent ?? null
  }
  return undefined
}

/** Causes between nodes that neither hold nor follow each other anyway. */
function addCauses(
  graph: Graph,
  items: readonly TimelineItem[],
  nodeOf: readonly (MutableNode | undefined)[],
  ownerOf: (eventId: string) => number | undefined,
): void {
  const known: (MutableNode | null | undefined)[] = []
  /** Follows causes through events that have no node; a circle leads nowhere. */
  const resolve = (eventId: string): MutableNode | null => {
    const path: number[] = []
    let found: MutableNode | null = null
    for (let at = ownerOf(eventId); at !== undefined; ) {
      const before = known[at]
      if (before !== undefined) {
        found = before
        break
      }
      known[at] = null
      path.push(at)
      found = climb(items, nodeOf, at) ?? null
      if (found) break
      const cause = items[at]?.causationId ?? null
      at = cause === null ? undefined : ownerOf(cause)
    }
    for (const each of path) known[each] = found
    return found
  }
  for (const [index, item] of items.entries()) {
    const node = nodeOf[index]
    if (!node) continue
    const cause = item.causationId === null ? null : resolve(item.causationId)
    if (!cause || cause === node || graph.has(cause, node, 'sequence') || lies(items, nodeOf, index, cause))
      continue
    graph.link(cause, node, 'cause')
  }
}

function lies(
  items: readonly TimelineItem[],
  nodeOf: readonly (MutableNode | undefined)[],
  index: number,
  outer: MutableNode,
): boolean {
  let at = items[index]?.parent ?? null
  for (let level = 0; at !== null && level < LEVELS; level++) {
    if (nodeOf[at] === outer) return true
    at = items[at]?.parent ?? null
  }
  return false
}
