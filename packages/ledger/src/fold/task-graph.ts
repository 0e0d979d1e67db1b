import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from './fields.ts'
import type { Fold } from './fold.ts'
import type { RunStatus } from './run-summary.ts'
import type { StepStatus } from './steps.ts'
import { drawGraph } from './task-graph-edges.ts'
import { timelineFold, type TimelineState } from './timeline.ts'

/** All steps of one name in one place, or what stands beside steps: calls, messages, agents, child runs. */
export interface TaskNode {
  readonly id: string
  readonly name: string
  /** `target`: a decision named it, but it never ran. */
  readonly kind: 'step' | 'call' | 'message' | 'agent' | 'run' | 'target'
  /** The node whose steps these lie in. */
  readonly parent: string | null
  /** Kind of the steps, as the last of them was recorded. */
  readonly stepKind: string | null
  readonly count: number
  readonly attempts: number
  /** How often it began again after it had ended, within the same parent step. */
  readonly loops: number
  /** Status of the last step of the node. */
  readonly status: StepStatus | null
  readonly statuses: Readonly<Partial<Record<StepStatus, number>>>
  readonly totalMs: number
  readonly maxMs: number
  readonly firstSeq: number | null
  /** The child runs, for a node of kind `run`. */
  readonly runIds: readonly string[]
}

export interface TaskEdge {
  readonly from: string
  readonly to: string
  /** `sequence`: began after the other ended; `cause`: an event of the other caused it. */
  readonly kind: 'sequence' | 'decision' | 'cause' | 'handoff' | 'child_run'
  readonly count: number
  readonly label: string | null
}

/** V5: what led to what, with equal steps drawn once. */
export interface TaskGraph {
  readonly runId: string | null
  readonly agent: string | null
  readonly status: RunStatus | null
  readonly nodes: readonly TaskNode[]
  readonly edges: readonly TaskEdge[]
}

export interface Handoff {
  readonly from: string | null
  readonly to: string | null
  readonly reason: string | null
}

/** Changed in place by `apply`, like that of the timeline it is built on. */
export interface TaskGraphState {
  readonly timeline: TimelineState
  /** Recorded decisions, by step and attempt. */
  readonly decisions: Map<string, readonly string[]>
  /** Hand-offs by event id. */
  readonly handoffs: Map<string, Handoff>
}

export const taskGraphFold: Fold<TaskGraphState, TaskGraph> = {
  name: 'task-graph',
  version: 2,
  begin: () => ({ timeline: timelineFold.begin(), decisions: new Map(), handoffs: new Map() }),
  apply(state, event) {
    timelineFold.apply(state.timeline, event)
    takeDecision(state, event)
    return state
  },
  view(state) {
    const timeline = timelineFold.view(state.timeline)
    const { runId, agent, status } = timeline
    const ownerOf = (eventId: string): number | undefined => state.timeline.owners.get(eventId)?.index
    return { runId, agent, status, ...drawGraph(timeline, ownerOf, state) }
  },
}

function takeDecision(
  { decisions, handoffs }: TaskGraphState,
  { eventType, eventId, payload }: ClewEvent,
): void {
  if (eventType === 'execution.handoff') {
    const { from, to, reason } = payload
    handoffs.set(eventId, { from: textOf(from), to: textOf(to), reason: textOf(reason) })
  }
  const { decision, stepId, attempt = 1 } = payload
  if (eventType !== 'execution.step_completed' || decision === undefined || decision === null) return
  const targets = (Array.isArray(decision) ? decision : [decision]).filter((each) => typeof each === 'string')
  decisions.set(`${String(attempt)} ${textOf(stepId)}`, targets)
}
