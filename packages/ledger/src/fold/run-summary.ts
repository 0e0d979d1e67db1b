import { costOf } from '../billing/cost.ts'
import { addAmounts, fromNano } from '../billing/money.ts'
import { normaliseUsage, type Usage } from '../billing/usage.ts'
import { asErasable, asOwn, type ErasableEvent } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { countMessages, type MessageCounts, saidWithCalls } from './count-messages.ts'
import { beginsStep } from './begins-step.ts'
import { checkpointMark } from './checkpoint.ts'
import { textOf } from './fields.ts'
import { exportedStart, isExported } from './happened-order.ts'
import { foldScore, foldTags, NO_SCORES, NO_TAGS, type RunTags, type Score } from './scores-and-tags.ts'
import { foldSession, forkSession, type RunSession } from './session.ts'
import {
  foldPaused,
  foldPauseRequest,
  foldResumeRequest,
  foldSignal,
  foldTaken,
  type Held,
  holdBack,
  type SignalCounts,
  type SignalWait,
} from './signals.ts'

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

export const DEFAULT_QUEUE = 'default'

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

/** Last checkpoint of a run, from which it can resume. */
export interface LastCheckpoint {
  /** Id of the event that carries it, and its seq. */
  readonly id: string
  readonly superstep: number
  readonly seq: number
  /** Folding from this event on gives its state. */
  readonly baseSeq: number
  readonly createdAt: string
  /** False once the run has ended. */
  readonly resumable: boolean
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
  /** Usages that were counted: each model call once, however often it was reported (V7). */
  readonly modelCalls: number
  /** US dollars of the calls whose price is known; null when there is none. */
  readonly cost: number | null
  /** Counted calls without a known price in US dollars: with any, `cost` is a part only. */
  readonly unpricedCalls: number
  /** Models of the counted calls, in the order of their first call; present when there is one. At most 32. */
  readonly models?: readonly string[] | undefined
  readonly pauses: readonly Pause[]
  readonly error: RunError | null
  readonly checkpoint: LastCheckpoint | null
  /** A run that sleeps, or whose question times out, goes on at this time. */
  readonly dueAt: string | null
  /** A stop was requested and the run has not ended yet. */
  readonly stopRequested: boolean
  /** Signals that it waits for; absent if it waits for none. */
  readonly awaits?: readonly SignalWait[] | undefined
  /** Present once it was sent a signal. */
  readonly signals?: SignalCounts | undefined
  /** Present while an operator has it paused (W7). */
  readonly held?: Held | undefined
  /** Replay that this run stores the report of. */
  readonly replay: ReplaySummary | null
  /** Present when it answers in a stream (T1). */
  readonly session: RunSession | null
  readonly tags: RunTags
  /** Scores of the run and of its steps that count. */
  readonly scores: readonly Score[]
  /** Present when it was submitted (W1), as are the next six where they were given. */
  readonly queue?: string | undefined
  readonly key?: string | undefined
  readonly priority?: number | undefined
  readonly submittedAt?: string | undefined
  /** It fails if it has not ended by then. */
  readonly deadlineAt?: string | undefined
  /** Submitted and not started yet. */
  readonly waiting?: true | undefined
  /** Present when an exporter recorded it, span by span as they ended: views show it in the order of its clocks. */
  readonly exported?: true | undefined
  /** Ids of steps that an exporter has not sent yet, and inside of which usage was counted: theirs does not count (V7). */
  readonly awaited?: readonly string[] | undefined
}

/** A replay whose report was kept. */
export interface ReplaySummary {
  readonly mode: string
  /** Null until it is through. */
  readonly verdict: string | null
  readonly sourceRunId: string
  /** Id of the step at which code and record part; null where they do not, or where that is the run itself. */
  readonly at: string | null
}

/**
 * The first event of a run says whose it is, unless its start comes later (`learn`); in a fork, what it leaves open comes
 * from the source.
 */
