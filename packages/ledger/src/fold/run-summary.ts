import { costOf } from '../billing/cost.ts'
import { addAmounts, fromNano } from '../billing/money.ts'
import { normaliseUsage, type Usage } from '../billing/usage.ts'
import type { ClewEvent } from '../envelope.ts'

export const RUN_STATUSES = [
  'pending',
  'running',
  'paused',
  'blocked',
  'completed',
  'failed',
  'stopped',
  'partial',
  'interrupted',
  'superseded',
  'deleted',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

const TERMINAL: ReadonlySet<RunStatus> = new Set([
  'completed',
  'failed',
  'stopped',
  'partial',
  'superseded',
  'deleted',
])
export const isTerminal = (status: RunStatus): boolean => TERMINAL.has(status)

export interface Pause {
  readonly pauseId: string
  readonly stepId: string | null
  readonly question: unknown
}

export interface RunError {
  readonly name: string | null
  readonly code: string | null
  readonly message: string | null
}

/** V1: one run in one row. */
export interface RunSummary {
  readonly runId: string
  readonly status: RunStatus
  readonly agent: string | null
  readonly agentVersion: string | null
  readonly threadId: string | null
  readonly parentRunId: string | null
  readonly forkedFrom: { readonly runId: string; readonly seq: number } | null
  readonly subjects: readonly string[]
  readonly startedAt: string
  readonly updatedAt: string
  readonly endedAt: string | null
  readonly durationMs: number | null
  readonly events: number
  readonly steps: number
  readonly messages: number
  readonly toolCalls: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Usages that were counted: calls of models, each once, however often it was told (V7). */
  readonly modelCalls: number
  /** US dollars of the calls whose price is known; null when there is none. */
  readonly cost: number | null
  /** Counted calls without a known price in US dollars: with any, `cost` is a part only. */
  readonly unpricedCalls: number
  readonly pauses: readonly Pause[]
  readonly error: RunError | null
}

/** The first event of a run fixes its identity; in a fork, what it leaves open comes from the source. */
export function beginRun(event: ClewEvent, source?: RunSummary): RunSummary {
  const { payload } = event
  const text = (key: string): string | null => (typeof payload[key] === 'string' ? payload[key] : null)
  const subjects = payload['subjects']
  return {
    runId: event.correlationId,
    status: event.eventType === 'system.workflow_started' || source ? 'running' : 'pending',
    agent: text('agent') ?? source?.agent ?? null,
    agentVersion: text('agentVersion') ?? source?.agentVersion ?? null,
    threadId: text('threadId') ?? source?.threadId ?? null,
    parentRunId: text('parentRunId'),
    forkedFrom: source ? { runId: source.runId, seq: Number(payload['sourceSeq']) } : null,
    subjects: Array.isArray(subjects)
      ? subjects.filter((s) => typeof s === 'string')
      : (source?.subjects ?? []),
    startedAt: event.timestamp,
    updatedAt: event.timestamp,
    endedAt: null,
    durationMs: null,
    events: 0,
    steps: 0,
    messages: 0,
    toolCalls: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    modelCalls: 0,
    cost: null,
    unpricedCalls: 0,
    pauses: [],
    error: null,
  }
}

const ENDED: Readonly<Record<string, RunStatus>> = {
  'system.workflow_completed': 'completed',
  'system.workflow_failed': 'failed',
  'system.workflow_stopped': 'stopped',
}

type Draft = { -readonly [K in keyof RunSummary]: RunSummary[K] }

/**
 * V1 as a fold. Never calls user code, never looks at a clock. `usage` is what counts of this event's usage, which
 * depends on the steps around it; a caller that does not know them counts all of it.
 */
export function foldRun(
  summary: RunSummary,
  event: ClewEvent,
  usage: Usage | null = normaliseUsage(event.payload['usage']),
): RunSummary {
  const { eventType, payload } = event
  const next: Draft = { ...summary, events: summary.events + 1, updatedAt: event.timestamp }
  if (usage) addUsage(next, usage, payload)
  switch (eventType) {
    case 'system.workflow_started':
    case 'system.workflow_resumed':
    case 'system.workflow_forked':
      next.status = 'running'
      next.endedAt = null
      next.durationMs = null
      next.error = null
      break
    case 'system.workflow_paused':
      next.status = 'paused'
      break
    case 'system.workflow_blocked':
      next.status = 'blocked'
      break
    case 'system.workflow_interrupted':
      if (!isTerminal(summary.status)) next.status = 'interrupted'
      break
    case 'system.workflow_completed':
    case 'system.workflow_failed':
    case 'system.workflow_stopped':
      next.status = ENDED[eventType] as RunStatus
      next.endedAt = event.timestamp
      next.durationMs = Math.max(0, Date.parse(event.timestamp) - Date.parse(summary.startedAt))
      next.pauses = []
      if (eventType === 'system.workflow_failed') next.error = toRunError(payload['error'])
      break
    case 'execution.step_started':
      next.steps++
      break
    case 'execution.step_failed':
      next.errors++
      next.pauses = withoutStep(summary.pauses, payload['stepId'])
      break
    case 'execution.step_completed':
    case 'execution.step_stopped':
    case 'execution.step_interrupted':
      next.pauses = withoutStep(summary.pauses, payload['stepId'])
      break
    case 'execution.tool_error':
      next.errors++
      break
    case 'execution.message':
      next.messages++
      break
    case 'execution.tool_call':
      next.toolCalls++
      break
    case 'ui.input_requested':
      next.pauses = [...summary.pauses, toPause(event)]
      break
    case 'ui.input_received':
      next.pauses = summary.pauses.filter((pause) => pause.pauseId !== payload['pauseId'])
      // All is answered and nobody has taken it up: no longer paused (R6), not yet running.
      if (summary.status === 'paused' && next.pauses.length === 0) next.status = 'pending'
      break
    default:
  }
  return next
}

/** A question ends with the step that asked it: nobody waits for the answer any more. */
function withoutStep(pauses: readonly Pause[], stepId: unknown): readonly Pause[] {
  return pauses.some((pause) => pause.stepId === stepId)
    ? pauses.filter((pause) => pause.stepId !== stepId)
    : pauses
}

function addUsage(next: Draft, usage: Usage, payload: ClewEvent['payload']): void {
  next.inputTokens += usage.inputTokens
  next.outputTokens += usage.outputTokens
  next.modelCalls++
  const { nano, currency } = costOf(payload)
  if (nano === undefined || currency !== 'USD') next.unpricedCalls++
  else next.cost = addAmounts(next.cost ?? 0, fromNano(nano))
}

function toPause({ eventId, payload }: ClewEvent): Pause {
  const { pauseId, stepId, question } = payload
  return {
    pauseId: typeof pauseId === 'string' ? pauseId : eventId,
    stepId: typeof stepId === 'string' ? stepId : null,
    question: question ?? null,
  }
}

/** What is kept of an error: type, code and redacted message. */
export function toRunError(error: unknown): RunError {
  if (typeof error === 'string') return { name: null, code: null, message: error }
  const text = (key: string): string | null => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined
    return typeof value === 'string' ? value : null
  }
  return { name: text('name'), code: text('code'), message: text('message') }
}
