import type { RunStatus, StepStatus } from '@clew/ledger'
import {
  SESSION_COMPLETED,
  SESSION_DELETED,
  SESSION_FAILED,
  SESSION_INTERRUPTED,
  SESSION_PAUSED,
  SESSION_STARTED,
  STEP_COMPLETED,
  STEP_PROGRESS,
  STEP_STARTED,
} from './names.ts'
import type { SessionHead, SessionPayload, StepProgressPayload, TraceMessage } from './payloads.ts'
import type { SessionDetail, SessionView, TraceStep } from './session-view.ts'
import { isAtWork } from './to-trace-step.ts'

/** State of a session in a page, merged from messages in any order. */
export interface LiveSession {
  readonly head: SessionHead | null
  /** Key: step and attempt. */
  readonly steps: ReadonlyMap<string, LiveStep>
}

interface LiveStep {
  /** Null while only its progress has come. */
  readonly step: TraceStep | null
  /** The place in the session up to which its status is known. */
  readonly asOfSeq: number
  readonly progress: TraceStep['progress']
}

export const EMPTY_SESSION: LiveSession = { head: null, steps: new Map() }

/**
 * T3. Fetched or sent, early or late, once or again: the same messages in any order give the same session. A step
 * never goes back, a progress after its end is dropped, and an end of the session stands unless the session was
 * resumed.
 */
export function mergeSession(state: LiveSession, incoming: TraceMessage | SessionDetail): LiveSession {
  if (!('name' in incoming)) return mergeDetail(state, incoming)
  switch (incoming.name) {
    case SESSION_STARTED:
    case SESSION_COMPLETED:
    case SESSION_FAILED:
    case SESSION_INTERRUPTED:
    case SESSION_PAUSED:
    case SESSION_DELETED:
      return { ...state, head: laterHead(state.head, toHead(incoming.payload)) }
    case STEP_STARTED: {
      const { payload } = incoming
      const { workspaceId: _, sessionId: __, streamId: ___, ...fields } = payload
      const step = { ...OPEN, ...fields, status: 'running' } as const
      return withStep(state, { step, asOfSeq: payload.startedSeq, progress: null })
    }
    case STEP_COMPLETED: {
      const { workspaceId: _, sessionId: __, streamId: ___, isAssumed, ...fields } = incoming.payload
      // Follows from the status of the session, and would stand in the way if the step goes on.
      if (isAssumed) return state
      const step = { ...fields, progress: null }
      return withStep(state, { step, asOfSeq: fields.endedSeq, progress: null })
    }
    case STEP_PROGRESS:
      return withProgress(state, incoming.payload)
    default:
      return state
  }
}

const OPEN = {
  isContentLeftOut: false,
  sources: [],
  messageId: null,
  error: null,
  endedSeq: null,
  completedAt: null,
  durationMs: null,
  progress: null,
} as const

function mergeDetail(state: LiveSession, { session, steps }: SessionDetail): LiveSession {
  const merged = new Map(state.steps)
  for (const step of steps) {
    const isAssumed = step.status === 'interrupted' && step.endedSeq === null
    const known: TraceStep = { ...step, status: isAssumed ? 'running' : step.status, progress: null }
    const incoming = { step: known, asOfSeq: step.endedSeq ?? session.seq, progress: step.progress }
    const key = keyOf(known)
    const before = merged.get(key)
    merged.set(key, before ? laterStep(before, incoming) : incoming)
  }
  return { ...state, head: laterHead(state.head, toHead(session)), steps: merged }
}

function toHead(from: SessionPayload | SessionView): SessionHead {
  return {
    sessionId: from.sessionId,
    workspaceId: from.workspaceId,
    streamId: from.streamId,
    status: from.status,
    persona: from.persona,
    triggerMessageId: from.triggerMessageId,
    supersedes: from.supersedes,
    currentStepType: from.currentStepType,
    stepCount: from.stepCount,
    generation: from.generation,
    seq: from.seq,
    position: from.position,
    startedAt: from.startedAt,
    endedAt: from.endedAt,
    error: from.error,
  }
}

