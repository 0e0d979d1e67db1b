import type { ClewEvent } from '@clew/ledger'
import { type Comparison, isSameCall } from '../replay/same-value.ts'
import type { ResumeDivergence } from '../result.ts'
import type { MachineOptions } from './machine-types.ts'
import { type AttemptRecord, attemptOf, parentOf, type RunRecord, stepIdOf } from './record.ts'
import { isClosed } from './scope.ts'
import type { CallSpec, Step } from './step.ts'

/** The next recorded end: for a step that the code has asked for, to be passed by, or not asked for so far. */
export type Next =
  | { readonly type: 'deliver'; readonly step: Step; readonly event: ClewEvent }
  | { readonly type: 'passed' }
  | { readonly type: 'uncalled'; readonly stepId: string }

/** Going through what a run did before, with the code that does it again. */
export interface RecordReader {
  readonly called: Map<string, Step>
  readonly isDone: boolean
  readonly answers: ReadonlyMap<string, ClewEvent>
  next(): Next
  attemptsOf(stepId: string): readonly AttemptRecord[] | undefined
  /** Attempts of it that the record knows of. */
  triedOf(stepId: string): number
  /**
   * What stands for the input of a call. One that differs from the recorded input only in what redaction took out is the
   * same (D2), and so are the digests that hang on it.
   */
  digestOf(stepId: string, digest: string, spec: CallSpec): string
  /** How the call differs from the recorded one; in what a fork shares with its source, that it is run anew. */
  mismatch(step: Step, last: AttemptRecord): ResumeDivergence | 'rerun' | undefined
  /** Belongs to the source of this fork, too. */
  isShared(event: ClewEvent): boolean
  /** Its turn in the order of ends is over: it is given back when it is asked for. */
  isPassed(end: ClewEvent): boolean
  /** What an earlier attempt of the body around had completed with the same input. */
  givenBefore(stepId: string, digest: string, parentAttempt: number): EndedAttempt | undefined
  /** The code has been given all that it was given up to this event. */
  isBehind(eventId: string): boolean
  /** A write that an earlier attempt of the body around had left behind, with the same input. */
  isInDoubt(stepId: string, digest: string, parentAttempt: number): boolean
  /** Until when a recorded attempt sleeps. */
  dueAtOf(step: Step): number | undefined
  /** A recorded step of this body (of the run, with an empty id) that the code did not ask for this time. */
  uncalledIn(parentId: string, parentAttempt: number): string | undefined
  /** Attempts in flight that the code has not asked for so far. */
  uncalledOpen(): AttemptRecord[]
}

interface EndedAttempt {
  readonly start: ClewEvent
  readonly end: ClewEvent
}

type ReadingOptions = Pick<MachineOptions, 'runId' | 'onMismatch' | 'answers'>