export function beginRun(event: ClewEvent, source?: RunSummary): RunSummary {
  // A run may begin with an event of any type, also a foreign one.
  const { agent, agentVersion, threadId, parentRunId, subjects } = event.payload
  const own = asOwn(event)
  const forked = own?.eventType === 'system.workflow_forked' ? own.payload : undefined
  const thread = textOf(threadId) ?? source?.threadId ?? null
  return {
    runId: event.correlationId,
    status:
      event.eventType === 'system.workflow_started' || source || beginsStep(event) ? 'running' : 'pending',
    agent: textOf(agent) ?? source?.agent ?? null,
    agentVersion: textOf(agentVersion) ?? source?.agentVersion ?? null,
    threadId: thread,
    parentRunId: textOf(parentRunId),
    // The first own event of a fork comes right behind what it shares, also where it cannot say so any more.
    forkedFrom: source
      ? { runId: source.runId, seq: forked ? forked.sourceSeq : event.ledger.seq - 1 }
      : null,
    // Those of an item of memory are not those of all its scope.
    subjects: event.eventType.startsWith('execution.memory_')
      ? []
      : Array.isArray(subjects)
        ? subjects.filter((s) => typeof s === 'string')
        : (source?.subjects ?? []),
    startedAt: isExported(event) ? exportedStart(event) : event.timestamp,
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
    checkpoint: forked?.checkpoint ? { ...forkedCheckpoint(forked.checkpoint), resumable: true } : null,
    dueAt: null,
    stopRequested: false,
    replay: null,
    session: forkSession(source?.session ?? null, thread),
    // Scores are about what happened in the source, so a fork has none of them.
    tags:
      forked?.tags ??
      (own?.eventType === 'system.workflow_started' || own?.eventType === 'system.workflow_submitted'
        ? own.payload.tags
        : undefined) ??
      NO_TAGS,
    scores: NO_SCORES,
    ...(forked?.signals && { signals: forked.signals }),
    ...(event.eventType === 'system.workflow_submitted' && submission(event)),
    ...((source ? source.exported : isExported(event)) && { exported: true }),
  }
}

/** An erased submission still waits, in the default queue. */
function submission(event: ClewEvent): Partial<RunSummary> {
  const { queue, key, priority, deadlineAt } = event.payload
  return {
    queue: textOf(queue) ?? DEFAULT_QUEUE,
    ...(typeof key === 'string' && { key }),
    ...(typeof priority === 'number' && { priority }),
    submittedAt: event.timestamp,
    ...(typeof deadlineAt === 'string' && { deadlineAt }),
    waiting: true,
  }
}

/** The source's checkpoint at the fork, without `resumable`: the fold sees only the source's current summary. */
function forkedCheckpoint(given: Omit<LastCheckpoint, 'resumable'>): Omit<LastCheckpoint, 'resumable'> {
  const { id, superstep, seq, baseSeq, createdAt } = given
  return { id, superstep, seq, baseSeq, createdAt }
}

/**
 * Status after an event that ends a run. Recorders of chats send `execution.completed`, which counts if no other end
 * has come. A map with mixed items counts as partly completed.
 */
export function endStatus(event: ErasableEvent): RunStatus | undefined {
  if (event.eventType === 'system.workflow_completed') return event.payload.status ?? 'completed'
  if (event.eventType === 'execution.completed') return 'completed'
  if (event.eventType === 'system.workflow_failed') return 'failed'
  return event.eventType === 'system.workflow_stopped' ? 'stopped' : undefined
}

/** Types that only the owner of the run records. An interruption closes steps with events of its own. */
export const LIFE_SIGNS: ReadonlySet<string> = new Set([
  'execution.step_started',
  'execution.step_completed',
  'execution.step_failed',
])

type MutableSummary = { -readonly [K in keyof RunSummary]: RunSummary[K] }

/**
 * V1 as a fold. Never calls user code, never looks at a clock. `usage` is what counts of this event's usage, and
 * `begins` whether it begins an attempt of a step: both depend on the steps before it. A caller that does not know them
 * counts all of it. `awaited` are the awaited steps after this event, as they were left by `countUsage`.
 */
export function foldRun(
  summary: RunSummary,
  event: ClewEvent,
  usage: Usage | null = usageOf(event),
  begins = beginsStep(event),
  awaited?: ReadonlySet<string>,
): RunSummary {
  const next: MutableSummary = { ...summary, events: summary.events + 1, updatedAt: event.timestamp }
  if (awaited) setAwaited(next, awaited)
  if (usage) addUsage(next, usage, event)
  if (begins) {
    // No start was recorded, and yet the run works: exporters may send children before their parents.
    if (summary.steps === 0 && summary.status === 'pending') next.status = 'running'
    next.steps++
  }
  if (summary.exported && begins) startEarlier(next, exportedStart(event))
  // A run that was taken for dead goes on. Owners of a lease record that first; exporters of spans have no lease.
  if (summary.status === 'interrupted' && LIFE_SIGNS.has(event.eventType)) next.status = 'running'
  const own = asErasable(event)
  if (!own) return next
  next.session = foldSession(summary.session, own, begins)
  applyOwn(next, summary, own)
  if (next.held) holdBack(next)
  // One that is held leaves its queue; resumed, it is due like any that was begun.
  if (summary.waiting && next.status !== 'pending') delete next.waiting
  if (next.checkpoint && next.checkpoint.resumable === isTerminal(next.status))
    next.checkpoint = { ...next.checkpoint, resumable: !next.checkpoint.resumable }
  return next
}