/** deleted > superseded > completed, for ever; then by generation; in one generation an end beats all that is none. */
const FINAL: Partial<Record<RunStatus, number>> = { deleted: 3, superseded: 2, completed: 1, partial: 1 }
const ENDED: Partial<Record<RunStatus, number>> = { failed: 1, stopped: 1 }

export function laterHead(a: SessionHead | null, b: SessionHead): SessionHead {
  if (!a) return b
  const order =
    (FINAL[a.status] ?? 0) - (FINAL[b.status] ?? 0) ||
    a.generation - b.generation ||
    (ENDED[a.status] ?? 0) - (ENDED[b.status] ?? 0) ||
    a.seq - b.seq
  return order >= 0 ? a : b
}

const RANKS: Readonly<Record<StepStatus, number>> = {
  completed: 4,
  failed: 3,
  stopped: 2,
  interrupted: 1,
  running: 0,
  paused: 0,
}

const keyOf = ({ stepId, attempt }: { readonly stepId: string; readonly attempt: number }): string =>
  `${attempt} ${stepId}`

function withStep(state: LiveSession, incoming: LiveStep & { readonly step: TraceStep }): LiveSession {
  const key = keyOf(incoming.step)
  const before = state.steps.get(key)
  const merged = before ? laterStep(before, incoming) : incoming
  if (merged === before) return state
  return { ...state, steps: new Map(state.steps).set(key, merged) }
}

function laterStep(a: LiveStep, b: LiveStep & { readonly step: TraceStep }): LiveStep {
  const [winner, loser] = a.step === null || compareSteps(a as typeof b, b) < 0 ? [b, a] : [a as typeof b, b]
  if (RANKS[winner.step.status] > 0) return { ...winner, progress: null }
  // The step's initial text is sent live only.
  const content = winner.step.content ?? loser.step?.content ?? null
  return {
    step: { ...winner.step, content },
    asOfSeq: winner.asOfSeq,
    progress: laterProgress(a.progress, b.progress),
  }
}

/** Positive if `a` is newer. Of two equally new ones, the one with content wins. */
function compareSteps(a: LiveStep & { readonly step: TraceStep }, b: typeof a): number {
  return (
    RANKS[a.step.status] - RANKS[b.step.status] ||
    a.asOfSeq - b.asOfSeq ||
    Number(b.step.isContentLeftOut) - Number(a.step.isContentLeftOut)
  )
}

function laterProgress(a: TraceStep['progress'], b: TraceStep['progress']): TraceStep['progress'] {
  return a && (!b || a.version >= b.version) ? a : b
}

function withProgress(state: LiveSession, payload: StepProgressPayload): LiveSession {
  const key = keyOf(payload)
  const before = state.steps.get(key) ?? { step: null, asOfSeq: 0, progress: null }
  if (before.step && RANKS[before.step.status] > 0) return state
  const progress = laterProgress(before.progress, { version: payload.version, content: payload.content })
  if (progress === before.progress) return state
  return { ...state, steps: new Map(state.steps).set(key, { ...before, progress }) }
}

/** The steps to show, in the order in which they began. */
export function liveSteps({ head, steps }: LiveSession): TraceStep[] {
  const isIdle = head !== null && !isAtWork(head.status)
  return [...steps.values()]
    .flatMap(({ step, progress }) => (step ? [toShown(step, progress, isIdle)] : []))
    .sort((a, b) => a.startedSeq - b.startedSeq)
}

/** No process works on it any more: a page must not show it as running. */
function toShown(step: TraceStep, progress: TraceStep['progress'], isIdle: boolean): TraceStep {
  if (RANKS[step.status] > 0) return step
  return isIdle ? { ...step, status: 'interrupted', progress: null } : { ...step, progress }
}
