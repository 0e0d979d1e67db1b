import { kindOfStep } from '@clew/ledger'
import type { Comparison } from '../replay/same-value.ts'
import { isSameCall } from '../replay/same-value.ts'
import {
  digestIn,
  isFinal,
  lastOf,
  type RecordedAttempt,
  type RecordedCall,
  type RecordedScope,
  type RunRecord,
  startOf,
  type Turn,
} from './record.ts'
import { isClosed, type Scope } from './scope.ts'
import { type CallSpec, mayGiveAgain, type Outcome, type Step } from './step.ts'
import { outcomeOf } from './payloads.ts'

/** The first difference between code and record. Its kind may depend on the next calls of the code. */
export interface FirstDivergence {
  /** Step that the code called; undefined if it did not make the expected call. */
  readonly step: Step | undefined
  /** Recorded call at that place. */
  readonly expected: RecordedCall | undefined
}

/** Difference between a call of the code and the recorded one. */
export interface Difference {
  readonly kind: 'kind' | 'input' | 'order' | 'redacted'
  readonly step: Step
  readonly call: RecordedCall
  readonly expected: unknown
  readonly received: unknown
}

/** Reaction to a difference: a resume stops, a replay continues with the lenient cursor. */
export interface DivergencePolicy {
  part(divergence: FirstDivergence): void
  differ(difference: Difference): void
  /** `hold`: the call may have been lost with its process. `begin`: nothing says that it must be on record. */
  unrecorded(step: Step, expected: RecordedCall | undefined): 'hold' | 'begin' | 'part'
  /** Calls that differ from the shared prefix of a fork are performed again; a replay compares them. */
  readonly redoesShared: boolean
}

/** Result of looking up a call in the record. */
export type Found =
  | { readonly type: 'recorded'; readonly call: RecordedCall }
  /** A fork, or code whose difference was accepted, does it anew. */
  | { readonly type: 'again'; readonly call: RecordedCall }
  | { readonly type: 'begin' | 'hold' | 'parted' }

/**
 * A place in the record, moved by the code that does again what it did. The n-th call of a scope is the n-th recorded call
 * of that scope, of the same kind, with the same input and for the same reason; ends are handed out in recorded order.
 */
export interface Cursor {
  readonly record: RunRecord
  ask(step: Step): Found
  /** The next turn; undefined when the record is used up. */
  readonly turn: Turn | undefined
  pass(): void
  /** A later end that the code waits for: where the record has a gap, it comes before those that the code has not asked for. */
  laterAsked(): RecordedCall | undefined
  /** The code has been woken by this event. */
  wake(eventId: string): void
  /** A body is being entered: what it asks for at once has its start as the cause. */
  entered(startId: string): void
  /** The code has come to rest: what it does before the next wake has reasons of its own. */
  rested(): void
  /** A call that the record has the code make before it is woken again. */
  owed(): RecordedCall | undefined
  /** The code has been given all that it was given up to this event. */
  isBehind(eventId: string): boolean
  /** The first call of a body that the code has not made. */
  nextIn(path: string, attempt: number): RecordedCall | undefined
  /** Calls that the record does not have and that may have been lost with their process. */
  readonly held: Step[]
  /**
   * Digest of a call's input. An input that differs from the recorded one only in redacted parts is the
   * same (D2), and so are digests derived from it.
   */
  digestOf(stepId: string, digest: string, spec: CallSpec): string
  /** Result that an earlier attempt of the enclosing body recorded for the same input. */
  givenBefore(stepId: string, digest: string, spec: CallSpec, parentAttempt: number): GivenBefore | undefined
  /** A write that an earlier attempt of the body around had left behind, with the same input. */
  isInDoubt(stepId: string, digest: string, parentAttempt: number): boolean
  /** How often the code has been woken. */
  readonly wakes: number
  /** Seq of the last recorded end that the code was given. */
  readonly givenSeq: number
  /** The code is acting on what woke it, and not on something of its own. */
  readonly isWoken: boolean
}

export interface GivenBefore {
  readonly outcome: Outcome
  readonly startId: string
}

export interface CursorOptions {
  readonly record: RunRecord
  /** Undefined where no input is compared but by its digest. */
  readonly comparison: Comparison | undefined
  readonly policy: DivergencePolicy
  readonly root: Scope
  readonly isGraph: boolean
  /** False where the record may have gaps, as with async durability: calls are found by their ids alone. */
  readonly inOrder: boolean
  /** Recorded input of a node, if the record has it in another event. */
  readonly recordedInput?: ((call: RecordedCall) => unknown) | undefined
  /** The event that woke the code last. */
  readonly cause: () => string | null
}

