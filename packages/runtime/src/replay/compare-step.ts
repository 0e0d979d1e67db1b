import type { ClewEvent } from '@clew/ledger'
import { toTaskEnd } from '../engine/graph-program.ts'
import type { TaskEnd } from '../engine/run-node.ts'
import { UNSTORABLE } from '../machine/run-appender.ts'
import { outcomeOf } from '../machine/payloads.ts'
import type { EndFields, Outcome, Step } from '../machine/step.ts'
import { StepError } from '../run/run.ts'
import type { RecordedCall, StepEvent } from '../machine/record.ts'
import { placeOf, type ReplayState } from './replay-state.ts'

export interface StepComparer {
  /** Compares the output of a body with the end of its attempt. */
  body(step: Step): void
  /** Compares the outcome of a child run with the end of its step. */
  child(step: Step, own: Outcome, end: StepEvent): void
  error(step: Step, thrown: StepError, end: StepEvent): void
  differ(kind: 'output' | 'decision', step: Step, end: StepEvent, parts: [unknown, unknown]): void
  /** Compares the state changes of the superstep that ends here with the recorded ones. */
  checkpoint(step: Step, own: Outcome, end: StepEvent): void
}

/** D2: code that runs again gives the same again. */
export function createStepComparer(state: ReplayState): StepComparer {
  const { comparison, ledger } = state.options

  function differ(
    kind: 'output' | 'decision',
    step: Step,
    end: StepEvent,
    [was, now]: [unknown, unknown],
  ): void {
    step.isSame = false
    state.diverge(kind, { ...placeOf(step.recorded as RecordedCall), seq: end.ledger.seq }, was, now)
  }

  /** Compares the output of a body with the end of its attempt. Effects on the graph's state are compared in the turn of that end. */
  function body(step: Step): void {
    const { recorded, spec } = step
    const outcome = outcomeIn(step)
    const tried = recorded?.attempts[step.at]
    if (!recorded || !tried || !outcome) return
    const missed = state.isLenient ? undefined : state.strict().nextIn(step.stepId, tried.attempt)
    const { end } = tried
    if (missed && !isTimeout(step, end)) {
      // The error says more than the missing calls.
      if ('error' in outcome && end && isSaid(end)) error(step, outcome.error, end)
      return state.part({ step: undefined, expected: missed })
    }
    if (!end || !isSaid(end) || isTimeout(step, end)) return
    if (end.ledger.erased) return
    if ('error' in outcome) return error(step, outcome.error, end)
    if (end.eventType === 'execution.step_failed') return compareFailure(step, end)
    const wasEnd = spec.work.kind === 'node' || spec.work.kind === 'gate' ? toTaskEnd(end.payload) : undefined
    const nowEnd = wasEnd && (outcome.output as TaskEnd)
    const [was, now] = nowEnd ? [wasEnd?.write, nowEnd.write] : [end.payload.output ?? null, outcome.output]
    const how = comparison.compare(was, now, { part: 'output', step: spec.name })
    if (how === 'different') return differ('output', step, end, [was, now])
    if (!nowEnd || !wasEnd) {
      if (how === 'alike') setOutcome(step, outcomeOf(end, step.stepId))
      return
    }
    if (how === 'alike') setOutcome(step, { output: { ...nowEnd, write: wasEnd.write } })
    compareDecision(step, wasEnd, nowEnd, end)
  }

  function compareDecision(step: Step, was: TaskEnd, now: TaskEnd, end: StepEvent): void {
    const part = ({ decision, goto, sends, ends }: TaskEnd): unknown => ({
      decision: goto ?? decision,
      ...(goto && { goto: true }),
      ...(sends.length > 0 && { sends }),
      ...(ends && { ends }),
    })
    const where = { part: 'output', step: step.spec.name } as const
    if (comparison.compare(part(was), part(now), where) === 'different')
      differ('decision', step, end, [decisionOf(was), decisionOf(now)])
  }

  function error(step: Step, thrown: StepError, end: StepEvent): void {
    const was =
      end.eventType === 'execution.step_failed' ? { error: errorIn(end) } : (end.payload.output ?? null)
    const now = { error: thrown.toJSON() }
    if (comparison.compare(was, now, { part: 'output', step: step.spec.name }) === 'different')
      differ('output', step, end, [was, now])
  }

  /** A body that gave something, though its step failed: what it gave could not be stored, or not be merged. */
  function compareFailure(step: Step, end: StepEvent): void {
    const { work } = step.spec
    if (
      UNSTORABLE.has(errorIn(end).code) &&
      isUnstorableNow((outcomeIn(step) as { output: unknown }).output)
    ) {
      setOutcome(step, outcomeOf(end, step.stepId))
      return
    }
    const isMerged = 'conclude' in work && work.conclude !== undefined && end.payload.retryInMs === undefined
    if (!isMerged)
      differ('output', step, end, [{ error: errorIn(end) }, (outcomeIn(step) as { output: unknown }).output])
  }

  function isUnstorableNow(output: unknown): boolean {
    try {
      ledger.digest(output)
      return false
    } catch {
      return true
    }
  }

  function child(step: Step, own: Outcome, end: StepEvent): void {
    if ('error' in own) return error(step, own.error, end)
    if (end.eventType === 'execution.step_failed')
      return differ('output', step, end, [{ error: errorIn(end) }, own.output])
    const where = { part: 'output', step: step.spec.name } as const
    const was: unknown = end.payload.output ?? null
    if (comparison.compare(was, own.output, where) === 'different')
      return differ('output', step, end, [was, own.output])
    if (!own.fields) return
    const parts = [end.payload.decision ?? null, own.fields.decision ?? null] as const
    if (comparison.compare(parts[0], parts[1], where) === 'different')
      differ('decision', step, end, [...parts])
  }

  function checkpoint(step: Step, own: Outcome, end: StepEvent): void {
    if (!('output' in own) || state.isLenient) return
    const was = end.payload.checkpoint
    const now = own.fields?.checkpoint
    if (was === undefined || now === undefined) return
    const where = { part: 'output', step: step.spec.name } as const
    const [before, after] = [operationsIn(was), operationsIn(now)]
    if (comparison.compare(before, after, where) === 'different') differ('output', step, end, [before, after])
  }

  return { body, child, error, differ, checkpoint }
}

