import { ClewError, type Ledger } from '@clew/ledger'
import { setLongTimeout } from './long-timeout.ts'
import { type Run, StepError, toStepError } from '../run/run.ts'
import { bindCall, type CurrentCall } from './current-run.ts'
import type { MachineState } from './machine-state.ts'
import { isOfGraph, recordedCopy } from './recorded-copy.ts'
import type { Outcome, Step } from './step.ts'

/** Runs the user's function with its run at hand for `interrupt` and with its start as the cause of what it records. */
export function settle(
  { journal, ledger }: Pick<MachineState, 'journal' | 'ledger'>,
  step: Step,
  work: () => unknown,
  run: Run | undefined,
  then: (outcome: Outcome) => void,
): void {
  let result: unknown
  const failed = (error: unknown): void => then({ error: recordable(ledger, step.stepId, error) })
  try {
    const place: CurrentCall =
      run && step.body ? { scope: step.body, run } : { scope: step.scope, run, effect: step.stepId }
    result = journal
      ? bindCall(place, causing(journal.ledger, step.startId, work), step.startId)
      : bindCall(place, work)
  } catch (error) {
    return failed(error)
  }
  // As it is now: it is recorded, and handed out, later.
  const completed = (output: unknown): void =>
    then({ output: (isOfGraph(step.spec.work) ? output : recordedCopy(ledger, output)) ?? null })
  if (!isPromise(result)) return completed(result)
  void result.then(completed, failed)
}

/** A ledger that was made with a context of its own does not see the cause that goes along with the place. */
const causing =
  (ledger: Ledger, cause: string, work: () => unknown): (() => unknown) =>
  () =>
    ledger.currentCause() === cause ? work() : ledger.causedBy(cause, work)

/** Converts a thrown value to the error that is recorded: live code sees the same as resumed code (P3). */
export function recordable(ledger: Ledger | undefined, stepId: string, thrown: unknown): StepError {
  const error = toStepError(thrown, stepId)
  const { name, code } = error
  const message = ledger ? ledger.redactor.text(error.message) : error.message
  return message === error.message && error.stepId === stepId
    ? error
    : new StepError({ name, code, message }, stepId, thrown instanceof StepError ? thrown : error.cause)
}

/** R3: each attempt has its own time. */
export function limitTime(step: Step, onOver: (error: StepError) => void): void {
  const error = timeoutOf(step)
  if (!error) return
  const over = (): void => {
    step.abort?.abort(error)
    onOver(error)
  }
  setLongTimeout(over, step.spec.timeoutMs ?? 0, (timer) => void (step.timer = timer))
}

/** How a step fails when its time is over. */
export function timeoutOf({ spec: { timeoutMs, name }, stepId }: Step): StepError | undefined {
  if (timeoutMs === undefined) return undefined
  const message = `${name} took longer than ${timeoutMs} ms`
  return new StepError({ name: 'TimeoutError', code: 'timeout', message }, stepId)
}

/** Aborts when the attempt times out, when no code awaits it any more, and when the run ends. */
export function signalOf(step: Step, runSignal: AbortSignal): AbortSignal {
  step.abort ??= new AbortController()
  step.signal ??= AbortSignal.any([step.abort.signal, runSignal])
  return step.signal
}

export function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason
  if (reason instanceof ClewError) return String(reason.fields['reason'] ?? reason.message)
  return reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : 'cancelled'
}

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