/** In which superstep of a graph a node is called: its key says so. */
export const superstepIn = (stepId: string): number => Number(/@s(\d+)/.exec(stepId)?.[1] ?? Number.NaN)

export function createCursor(options: CursorOptions): Cursor {
  const { record, comparison, policy, root, isGraph, inOrder, cause } = options
  const { turns } = record
  const owed = new Set<RecordedCall>()
  const held: Step[] = []
  let at = 0
  let wakes = 0
  let isWoken = true
  let givenSeq = 0

  /** From now on the code owes the calls recorded after this event. */
  function expect(eventId: string): void {
    if (!inOrder) return
    for (const call of record.callsAfter(eventId)) if (!call.step) owed.add(call)
  }

  const doze = (wake: number): void =>
    void setTimeout(() => {
      if (wakes === wake) isWoken = false
    })

  function nextIn(scope: RecordedScope | undefined): RecordedCall | undefined {
    if (!scope) return undefined
    const { calls } = scope
    for (; scope.at < calls.length; scope.at++) {
      const call = calls[scope.at] as RecordedCall
      if (!call.step && !call.isEarlier) return call
    }
    return undefined
  }

  function ask(step: Step): Found {
    const { scope, stepId } = step
    const call = record.find(scope.attempt, stepId)
    if (!call) return askUnrecorded(step)
    const isTask = isGraph && scope === root
    // Nodes of a superstep are called in the order of their index, which is theirs to compare.
    const due = isTask || !inOrder ? call : nextIn(record.scopeOf(scope.path, scope.attempt))
    call.step = step
    step.recorded = call
    owed.delete(call)
    // A resume enters a further attempt of a body before its turn: what that asks for is not due yet.
    const { seq } = startOf(call).ledger
    const lost =
      call.isEarlier || !inOrder
        ? undefined
        : held.find((each) => isPast(each) && startedSeqOf(each.scope) < seq)
    if (lost) return part(lost, lost.scope === scope ? call : expectedFor(lost))
    if (!call.isEarlier && due !== call) return part(step, due)
    const difference = compare(step, call) ?? (inOrder ? compareReason(step, call, isTask) : undefined)
    if (!difference) return { type: 'recorded', call }
    if (policy.redoesShared && record.isShared(lastOf(call).start)) {
      call.isPassed = true
      return { type: 'again', call }
    }
    step.isSame = false
    policy.differ(difference)
    return { type: 'parted' }
  }

  function part(step: Step | undefined, expected: RecordedCall | undefined): Found {
    policy.part({ step, expected })
    return { type: 'parted' }
  }

  function askUnrecorded(step: Step): Found {
    const expected = inOrder ? expectedFor(step) : undefined
    const isOwed = expected !== undefined && owed.has(expected)
    const type = isOwed ? 'part' : policy.unrecorded(step, expected)
    if (type === 'part') return part(step, expected)
    if (type === 'hold') held.push(step)
    return { type }
  }

  /** Recorded call at the place where the code makes an unrecorded one. */
  function expectedFor({ scope, stepId }: Step): RecordedCall | undefined {
    const place = record.scopeOf(scope.path, scope.attempt)
    if (!isGraph || scope !== root) return nextIn(place)
    const superstep = superstepIn(stepId)
    return place?.calls.find((call) => !call.step && superstepIn(call.stepId) === superstep)
  }

  function compare(step: Step, call: RecordedCall): Difference | undefined {
    const { spec, digest } = step
    const { kind } = spec.work
    // A resume compares with the last attempt, a replay with the first: they have the same input.
    const start = startOf(call)
    if (call.kind !== kind) return { kind: 'kind', step, call, expected: call.kind, received: kind }
    if (start.ledger.erased)
      return { kind: 'redacted', step, call, expected: null, received: spec.input ?? null }
    if (digest === digestIn(start)) return undefined
    const was = spec.isInputKept
      ? (start.payload.input ?? null)
      : (options.recordedInput?.(call) ?? spec.recordedInput?.())
    if (comparison && was !== undefined && isSameCall(comparison, spec, was) !== 'different') return undefined
    const known = was !== undefined && (spec.isInputKept || options.recordedInput !== undefined)
    return {
      kind: 'input',
      step,
      call,
      expected: known ? was : digestIn(start),
      received: known ? (spec.input ?? null) : digest,
    }
  }

  function compareReason(step: Step, call: RecordedCall, isTask: boolean): Difference | undefined {
    const { spec, scope } = step
    const { payload } = startOf(call)
    const index = spec.startFields?.index ?? 0
    if (isTask && (payload.index ?? 0) !== index && kindOfStep(payload) !== 'interrupt')
      return { kind: 'order', step, call, expected: payload.index ?? 0, received: index }
    const { reason } = call
    if (reason === null || !isWoken) return undefined
    const around = scope.step
    const isEntry = around !== undefined && around.enteredAt === wakes
    const received = isEntry ? around.startId : cause()
    return received === reason ? undefined : { kind: 'order', step, call, expected: reason, received }
  }

  return {
    record,
    ask,
    get turn() {
      return turns[at]
    },
    pass: () => void at++,
    laterAsked() {
      const isAsked = ({ call: { step, isPassed }, isEnd }: Turn): boolean =>
        isEnd && step !== undefined && !step.isOver && !isPassed
      return turns.slice(at).find(isAsked)?.call
    },
    wake(eventId) {
      isWoken = true
      wakes++
      givenSeq = record.seqs.get(eventId) ?? givenSeq
      // A library's own timer may go off before the code counts as at rest: what it asks for then has another reason.
      if (root.tape) doze(wakes)
      expect(eventId)
    },
    entered: expect,
    rested: () => void (isWoken = false),
    owed() {
      for (const call of owed) if (scopeFor(root, call) === 'over') owed.delete(call)
      const [first] = owed
      return first
    },
    isBehind(eventId) {
      const turn = turns[at]
      const seq = record.seqs.get(eventId)
      return !turn || seq === undefined || seq < seqOf(turn)
    },
    nextIn: (path, attempt) => nextIn(record.scopeOf(path, attempt)),
    held,
    digestOf(stepId, digest, spec) {
      if (!comparison || !record.has(stepId)) return digest
      let alike: string | undefined
      for (const { start } of record.attemptsOf(stepId)) {
        if (digestIn(start) === digest) return digest
        if (alike === undefined && isSameCall(comparison, spec, start.payload.input) === 'same')
          alike = digestIn(start)
      }
      return alike ?? digest
    },
    givenBefore(stepId, digest, spec, parentAttempt) {
      for (const tried of record.attemptsOf(stepId)) {
        const { start, end } = tried
        if (tried.parentAttempt >= parentAttempt || end?.eventType !== 'execution.step_completed') continue
        const isSame =
          digestIn(start) === digest ||
          (comparison !== undefined && isSameCall(comparison, spec, start.payload.input) === 'same')
        const outcome = outcomeOf(end, stepId)
        return isSame && mayGiveAgain(spec.work, outcome) ? { outcome, startId: start.eventId } : undefined
      }
      return undefined
    },
    isInDoubt(stepId, digest, parentAttempt) {
      for (const { start, end, parentAttempt: inAttempt } of record.attemptsOf(stepId)) {
        if (inAttempt >= parentAttempt) continue
        if (end?.eventType !== 'execution.step_stopped') return false
        const isHeld = start.payload.redactedInput !== undefined || start.payload.heldInBranch === true
        return digestIn(start) === digest && !isHeld
      }
      return false
    },
    get wakes() {
      return wakes
    },
    get givenSeq() {
      return givenSeq
    },
    get isWoken() {
      return isWoken
    },
  }
}

