import { beginsStep, type ClewEvent, kindOfStep } from '@clew/ledger'
import { attemptOf, clockKey, ENDS, isFinal, parentOf, stepIdOf } from '../machine/record.ts'
import { addStatement, type StatementIndex } from '../machine/statements.ts'
import type { ReplayStep } from './replay-step.ts'

/** One try of a call, as the record has it. */
export interface RecordedAttempt {
  readonly attempt: number
  readonly start: ClewEvent
  end: ClewEvent | undefined
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
  /** Only in what a fork shares with its source: it need not be asked for. */
  isShared: boolean
  /** The code that wrote the rest may have asked for it in another order: it was begun by a source, or before a difference was accepted. */
  isEarlier: boolean
  /** Its end is given back and its body does not run, as it did not run in the life that wrote the rest. */
  isGiven: boolean
  /** It lies in a body that does not run. */
  isInside: boolean
  /**
   * The event that had woken the code when it asked. For what a body asks for before anything wakes it, that is the body's
   * start: what had woken the code before is another event in the life in which the body was entered again. Null where the
   * record cannot say: a graph that is taken up begins from its checkpoint, and a fork with what its source did.
   */
  reason: string | null
  /** Its turn was over before the code asked for it. */
  isPassed: boolean
  /** By which the code asked for it in this replay. */
  step: ReplayStep | undefined
}

/** What the code is woken by, in recorded order: the last word of a call, or that a body is entered once more. */
export interface Turn {
  readonly call: RecordedCall
  readonly tried: RecordedAttempt
  readonly isEnd: boolean
}

/** The calls of one body, or of the run itself, in the order in which they were made. */
export interface RecordedScope {
  readonly calls: RecordedCall[]
  /** All before it were asked for. */
  at: number
}

/** A run, or the part of a graph's run between two edits, gathered in one pass for a replay. */
export interface RecordedRun {
  readonly runId: string
  readonly started: ClewEvent
  readonly calls: readonly RecordedCall[]
  readonly turns: readonly Turn[]
  readonly scopes: ReadonlyMap<string, RecordedScope>
  /** By the event that had woken the code when it asked. */
  readonly byCause: ReadonlyMap<string, readonly RecordedCall[]>
  readonly clock: ReadonlyMap<string, readonly number[]>
  /** What the code said of itself (R13). */
  readonly statements: ReadonlyMap<string, readonly ClewEvent[]>
  /** Seqs of the last words of calls, by the id of the event. */
  readonly seqs: ReadonlyMap<string, number>
  /** Seqs of the events by which the run was taken up again. */
  readonly takenUp: readonly number[]
  /** What the code came to; undefined where the record has not come so far. */
  readonly end: ClewEvent | undefined
  readonly last: ClewEvent
  has(stepId: string): boolean
  find(parentAttempt: number, stepId: string): RecordedCall | undefined
  /** What an attempt of the body around, before this one, had completed. */
  completedBefore(parentAttempt: number, stepId: string): RecordedAttempt | undefined
  /** Belongs to the source of this fork, too. */
  isShared(eventId: string): boolean
}

/** The start that the code is compared with. */
export const startOf = ({ attempts }: RecordedCall): ClewEvent => (attempts[0] as RecordedAttempt).start

export const digestIn = ({ payload }: ClewEvent): string =>
  typeof payload['inputDigest'] === 'string' ? payload['inputDigest'] : ''

const RUN_ENDS: ReadonlySet<string> = new Set([
  'execution.completed',
  'system.workflow_completed',
  'system.workflow_failed',
])

/** Up to where the code may differ, since somebody said so. */
export const acceptedIn = (events: readonly ClewEvent[]): number =>
  events.findLast(({ eventType }) => eventType === 'system.divergence_accepted')?.ledger.seq ?? 0

export interface IndexOptions {
  readonly runId: string
  readonly started: ClewEvent
  readonly isGraph: boolean
}

