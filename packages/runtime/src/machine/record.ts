import { beginsStep, type ClewEvent, type EventOf, type FieldsOf, isOwn, kindOfStep } from '@clew/ledger'
import { mayBePatch } from './patches.ts'
import { addStatement, type StatementIndex } from './statements.ts'
import type { Step } from './step.ts'

/** An event of a step: its start, its end, or both in one. */
type StepEventType =
  | 'execution.step_started'
  | 'execution.step_completed'
  | 'execution.step_failed'
  | 'execution.step_stopped'
  | 'execution.step_interrupted'
export type StepEvent = EventOf<StepEventType>
type Readings = readonly (readonly [string, number])[]
export const isStepEvent = (event: ClewEvent): event is StepEvent =>
  event.eventType.startsWith('execution.step_')

/** A question to a person, and an answer to one. */
export type QuestionEvent = EventOf<'ui.input_requested'>
export type AnswerEvent = EventOf<'ui.input_received'>

/** One attempt of a call; without an end it was in flight where the record stops. */
export interface RecordedAttempt {
  readonly attempt: number
  readonly start: StepEvent
  end: StepEvent | undefined
}

/** One call of the code: a step within one attempt of the body around it, with all attempts that came of it. */
export interface RecordedCall {
  readonly stepId: string
  readonly name: string
  kind: string
  readonly parent: RecordedCall | undefined
  readonly parentAttempt: number
  /** The call of the same step in an earlier attempt of the body around. */
  readonly before: RecordedCall | undefined
  attempts: RecordedAttempt[]
  /** Only in the prefix that a fork shares with its source, or before an accepted difference: the code need not ask for it. */
  isShared: boolean
  /** The call started in that prefix, so the code that wrote the rest may have made it in another order. */
  isEarlier: boolean
  /** The code is given its end; its body does not run. */
  isGiven: boolean
  /** The call is in a body that does not run. */
  isInside: boolean
  /**
   * The event that had woken the code when it asked. For what a body asks for before anything wakes it, that is the body's
   * start: what had woken the code before is another event in the life in which the body was entered again. Null where the
   * record cannot say: a graph that is taken up begins from its checkpoint, and a fork with what its source did.
   */
  reason: string | null
  /** Its turn was over before the code asked for it. */
  isPassed: boolean
  /** The step by which the code asked for it this time. */
  step: Step | undefined
}

/** Event that wakes the code, in recorded order: the end of a call, or another attempt of a body. */
export interface Turn {
  readonly call: RecordedCall
  readonly tried: RecordedAttempt
  readonly isEnd: boolean
}

/** The calls of one body, or of the run itself, in the order in which they were made. */
export interface RecordedScope {
  readonly calls: RecordedCall[]
  /** All calls before this one were asked for. */
  at: number
}

/** Index of a run's events, built in one pass. Resume and replay follow it. */
export interface RunRecord {
  readonly runId: string
  readonly started: ClewEvent
  readonly last: ClewEvent
  readonly calls: readonly RecordedCall[]
  readonly turns: readonly Turn[]
  readonly clock: ReadonlyMap<string, readonly number[]>
  readonly questions: ReadonlyMap<string, QuestionEvent>
  readonly answers: ReadonlyMap<string, AnswerEvent>
  /** Statements of the code (R13). */
  readonly statements: ReadonlyMap<string, readonly ClewEvent[]>
  /** Decisions for changed code (W6). */
  readonly patches: readonly ClewEvent[]
  /** What steps are performed with in place of what the code asks for, by step id: a fork said so. */
  readonly requests: ReadonlyMap<string, unknown>
  /** Seqs of the ends of calls, by the id of the event. */
  readonly seqs: ReadonlyMap<string, number>
  /** Seqs of the events by which the run was taken up again. */
  readonly takenUp: readonly number[]
  /** Attempts that were begun: the numbering continues from there. */
  readonly starts: number
  /** The run is a fork, or its code may differ up to some event because a user accepted that. */
  readonly hasShared: boolean
  /** End of the code; undefined if the record has none. */
  readonly end: ClewEvent | undefined
  has(stepId: string): boolean
  find(parentAttempt: number, stepId: string): RecordedCall | undefined
  /** The calls of a body in one of its attempts. */
  scopeOf(path: string, attempt: number): RecordedScope | undefined
  /** Calls that the code made after it was woken by this event. */
  callsAfter(eventId: string): readonly RecordedCall[]
  /** The last attempt of a step, 0 when the record has none. */
  triedOf(stepId: string): number
  /** Every attempt of a step, in whatever body, the last one first. */
  attemptsOf(stepId: string): Generator<RecordedAttempt & { readonly parentAttempt: number }>
  /** Belongs to the source of this fork, too, or lies before an accepted difference. */
  isShared(event: ClewEvent): boolean
  /** The end of a call, in what is the run's own. */
  isOwnEnd(eventId: string): boolean
  /**
   * Whether the record shows that the code acted after it was woken by this event: then all that it asked for until that
   * wake is on record, because starts are committed in the order of the calls. `bodyId` is the start of the body that it
   * acted in: a resume enters a further attempt before its turn.
   */
  actedAfter(eventId: string | null, bodyId?: string): boolean
}