const seqOf = ({ tried, isEnd }: Turn): number => (isEnd && tried.end ? tried.end : tried.start).ledger.seq

/** Scope of a recorded call: the entered scope, `over` if it was left, undefined if it was not entered yet. */
export function scopeFor(root: Scope, { parent, parentAttempt }: RecordedCall): Scope | 'over' | undefined {
  if (!parent) return root
  const { step } = parent
  if (!step) return scopeFor(root, parent) === 'over' ? 'over' : undefined
  if (isClosed(step.scope) || step.isOver) return 'over'
  const { body } = step
  if (!body || body.attempt < parentAttempt) return undefined
  return body.attempt > parentAttempt || body.closed ? 'over' : body
}

/** The call was made by code that the record has too, and not by a body that was entered again in this life. */
export function isPast({ scope }: Step): boolean {
  for (let at: Scope | null = scope; at; at = at.parent) {
    if (at.closed) return false
    const { step, attempt } = at
    if (step && !step.recorded?.attempts.some((each) => each.attempt === attempt)) return false
  }
  return true
}

const startedSeqOf = ({ step, attempt }: Scope): number =>
  step?.recorded?.attempts.find((each) => each.attempt === attempt)?.start.ledger.seq ?? 0

/** The attempt whose end is the last word on a call. */
export function finalOf(call: RecordedCall): RecordedAttempt | undefined {
  const last = lastOf(call)
  return last.end && isFinal(last.end) ? last : undefined
}