/** `events` are in order: those of a function's whole run, or of a graph from one of its openings to the next. */
export function indexRun(events: readonly ClewEvent[], options: IndexOptions): RecordedRun {
  const { runId, started, isGraph } = options
  /** The last call of each step; `before` leads to the others. */
  const byStep = new Map<string, RecordedCall>()
  const calls: RecordedCall[] = []
  const turns: Turn[] = []
  const clock = new Map<string, number[]>()
  const statements: StatementIndex = new Map()
  const takenUp: number[] = []
  let end: ClewEvent | undefined
  const acceptedSeq = acceptedIn(events)
  // What somebody accepted to differ from counts as what a fork shares with its source.
  const isShared = ({ correlationId, ledger }: ClewEvent): boolean =>
    correlationId !== runId || ledger.seq <= acceptedSeq
  const sharedIds = new Set<string>()
  /** Of what may wake the code. */
  const seqs = new Map<string, number>()
  const lastOf = (stepId: string): RecordedCall | undefined => byStep.get(stepId)
  const triedLast = (stepId: string): number => lastOf(stepId)?.attempts.at(-1)?.attempt ?? 1

  function begin(event: ClewEvent): RecordedAttempt {
    const stepId = stepIdOf(event)
    const parentId = parentOf(event)
    const parent = parentId === null ? undefined : lastOf(parentId)
    const parentAttempt = parentId === null ? 1 : triedLast(parentId)
    const tried: RecordedAttempt = { attempt: attemptOf(event), start: event, end: undefined }
    const before = byStep.get(stepId)
    if (before?.parentAttempt === parentAttempt) {
      before.attempts.push(tried)
      turns.push({ call: before, tried, isEnd: false })
      return tried
    }
    const call: RecordedCall = {
      before,
      stepId,
      name: typeof event.payload['name'] === 'string' ? event.payload['name'] : stepId,
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

  function close(event: ClewEvent, known: RecordedAttempt | undefined): void {
    if (!known) return
    known.end = event
    if (!isFinal(event)) return
    seqs.set(event.eventId, event.ledger.seq)
    turns.push({ call: lastOf(stepIdOf(event)) as RecordedCall, tried: known, isEnd: true })
  }

  for (const event of events) {
    const { eventType, payload } = event
    if (isShared(event)) sharedIds.add(event.eventId)
    const attempt = attemptOf(event)
    const known = eventType.startsWith('execution.step_')
      ? lastOf(stepIdOf(event))?.attempts.findLast((each) => each.attempt === attempt)
      : undefined
    const begins = beginsStep(event, known !== undefined)
    for (const [path, ms] of (payload['clock'] ?? []) as [string, number][]) {
      const key = clockKey(path, begins && path === stepIdOf(event) ? attempt : triedLast(path))
      const readings = clock.get(key)
      if (readings) readings.push(ms)
      else clock.set(key, [ms])
    }
    if (begins) {
      const tried = begin(event)
      if (eventType !== 'execution.step_started') close(event, tried)
    } else if (ENDS.has(eventType)) close(event, known)
    else if (eventType === 'system.workflow_resumed') takenUp.push(event.ledger.seq)
    // What the fork's source came to is no part of the fork.
    else if (RUN_ENDS.has(eventType) && !isShared(event)) end ??= event
    else if (!RUN_ENDS.has(eventType)) addStatement(statements, event, triedLast(stepIdOf(event)))
  }

  for (const call of calls) settle(call, isShared, isGraph)
  const scopes = new Map<string, RecordedScope>()
  const byCause = new Map<string, RecordedCall[]>()
  for (const call of calls) {
    call.isInside = call.parent !== undefined && (call.parent.isGiven || call.parent.isInside)
    const key = clockKey(call.parent?.stepId ?? '', call.parentAttempt)
    const scope = scopes.get(key)
    if (scope) scope.calls.push(call)
    else scopes.set(key, { calls: [call], at: 0 })
    call.reason = reasonOf(call)
    if (call.isInside || call.isShared || call.reason === null) continue
    const owed = byCause.get(call.reason)
    if (owed) owed.push(call)
    else byCause.set(call.reason, [call])
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

  return {
    runId,
    started,
    calls,
    turns: turns.filter(({ call, tried }) => !call.isInside && call.attempts.includes(tried)),
    scopes,
    byCause,
    clock,
    statements,
    seqs,
    takenUp,
    end,
    last: events.at(-1) ?? started,
    has: (stepId) => byStep.has(stepId),
    find(parentAttempt, stepId) {
      let call = byStep.get(stepId)
      while (call && call.parentAttempt !== parentAttempt) call = call.before
      return call
    },
    completedBefore(parentAttempt, stepId) {
      for (let call = byStep.get(stepId); call; call = call.before) {
        if (call.parentAttempt >= parentAttempt) continue
        const found = call.attempts.findLast(
          ({ end: each }) => each?.eventType === 'execution.step_completed',
        )
        if (found) return found
      }
      return undefined
    },
    isShared: (eventId) => sharedIds.has(eventId),
  }
}

/** Drops attempts that a fork, or a resume that accepted a difference, did anew with another input; says what is given back. */
function settle(call: RecordedCall, isShared: (event: ClewEvent) => boolean, isGraph: boolean): void {
  const last = call.attempts.at(-1) as RecordedAttempt
  const asked = askedIn(last.start)
  const from = call.attempts.findLastIndex(({ start }) => askedIn(start) !== asked)
  if (from >= 0) {
    call.attempts = call.attempts.slice(from + 1)
    call.kind = kindOfStep(startOf(call).payload) ?? ''
  }
  const { end } = last
  call.isEarlier = isShared(startOf(call))
  call.isShared =
    isShared(last.start) && (!end || isShared(end) || end.eventType === 'execution.step_stopped')
  if (!end || !isFinal(end)) return
  const isCarried = isGraph && end === last.start && end.payload['restored'] === true
  call.isGiven = isShared(end) || end.payload['cached'] === true || isCarried
}

const askedIn = (start: ClewEvent): string => `${kindOfStep(start.payload) ?? ''} ${digestIn(start)}`