/** Readings belong to the attempt whose code took them: the next attempt looks at the clock again. */
export const clockKey = (path: string, attempt: number): string => `${attempt} ${path}`

export const stepIdOf = ({ payload }: StepEvent): string => payload.stepId ?? ''
export const attemptOf = ({ payload }: StepEvent): number => payload.attempt ?? 1
export const parentOf = ({ payload }: StepEvent): string | null => payload.parentStepId ?? null
export const pauseIdIn = ({ payload, eventId }: QuestionEvent | AnswerEvent): string =>
  payload.pauseId ?? eventId

/** The start that a call is compared with. */
export const startOf = ({ attempts }: RecordedCall): StepEvent => (attempts[0] as RecordedAttempt).start
export const lastOf = ({ attempts }: RecordedCall): RecordedAttempt => attempts.at(-1) as RecordedAttempt

export const digestIn = ({ payload }: StepEvent): string => payload.inputDigest ?? ''

const ENDS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])
const RUN_ENDS: ReadonlySet<string> = new Set([
  'execution.completed',
  'system.workflow_completed',
  'system.workflow_failed',
])

/** The last word on a step, which the code gets to see: neither cut, nor followed by another attempt, nor left behind. */
export const isFinal = ({ eventType, payload }: StepEvent): boolean =>
  (eventType === 'execution.step_completed' || eventType === 'execution.step_failed') &&
  payload.retryInMs === undefined

/** Seq up to which a user accepted differences between code and record; 0 if none were accepted. */
export const acceptedIn = (events: readonly ClewEvent[]): number =>
  events.findLast(({ eventType }) => eventType === 'system.divergence_accepted')?.ledger.seq ?? 0

export interface IndexOptions {
  readonly runId: string
  readonly started: ClewEvent
  readonly isGraph: boolean
  /** `given`: bodies that ended are not run again, as in a resume; `run`: they are, as in a replay. */
  readonly bodies: 'given' | 'run'
}