export function createReading(
  record: RunRecord,
  { runId, onMismatch = 'block', answers: given = new Map() }: ReadingOptions,
  comparison: Comparison | undefined,
): RecordReader {
  const { attempts, wakes } = record
  const called = new Map<string, Step>()
  const passed = new Set<string>()
  let at = 0
  let below: Map<string, string[]> | undefined
  let seqs: Map<string, number> | undefined

  /** A divergence is shown to people: without secrets, also those that the vault gave back (P3). */
  const shown = (value: unknown): unknown => (comparison ? comparison.shown(value) : value)
  const isShared = ({ correlationId }: ClewEvent): boolean => correlationId !== runId
  const mayDiffer = (event: ClewEvent): boolean =>
    onMismatch === 'rerun' && (isShared(event) || event.ledger.seq <= record.acceptedSeq)

  /** Ends inside a body that is over, or of an attempt that another one has taken the place of. */
  function isOutdated(event: ClewEvent): boolean {
    const step = called.get(stepIdOf(event))
    if (step) return step.attempt !== attemptOf(event)
    if (mayDiffer(event)) return true
    const parent = parentOf(attempts.get(stepIdOf(event))?.[0]?.start ?? event)
    const around = parent === null ? undefined : called.get(parent)
    return around !== undefined && (!around.open || isClosed(around.scope))
  }

  function childrenOf(parentId: string): readonly string[] {
    if (!below) {
      below = new Map()
      for (const [stepId, [first]] of attempts) {
        const parent = parentOf((first as AttemptRecord).start) ?? ''
        const siblings = below.get(parent)
        if (siblings) siblings.push(stepId)
        else below.set(parent, [stepId])
      }
    }
    return below.get(parentId) ?? []
  }

  return {
    called,
    get isDone() {
      return at >= wakes.length
    },
    answers: withGiven(record.answers, given),
    next() {
      const event = wakes[at] as ClewEvent
      const stepId = stepIdOf(event)
      const step = called.get(stepId)
      if (isOutdated(event)) passed.add(event.eventId)
      else if (!step) return { type: 'uncalled', stepId }
      at++
      return step && !passed.has(event.eventId) ? { type: 'deliver', step, event } : { type: 'passed' }
    },
    attemptsOf: (stepId) => attempts.get(stepId),
    triedOf: (stepId) =>
      Math.max(attempts.get(stepId)?.at(-1)?.attempt ?? 0, record.orphans.get(stepId) ?? 0),
    digestOf(stepId, digest, spec) {
      const tries = attempts.get(stepId)
      if (!tries || tries.some(({ start }) => start.payload['inputDigest'] === digest)) return digest
      const alike = tries.findLast(
        ({ start }) => comparison && isSameCall(comparison, spec, start.payload['input']) === 'same',
      )
      return (alike?.start.payload['inputDigest'] as string | undefined) ?? digest
    },
    mismatch({ stepId, spec, digest }, { start }) {
      const { payload } = start
      const expected = payload['inputDigest'] ?? ''
      if (payload['kind'] === spec.work.kind && expected === digest) return undefined
      if (mayDiffer(start)) return 'rerun'
      return payload['kind'] === spec.work.kind
        ? {
            kind: 'input',
            stepId,
            expected: shown(payload['input']) ?? expected,
            received: shown(spec.input) ?? digest,
          }
        : { kind: 'kind', stepId, expected: payload['kind'], received: spec.work.kind }
    },
    isShared,
    isPassed: (end) => passed.has(end.eventId),
    givenBefore(stepId, digest, parentAttempt) {
      const kept = attempts
        .get(stepId)
        ?.findLast(
          (each) => each.end?.eventType === 'execution.step_completed' && each.parentAttempt < parentAttempt,
        )
      if (!kept?.end || kept.start.payload['inputDigest'] !== digest) return undefined
      return { start: kept.start, end: kept.end }
    },
    isBehind(eventId) {
      const next = wakes[at]
      if (!next) return true
      seqs ??= seqsOfEnds(attempts)
      const seq = seqs.get(eventId)
      return seq === undefined || seq < next.ledger.seq
    },
    isInDoubt(stepId, digest, parentAttempt) {
      const last = attempts.get(stepId)?.findLast((each) => each.parentAttempt < parentAttempt)
      if (last?.end?.eventType !== 'execution.step_stopped') return false
      const { inputDigest, redactedInput } = last.start.payload
      return inputDigest === digest && redactedInput === undefined
    },
    dueAtOf({ stepId, attempt }) {
      const start = attempts.get(stepId)?.find((each) => each.attempt === attempt)?.start
      const dueAt = start?.payload['dueAt']
      return typeof dueAt === 'string' ? Date.parse(dueAt) : undefined
    },
    uncalledIn: (parentId, parentAttempt) =>
      childrenOf(parentId).find(
        (stepId) =>
          !called.has(stepId) &&
          attempts
            .get(stepId)
            ?.some((each) => each.parentAttempt === parentAttempt && !mayDiffer(each.start)),
      ),
    uncalledOpen: () =>
      [...attempts].flatMap(([stepId, tries]) => {
        const last = tries.at(-1)
        return last && !last.end && !called.has(stepId) ? [last] : []
      }),
  }
}

function seqsOfEnds(attempts: RunRecord['attempts']): Map<string, number> {
  const seqs = new Map<string, number>()
  for (const tries of attempts.values())
    for (const { end } of tries) if (end) seqs.set(end.eventId, end.ledger.seq)
  return seqs
}

/** The answers of the record, with what was redacted in them as long as it is known here. */
function withGiven(
  recorded: ReadonlyMap<string, ClewEvent>,
  given: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, ClewEvent> {
  if (given.size === 0) return recorded
  const answers = new Map(recorded)
  for (const [pauseId, answer] of given) {
    const event = recorded.get(pauseId)
    if (event) answers.set(pauseId, { ...event, payload: { ...event.payload, answer } })
  }
  return answers
}