function setAwaited(next: MutableSummary, awaited: ReadonlySet<string>): void {
  const before = next.awaited ?? []
  if (before.length === awaited.size && before.every((stepId) => awaited.has(stepId))) return
  if (awaited.size === 0) delete next.awaited
  else next.awaited = [...awaited]
}

/** Applies an own event beyond the counts; an erased event still counts by its type. */
function applyOwn(next: MutableSummary, summary: RunSummary, own: ErasableEvent): void {
  switch (own.eventType) {
    case 'system.workflow_submitted':
      next.dueAt = own.payload.dueAt ?? null
      break
    case 'system.workflow_started':
    case 'system.workflow_resumed':
    case 'system.workflow_forked':
      next.status = 'running'
      next.endedAt = null
      next.durationMs = null
      next.error = null
      next.dueAt = null
      delete next.awaits
      delete next.held
      if (own.eventType === 'system.workflow_resumed') next.stopRequested = false
      if (own.eventType === 'system.workflow_started' && summary.events > 0) learn(next, own)
      // Its duration is that of its work, without the time in the queue.
      if (own.eventType === 'system.workflow_started' && summary.waiting) next.startedAt = own.timestamp
      break
    case 'system.workflow_paused':
      foldPaused(next, summary, own)
      break
    case 'system.signal_received':
      foldSignal(next, summary, own)
      break
    case 'system.pause_requested':
      if (!isTerminal(summary.status)) foldPauseRequest(next, own)
      break
    case 'system.resume_requested':
      foldResumeRequest(next)
      break
    case 'system.stop_requested':
      if (!isTerminal(summary.status)) next.stopRequested = true
      break
    case 'system.workflow_blocked':
      next.status = 'blocked'
      break
    case 'system.workflow_interrupted':
      if (isTerminal(summary.status)) break
      next.status = 'interrupted'
      // What it was at work on goes on at once when it is resumed.
      if (next.held) next.dueAt = own.timestamp
      break
    case 'execution.completed':
    case 'system.workflow_completed':
    case 'system.workflow_failed':
    case 'system.workflow_stopped':
      if (own.eventType === 'execution.completed' && isTerminal(summary.status)) break
      next.status = endStatus(own) ?? next.status
      next.endedAt = own.timestamp
      next.durationMs = elapsedMs(summary, own)
      rest(next)
      if (own.eventType === 'system.workflow_failed') next.error = toRunError(own.payload.error)
      break
    case 'system.workflow_superseded':
      // A run that had already ended keeps the time of its end.
      next.status = 'superseded'
      next.endedAt ??= own.timestamp
      next.durationMs ??= elapsedMs(summary, own)
      rest(next)
      break
    case 'system.replay_started':
      next.status = 'running'
      next.replay = {
        mode: own.payload.mode ?? '',
        verdict: null,
        sourceRunId: own.payload.sourceRunId ?? '',
        at: null,
      }
      break
    case 'system.replay_completed':
      next.status = 'completed'
      next.endedAt = own.timestamp
      next.durationMs = elapsedMs(summary, own)
      if (summary.replay) {
        const { verdict = null, at = null } = own.payload
        next.replay = { ...summary.replay, verdict, at }
      }
      break
    case 'execution.step_failed':
      next.errors++
      next.pauses = withoutStep(summary.pauses, own.payload.stepId)
      foldTaken(next, summary, own)
      break
    case 'execution.checkpoint':
      next.checkpoint = toPlace(own, summary)
      addMessages(next, countMessages(own))
      break
    case 'execution.step_completed':
      addMessages(next, countMessages(own))
      next.pauses = withoutStep(summary.pauses, own.payload.stepId)
      foldTaken(next, summary, own)
      if (own.payload.checkpoint !== undefined) next.checkpoint = toPlace(own, summary)
      break
    case 'execution.step_stopped':
    case 'execution.step_interrupted':
      next.pauses = withoutStep(summary.pauses, own.payload.stepId)
      break
    case 'execution.tool_error':
      next.errors++
      break
    case 'execution.message':
      next.messages++
      next.toolCalls += saidWithCalls(own)?.toolCalls.length ?? 0
      break
    case 'execution.tool_call':
      next.toolCalls++
      break
    case 'ui.input_requested':
      next.pauses = [...summary.pauses, toPause(own)]
      break
    case 'ui.input_received':
      next.pauses = summary.pauses.filter((pause) => pause.pauseId !== own.payload.pauseId)
      // All questions are answered and no process has resumed the run: no longer paused (R6), not yet running.
      if (summary.status === 'paused' && next.pauses.length === 0) {
        next.status = 'pending'
        next.dueAt = null
        delete next.awaits
      }
      // Others are open, but what waits for this one can go on.
      else if (summary.status === 'paused' && next.pauses.length < summary.pauses.length)
        next.dueAt = own.timestamp
      break
    case 'system.scored':
      next.scores = foldScore(summary.scores, own)
      break
    case 'system.tagged':
      next.tags = foldTags(summary.tags, own)
      break
    default:
  }
}

