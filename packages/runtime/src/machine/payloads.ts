import type { ClewEvent } from '@clew/ledger'
import { StepError } from '../run.ts'
import { own } from './own.ts'
import type { Completed, EndFields, Outcome, Step, WaitingPause } from './step.ts'

/** What the events of a step say. Built by hand, since two of them are written for each step. */
export function startedPayload(
  step: Step,
  more: Record<string, unknown> | undefined,
): Record<string, unknown> {
  const { stepId, spec, scope, digest, refused } = step
  const { work, startFields } = spec
  const payload: Record<string, unknown> = { stepId }
  if (scope.path !== '') payload['parentStepId'] = scope.path
  payload['name'] = spec.name
  payload['attempt'] = step.attempt
  payload['kind'] = work.kind
  if (startFields) Object.assign(payload, startFields)
  else payload['superstep'] = step.superstep
  if (digest !== '') payload['inputDigest'] = digest
  if (spec.isInputKept && spec.input !== undefined && !refused) payload['input'] = spec.input
  if (work.kind === 'effect' && work.safety !== 'read') payload['safety'] = work.safety
  return more ? Object.assign(payload, more) : payload
}

export function completedPayload(
  step: Step,
  { output, fields }: Completed,
  durationMs: number,
  { cached, restored }: { cached: boolean; restored: boolean },
): Record<string, unknown> {
  const payload: Record<string, unknown> = { stepId: step.stepId, attempt: step.attempt }
  if (output !== null && output !== undefined) payload['output'] = output
  if (fields) Object.assign(payload, fields)
  payload['durationMs'] = durationMs
  if (cached) payload['cached'] = true
  if (restored) payload['restored'] = true
  return withUsage(payload, step)
}

/** Start and end of a step in one, without what is as in most steps or is said by the checkpoint. */
export function wholePayload(
  start: Record<string, unknown>,
  end: Record<string, unknown>,
): Record<string, unknown> {
  const isClosing = end['checkpoint'] !== undefined
  // Put together key by key: what was deleted from is slow to print.
  const whole: Record<string, unknown> = {}
  for (const key in start) {
    const value = Object.hasOwn(end, key) ? end[key] : start[key]
    if (!isUsual(key, value, isClosing)) whole[key] = value
  }
  for (const key in end)
    if (!Object.hasOwn(start, key) && !isUsual(key, end[key], isClosing)) whole[key] = end[key]
  return whole
}

const isUsual = (key: string, value: unknown, isClosing: boolean): boolean =>
  (key === 'attempt' && value === 1) ||
  (key === 'index' && value === 0) ||
  (isClosing && (key === 'superstep' || (key === 'kind' && value === 'node')))

export function failedPayload(
  step: Step,
  error: StepError,
  durationMs: number,
  retryInMs?: number,
): Record<string, unknown> {
  const payload: Record<string, unknown> = {
    stepId: step.stepId,
    attempt: step.attempt,
    error: error.toJSON(),
    durationMs,
  }
  if (retryInMs !== undefined) payload['retryInMs'] = retryInMs
  return withUsage(payload, step)
}

function withUsage(payload: Record<string, unknown>, { usage }: Step): Record<string, unknown> {
  if (!usage) return payload
  const { model, cost, ...tokens } = usage
  payload['usage'] = tokens
  if (model !== undefined) payload['model'] = model
  if (cost !== undefined) payload['cost'] = cost
  return payload
}

export function questionPayload(
  { stepId, attempt }: Step,
  { pauseId, question, dueAt, childRunId }: WaitingPause,
): Record<string, unknown> {
  const asked = (typeof question === 'object' && question !== null ? question : {}) as Record<string, unknown>
  const { options, schema, timeoutMs, default: otherwise } = asked
  return {
    pauseId,
    stepId,
    attempt,
    question,
    ...(options !== undefined && { options }),
    ...(schema !== undefined && { schema }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(otherwise !== undefined && { default: otherwise }),
    ...(dueAt !== undefined && { dueAt: new Date(dueAt).toISOString() }),
    ...(childRunId !== undefined && { childRunId }),
  }
}

/** How a step came out, from its last event: what code is given on resume. */
export function outcomeOf(event: ClewEvent, stepId: string): Outcome {
  const { output, error, decision, sends, checkpoint, goto, ends } = event.payload
  if (event.eventType === 'execution.step_failed') return { error: new StepError(error ?? {}, stepId) }
  return {
    output: own(output ?? null),
    fields: { decision: decision as EndFields['decision'], sends, checkpoint, goto, ends },
    ...(checkpoint !== undefined && { seq: event.ledger.seq }),
  }
}