/** Outcome of the step's body or child run in this replay. */
export const outcomeIn = ({ replayed }: Step): Outcome | undefined => replayed?.outcome

function setOutcome({ replayed }: Step, outcome: Outcome): void {
  if (replayed) replayed.outcome = outcome
}

/** An attempt that came to its end by itself. */
const isSaid = ({ eventType }: ClewEvent): boolean =>
  eventType === 'execution.step_completed' || eventType === 'execution.step_failed'

export const errorIn = ({ payload }: StepEvent): { name: string; code: string; message: string } =>
  new StepError(payload.error ?? {}, null).toJSON()

/** Its time was over, which no replay waits for. */
export const isTimeout = ({ spec }: Step, end: StepEvent | undefined): boolean =>
  spec.timeoutMs !== undefined &&
  end?.eventType === 'execution.step_failed' &&
  errorIn(end).code === 'timeout' &&
  errorIn(end).message.startsWith(`${spec.name} took longer`)

const decisionOf = ({ decision, goto, sends, ends }: TaskEnd): unknown => {
  const names = goto ?? decision
  const single = names?.length === 1 ? names[0] : names
  return sends.length === 0 && !ends
    ? single
    : { decision: single, ...(sends.length > 0 && { sends }), ...(ends && { ends }) }
}

/** State changes of a superstep; the rest of its checkpoint follows from them and from decisions. */
function operationsIn({ operations, writes, state }: NonNullable<EndFields['checkpoint']>): unknown {
  return {
    ...(operations !== undefined && { operations }),
    ...(writes !== undefined && { writes }),
    ...(state !== undefined && { state }),
  }
}