/** A run that has ended waits for nothing. */
function rest(next: MutableSummary): void {
  next.pauses = []
  next.dueAt = null
  next.stopRequested = false
  delete next.awaits
  delete next.held
}

function addMessages(next: MutableSummary, counts: MessageCounts | undefined): void {
  if (!counts) return
  next.messages += counts.messages
  next.toolCalls += counts.toolCalls
}

const elapsedMs = ({ startedAt }: RunSummary, { timestamp }: ErasableEvent): number =>
  Math.max(0, Date.parse(timestamp) - Date.parse(startedAt))

/** Any event may report usage, also one of a foreign type. */
const usageOf = ({ payload: { usage } }: ClewEvent): Usage | null => normaliseUsage(usage)

/**
 * A start that comes after other events of its run (children exported before their parents) still sets agent, thread
 * and subjects.
 */
function learn(next: MutableSummary, { payload, timestamp }: ErasableEvent<'system.workflow_started'>): void {
  const { agent, agentVersion, threadId, parentRunId, subjects = [] } = payload
  next.agent = agent ?? next.agent
  next.agentVersion = agentVersion ?? next.agentVersion
  next.threadId = threadId ?? next.threadId
  next.parentRunId = parentRunId ?? next.parentRunId
  const added = subjects.filter((subject) => !next.subjects.includes(subject))
  if (added.length > 0) next.subjects = [...next.subjects, ...new Set(added)]
  startEarlier(next, timestamp)
}

/** Spans come in any order, so any of them may be the first. */
function startEarlier(next: MutableSummary, at: string): void {
  if (!(Date.parse(at) < Date.parse(next.startedAt))) return
  next.startedAt = at
  if (next.endedAt !== null) next.durationMs = Math.max(0, Date.parse(next.endedAt) - Date.parse(at))
}

/** Whether two summaries of one run, an earlier and a later, say the same of whose it is: stores keep that in columns. */
export const hasSameIdentity = (before: RunSummary, after: RunSummary): boolean =>
  before.agent === after.agent &&
  before.agentVersion === after.agentVersion &&
  before.threadId === after.threadId &&
  before.parentRunId === after.parentRunId &&
  before.startedAt === after.startedAt &&
  before.subjects.length === after.subjects.length

function toPlace(event: ErasableEvent, { checkpoint: before }: RunSummary): LastCheckpoint | null {
  const checkpoint = checkpointMark(event)
  if (!checkpoint) return before
  const { id, superstep = before?.superstep ?? 0, seq, baseSeq, createdAt } = checkpoint
  return { id, superstep, seq, baseSeq, createdAt, resumable: true }
}

/** A question ends with the step that asked it: no code waits for the answer any more. */
function withoutStep(pauses: readonly Pause[], stepId: string | undefined): readonly Pause[] {
  return pauses.some((pause) => pause.stepId === stepId)
    ? pauses.filter((pause) => pause.stepId !== stepId)
    : pauses
}

const MAX_MODELS = 32

function addUsage(next: MutableSummary, usage: Usage, { payload }: ClewEvent): void {
  next.inputTokens += usage.inputTokens
  next.outputTokens += usage.outputTokens
  next.modelCalls++
  const model = textOf(payload['model'])
  const models = next.models ?? []
  if (model !== null && models.length < MAX_MODELS && !models.includes(model))
    next.models = [...models, model]
  const { nano, currency } = costOf(payload)
  if (nano === undefined || currency !== 'USD') next.unpricedCalls++
  else next.cost = addAmounts(next.cost ?? 0, fromNano(nano))
}

function toPause({ eventId, payload }: ErasableEvent<'ui.input_requested'>): Pause {
  const { pauseId = eventId, stepId = null, question = null } = payload
  return { pauseId, stepId, question }
}

/** Stored fields of an error: type, code and redacted message. */
export function toRunError(error: unknown): RunError {
  if (typeof error === 'string') return { name: null, code: null, message: error }
  const text = (key: string): string | null => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined
    return typeof value === 'string' ? value : null
  }
  return { name: text('name'), code: text('code'), message: text('message') }
}
