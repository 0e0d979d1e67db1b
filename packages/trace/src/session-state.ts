import {
  beginRun,
  beginsStep,
  type ClewEvent,
  foldRun,
  foldStep,
  type RunSummary,
  type StepSkeleton,
} from '@clew/ledger'
import type { SessionView } from './session-view.ts'

/** State of a session that is needed to send its next event: a fold of the earlier events. */
export interface SessionState {
  readonly summary: RunSummary
  readonly workspaceId: string
  /** Place of its first event in the ledger, and of its newest in itself. */
  readonly position: number
  readonly seq: number
  /** Attempts that have not ended, with the number of the step. */
  readonly open: ReadonlyMap<string, NumberedStep>
}

export interface NumberedStep {
  readonly step: StepSkeleton
  readonly stepNumber: number
}

/** Which event types the fold needs; messages and tool calls are left out of reading a session. */
export const SESSION_TYPES: readonly string[] = [
  'system.workflow_started',
  'system.workflow_forked',
  'system.workflow_resumed',
  'system.workflow_paused',
  'execution.completed',
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
  'system.workflow_superseded',
  'system.workflow_interrupted',
  'system.workflow_blocked',
  'execution.step_started',
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
  'ui.input_requested',
  'ui.input_received',
]
const KNOWN = new Set(SESSION_TYPES)

/** One more event of a run; other types than `SESSION_TYPES` change nothing. */
export function foldSessionState(state: SessionState | null, event: ClewEvent): SessionState | null {
  if (!KNOWN.has(event.eventType)) return state
  const before = state ?? beginState(event)
  if (event.ledger.seq <= before.seq) return before
  const key = stepKeyOf(event)
  const known = key === null ? undefined : before.open.get(key)
  const begins = key !== null && beginsStep(event, known !== undefined)
  const summary = foldRun(before.summary, event, null, begins && !known)
  const open = key === null ? before.open : withStep(before, key, event, summary.steps)
  return { ...before, summary, seq: event.ledger.seq, open }
}

const beginState = (event: ClewEvent): SessionState => ({
  summary: beginRun(event),
  workspaceId: event.ledger.workspace,
  position: event.ledger.position,
  seq: 0,
  open: new Map(),
})

/** A fork before its first own event: what that leaves open comes from the source. */
export const forkState = (first: ClewEvent, source: RunSummary): SessionState => ({
  ...beginState(first),
  summary: { ...beginRun(first, source), status: 'pending' },
  seq: first.ledger.seq - 1,
})

function withStep(
  { open, summary }: SessionState,
  key: string,
  event: ClewEvent,
  steps: number,
): SessionState['open'] {
  const known = open.get(key)
  const step = foldStep(known?.step, event, summary.steps)
  if (!step) return open
  const next = new Map(open)
  if (step.status === 'running' || step.status === 'paused')
    next.set(key, { step, stepNumber: known?.stepNumber ?? steps })
  else next.delete(key)
  return next
}

/** Which attempt of a step an event speaks of. */
export function stepKeyOf({ payload }: ClewEvent): string | null {
  const { stepId, attempt = 1 } = payload
  return typeof stepId === 'string' ? `${String(attempt)} ${stepId}` : null
}

/** A summary, as the endpoint gives it; null for a run that is no session. */
export function toSessionView(
  summary: RunSummary,
  { workspaceId, position, seq }: Pick<SessionState, 'workspaceId' | 'position' | 'seq'>,
): SessionView | null {
  const { session } = summary
  if (!session) return null
  return {
    sessionId: summary.runId,
    workspaceId,
    streamId: session.streamId,
    status: summary.status,
    triggerMessageId: session.triggerMessageId,
    supersedes: session.supersedes,
    persona: session.persona,
    currentStepType: session.currentStepType,
    stepCount: summary.steps,
    generation: session.generation,
    seq,
    position,
    startedAt: summary.startedAt,
    endedAt: summary.endedAt,
    durationMs: summary.durationMs,
    error: summary.error,
    checkpoint: summary.checkpoint,
    replay: summary.replay,
  }
}