/** `events` are in order: those of a function's whole run, or of a graph from a checkpoint on. */
export function indexRecord(events: readonly ClewEvent[], options: IndexOptions): RunRecord {
  const { runId, started, isGraph, bodies } = options
  /** The last call of each step; `before` leads to the others. */
  const byStep = new Map<string, RecordedCall>()
  const calls: RecordedCall[] = []
  const turns: Turn[] = []
  const clock = new Map<string, number[]>()
  const questions = new Map<string, QuestionEvent>()
  const answers = new Map<string, AnswerEvent>()
  /** Last attempts of steps whose end has no start, which the store refused: their numbers are not used again. */
  const orphans = new Map<string, number>()
  const takenUp: number[] = []
  const requests = new Map<string, unknown>()
  const sharedIds = new Set<string>()
  const seqs = new Map<string, number>()
  const acceptedSeq = acceptedIn(events)
  const statements: StatementIndex = new Map()
  const patches: ClewEvent[] = []
  let starts = 0
  let pausedSeq = 0
  let isFork = false
  let end: ClewEvent | undefined
  const isShared = ({ correlationId, ledger }: ClewEvent): boolean =>
    correlationId !== runId || ledger.seq <= acceptedSeq
  const triedLast = (stepId: string): number => byStep.get(stepId)?.attempts.at(-1)?.attempt ?? 1

  function begin(event: StepEvent): RecordedAttempt {
    starts++
    const stepId = stepIdOf(event)
    const parentId = parentOf(event)
    const parent = parentId === null ? undefined : byStep.get(parentId)
    const parentAttempt = parentId === null ? 1 : triedLast(parentId)
    const tried: RecordedAttempt = { attempt: attemptOf(event), start: event, end: undefined }
    const before = byStep.get(stepId)
    if (before?.parentAttempt === parentAttempt) {
      before.attempts.push(tried)
      if (bodies === 'run') turns.push({ call: before, tried, isEnd: false })
      return tried
    }
    const call: RecordedCall = {
      before,
      stepId,
      name: event.payload.name ?? stepId,
      kind: kindOfStep(event.payload) ?? '',
      parent,
      parentAttempt,
      attempts: [tried],
      isShared: false,
      isEarlier: false,
      isGiven: false,
      isInside: false,
      reason: null,
      isPassed: false,
      step: undefined,
    }
    byStep.set(stepId, call)
    calls.push(call)
    return tried
  }

  function close(event: StepEvent, known: RecordedAttempt | undefined): void {
    if (!known) return void orphans.set(stepIdOf(event), attemptOf(event))
    known.end = event
    if (!isFinal(event)) return
    seqs.set(event.eventId, event.ledger.seq)
    turns.push({ call: byStep.get(stepIdOf(event)) as RecordedCall, tried: known, isEnd: true })
  }

  function readClock(taken: Readings, begins: boolean, stepId: string, attempt: number): void {
    for (const [path, ms] of taken) {
      const key = clockKey(path, begins && path === stepId ? attempt : triedLast(path))
      const readings = clock.get(key)
      if (readings) readings.push(ms)
      else clock.set(key, [ms])
    }
  }

  for (const event of events) {
    const { eventType, ledger } = event
    const { clock: taken } = event.payload as FieldsOf<StepEventType>
    const isOfSource = isShared(event)
    if (isOfSource) sharedIds.add(event.eventId)
    if (isStepEvent(event)) {
      const [stepId, attempt] = [stepIdOf(event), attemptOf(event)]
      const known = byStep.get(stepId)?.attempts.findLast((each) => each.attempt === attempt)
      const begins = beginsStep(event, known !== undefined)
      if (taken !== undefined) readClock(taken, begins, stepId, attempt)
      const tried = begins ? begin(event) : known
      if (ENDS.has(eventType)) close(event, tried)
      continue
    }
    if (taken !== undefined) readClock(taken, false, '', 1)
    if (isOwn(event, 'ui.input_requested')) questions.set(pauseIdIn(event), event)
    else if (isOwn(event, 'ui.input_received')) answers.set(pauseIdIn(event), event)
    else if (eventType === 'system.workflow_resumed') takenUp.push(ledger.seq)
    else if (isOwn(event, 'system.workflow_forked')) {
      isFork = true
      const { replaced } = event.payload
      if (replaced?.what === 'request') requests.set(replaced.stepId, replaced.input)
    }
    // Written by an idle machine, not by a fork or an edited state that waits for its resume.
    else if (isOwn(event, 'system.workflow_paused')) {
      if (event.payload.pauseIds !== undefined && !isOfSource) pausedSeq = ledger.seq
    }
    // The end of a fork's source is not part of the fork.
    else if (RUN_ENDS.has(eventType)) {
      if (!isOfSource) end ??= event
    } else if (mayBePatch(event)) patches.push(event)
    else addStatement(statements, event, triedLast)
  }

  for (const call of calls) settle(call, { isShared, isGraph, bodies })
  for (const call of calls) call.isInside = liesInside(call)
  const reasons = indexReasons()

  /** R2: what lies inside a step that is given back counts as consumed. */
  function liesInside({ parent, parentAttempt }: RecordedCall): boolean {
    if (!parent) return false
    if (parent.isGiven || parent.isInside) return true
    if (bodies === 'run') return false
    // Calls of a body's earlier attempts are found by id when the body makes them again.
    const latest = lastOf(byStep.get(parent.stepId) as RecordedCall)
    return latest.end !== undefined || latest.attempt !== parentAttempt
  }

  interface Reasons {
    readonly scopes: ReadonlyMap<string, RecordedScope>
    readonly byCause: ReadonlyMap<string, readonly RecordedCall[]>
    /** Seq of the last wake after which the code asked for something. */
    readonly actedSeq: number
  }

  function indexReasons(): () => Reasons {
    let found: Reasons | undefined
    return () => (found ??= make())

    function make(): Reasons {
      const scopes = new Map<string, RecordedScope>()
      const byCause = new Map<string, RecordedCall[]>()
      let actedSeq = pausedSeq
      for (const call of calls) {
        const key = clockKey(call.parent?.stepId ?? '', call.parentAttempt)
        const scope = scopes.get(key)
        if (scope) scope.calls.push(call)
        else scopes.set(key, { calls: [call], at: 0 })
        call.reason = reasonOf(call)
        for (const { start } of call.attempts)
          if (!isShared(start)) actedSeq = Math.max(actedSeq, wakeOf(start.causationId))
        if (call.isInside || call.isShared || call.reason === null) continue
        const owed = byCause.get(call.reason)
        if (owed) owed.push(call)
        else byCause.set(call.reason, [call])
      }
      return { scopes, byCause, actedSeq }
    }
  }

  function reasonOf({ parent, parentAttempt, attempts }: RecordedCall): string | null {
    const { start } = attempts[0] as RecordedAttempt
    const { causationId } = start
    if (causationId === null || isShared(start) || sharedIds.has(causationId)) return null
    const body = parent?.attempts.find(({ attempt }) => attempt === parentAttempt)?.start
    const seq = seqs.get(causationId)
    if (body) return seq !== undefined && seq > body.ledger.seq ? causationId : body.eventId
    return seq !== undefined || (causationId === started.eventId && !isGraph) ? causationId : null
  }

  let startsById: Map<string, StepEvent> | undefined
  /** Seq of the end that had woken the code; a body that is entered acts in the wake in which it was called. */
  function wakeOf(causationId: string | null): number {
    startsById ??= new Map(calls.flatMap((call) => call.attempts.map(({ start }) => [start.eventId, start])))
    for (let id = causationId; id !== null; ) {
      const seq = seqs.get(id)
      if (seq !== undefined) return seq
      const start = startsById.get(id)
      const cause = start?.causationId ?? null
      // A failed attempt wakes no code: the machine begins the next one, whose body acts from that start on.
      const isRetry = start && cause !== null && !seqs.has(cause) && !startsById.has(cause)
      if (isRetry && attemptOf(start) > 1) return start.ledger.seq
      id = cause
    }
    return 0
  }

  /** A wake that the record does not have is one of this life: nothing recorded comes after it. */
  function isKnown(eventId: string | null): boolean {
    if (eventId === null || eventId === started.eventId || seqs.has(eventId)) return true
    wakeOf(eventId)
    return startsById?.has(eventId) === true
  }

  return {
    runId,
    started,
    last: events.at(-1) ?? started,
    calls,
    turns: turns.filter(({ call, tried }) => !call.isInside && call.attempts.includes(tried)),
    clock,
    questions,
    answers,
    statements,
    patches,
    requests,
    seqs,
    takenUp,
    starts,
    hasShared: isFork || acceptedSeq > 0,
    end,
    has: (stepId) => byStep.has(stepId) || orphans.has(stepId),
    find(parentAttempt, stepId) {
      let call = byStep.get(stepId)
      while (call && call.parentAttempt !== parentAttempt) call = call.before
      return call
    },
    scopeOf: (path, attempt) => reasons().scopes.get(clockKey(path, attempt)),
    callsAfter: (eventId) => reasons().byCause.get(eventId) ?? [],
    triedOf: (stepId) =>
      Math.max(byStep.get(stepId)?.attempts.at(-1)?.attempt ?? 0, orphans.get(stepId) ?? 0),
    *attemptsOf(stepId) {
      for (let call = byStep.get(stepId); call; call = call.before)
        for (const tried of call.attempts.toReversed()) yield { ...tried, parentAttempt: call.parentAttempt }
    },
    isShared,
    isOwnEnd: (eventId) => seqs.has(eventId) && !sharedIds.has(eventId),
    actedAfter: (eventId, bodyId) =>
      isKnown(eventId) && reasons().actedSeq > Math.max(wakeOf(eventId), wakeOf(bodyId ?? null)),
  }
}

