import type { ClewEvent } from '@clew/ledger'
import { toTaskEnd } from '../engine/graph-program.ts'
import type { TaskEnd } from '../engine/run-node.ts'
import { UNSTORABLE } from '../machine/run-appender.ts'
import { outcomeOf } from '../machine/payloads.ts'
import type { Outcome } from '../machine/step.ts'
import { StepError } from '../run.ts'
import type { RecordedCall } from './recorded-run.ts'
import { placeOf, type ReplayCore } from './replay-core.ts'
import type { ReplayStep } from './replay-step.ts'

export interface Judge {
  /** What the body gave against the end of its attempt. */
  body(step: ReplayStep): void
  /** What a child run came to against the end of the step that opened it. */
  child(step: ReplayStep, own: Outcome, end: ClewEvent): void
  error(step: ReplayStep, thrown: StepError, end: ClewEvent): void
  differ(kind: 'output' | 'decision', step: ReplayStep, end: ClewEvent, parts: [unknown, unknown]): void
}

/** D2: code that runs again gives the same again. */
export function createJudge(core: ReplayCore): Judge {
  const { comparison, ledger } = core.options

  function differ(
    kind: 'output' | 'decision',
    step: ReplayStep,
    end: ClewEvent,
    [was, now]: [unknown, unknown],
  ): void {
    step.isSame = false
    core.diverge(kind, { ...placeOf(step.recorded as RecordedCall), seq: end.ledger.seq }, was, now)
  }

  /** What the body gave against the end of its attempt; what follows from it for a graph is seen when its turn comes. */
  function body(step: ReplayStep): void {
    const { recorded, outcome, spec } = step
    const tried = recorded?.attempts[step.at]
    if (!recorded || !tried || !outcome) return
    const missed = core.isLenient
      ? undefined
      : core.nextIn(core.scopeOf({ path: step.stepId, attempt: tried.attempt }))
    const { end } = tried
    if (missed && !isTimeout(step, end)) {
      // What it failed with says more than what it did not come to.
      if ('error' in outcome && end && isSaid(end)) error(step, outcome.error, end)
      return core.part({ step: undefined, expected: missed, found: undefined })
    }
    if (!end || !isSaid(end) || isTimeout(step, end)) return
    if (end.ledger.erased) return
    if ('error' in outcome) return error(step, outcome.error, end)
    if (end.eventType === 'execution.step_failed') return judgeFailure(step, end)
    const wasEnd = spec.work.kind === 'node' || spec.work.kind === 'gate' ? toTaskEnd(end.payload) : undefined
    const nowEnd = wasEnd && (outcome.output as TaskEnd)
    const [was, now] = nowEnd
      ? [wasEnd?.write, nowEnd.write]
      : [end.payload['output'] ?? null, outcome.output]
    const how = comparison.compare(was, now, { part: 'output', step: spec.name })
    if (how === 'different') return differ('output', step, end, [was, now])
    if (!nowEnd || !wasEnd) {
      if (how === 'alike') step.outcome = outcomeOf(end, step.stepId)
      return
    }
    if (how === 'alike') step.outcome = { output: { ...nowEnd, write: wasEnd.write } }
    judgeDecision(step, wasEnd, nowEnd, end)
  }

  function judgeDecision(step: ReplayStep, was: TaskEnd, now: TaskEnd, end: ClewEvent): void {
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

  function error(step: ReplayStep, thrown: StepError, end: ClewEvent): void {
    const was =
      end.eventType === 'execution.step_failed' ? { error: errorIn(end) } : (end.payload['output'] ?? null)
    const now = { error: thrown.toJSON() }
    if (comparison.compare(was, now, { part: 'output', step: step.spec.name }) === 'different')
      differ('output', step, end, [was, now])
  }

  /** A body that gave something, though its step failed: what it gave could not be stored, or not be merged. */
  function judgeFailure(step: ReplayStep, end: ClewEvent): void {
    const { work } = step.spec
    if (UNSTORABLE.has(errorIn(end).code) && isUnstorableNow((step.outcome as { output: unknown }).output)) {
      step.outcome = outcomeOf(end, step.stepId)
      return
    }
    const isMerged =
      'conclude' in work && work.conclude !== undefined && end.payload['retryInMs'] === undefined
    if (!isMerged)
      differ('output', step, end, [{ error: errorIn(end) }, (step.outcome as { output: unknown }).output])
  }

  function isUnstorableNow(output: unknown): boolean {
    try {
      ledger.digest(output)
      return false
    } catch {
      return true
    }
  }

  function child(step: ReplayStep, own: Outcome, end: ClewEvent): void {
    if ('error' in own) return error(step, own.error, end)
    if (end.eventType === 'execution.step_failed')
      return differ('output', step, end, [{ error: errorIn(end) }, own.output])
    const where = { part: 'output', step: step.spec.name } as const
    const was: unknown = end.payload['output'] ?? null
    if (comparison.compare(was, own.output, where) === 'different')
      return differ('output', step, end, [was, own.output])
    if (!own.fields) return
    const parts = [end.payload['decision'] ?? null, own.fields.decision ?? null] as const
    if (comparison.compare(parts[0], parts[1], where) === 'different')
      differ('decision', step, end, [...parts])
  }

  return { body, child, error, differ }
}

/** An attempt that came to its end by itself. */
const isSaid = ({ eventType }: ClewEvent): boolean =>
  eventType === 'execution.step_completed' || eventType === 'execution.step_failed'

export const errorIn = ({ payload }: ClewEvent): { name: string; code: string; message: string } =>
  new StepError(payload['error'] ?? {}, null).toJSON()

/** Its time was over, which no replay waits for. */
export const isTimeout = ({ spec }: ReplayStep, end: ClewEvent | undefined): boolean =>
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