interface SettleOptions extends Pick<IndexOptions, 'isGraph' | 'bodies'> {
  readonly isShared: (event: ClewEvent) => boolean
}

/** Drops attempts that a fork, or a resume that accepted a difference, did anew with another input; says what is given back. */
function settle(call: RecordedCall, { isShared, isGraph, bodies }: SettleOptions): void {
  const last = lastOf(call)
  const asked = askedIn(last.start)
  const from =
    call.attempts.length === 1 ? -1 : call.attempts.findLastIndex(({ start }) => askedIn(start) !== asked)
  if (from >= 0) {
    call.attempts = call.attempts.slice(from + 1)
    call.kind = kindOfStep(startOf(call).payload) ?? ''
  }
  const { end } = last
  call.isEarlier = isShared(startOf(call))
  call.isShared =
    isShared(last.start) && (!end || isShared(end) || end.eventType === 'execution.step_stopped')
  if (!end || !isFinal(end)) return
  // Written with an edited state, and not by the code.
  const isCarried = isGraph && end === last.start && end.payload.restored === true
  if (isCarried) call.isEarlier = true
  call.isGiven =
    bodies === 'given' ||
    !RUN_AGAIN.has(call.kind) ||
    isShared(end) ||
    end.payload.cached === true ||
    isCarried
}

/** The kinds of calls whose code a replay runs again. */
const RUN_AGAIN: ReadonlySet<string> = new Set(['compute', 'node', 'gate', 'child'])

const askedIn = (start: StepEvent): string => `${kindOfStep(start.payload) ?? ''} ${digestIn(start)}`
