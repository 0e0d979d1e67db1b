import type { ClewEvent } from '@clew/ledger'
import { stackOf, StepError } from '../run/run.ts'
import type { Completed, EndFields, Outcome, Step, WaitingPause } from './step.ts'

/** What the events of a step say. Built by hand, key by key, since one or two of them are written for each step. */
export function startedPayload(
  step: Step,
  more: Record<string, unknown> | undefined,
): Record<string, unknown> {
  const payload = begun(step, { isWhole: false, isClosing: false })
  return more ? Object.assign(payload, more) : payload
}

export function completedPayload(step: Step, end: Completed, how: EndedHow): Record<string, unknown> {
  return addEnd({ stepId: step.stepId, attempt: step.attempt }, step, end, how)
}

/** Start and end of a step in one, without what is as in most steps or is said by the checkpoint. */
export function wholePayload(step: Step, end: Completed, how: EndedHow): Record<string, unknown> {
  const isClosing = end.fields?.checkpoint !== undefined
  return addEnd(begun(step, { isWhole: true, isClosing }), step, end, how)
}

export interface EndedHow {
  readonly durationMs: number
  readonly cached: boolean
  readonly restored: boolean
}

function begun(
  { stepId, spec, scope, digest, refused, attempt, superstep }: Step,
  { isWhole, isClosing }: { readonly isWhole: boolean; readonly isClosing: boolean },
): Record<string, unknown> {
  const { work, startFields } = spec
  const payload: Record<string, unknown> = { stepId }
  if (scope.path !== '') payload['parentStepId'] = scope.path
  payload['name'] = spec.name
  if (!isWhole || attempt !== 1) payload['attempt'] = attempt
  if (!isClosing || work.kind !== 'node') payload['kind'] = work.kind
  if (!isClosing) payload['superstep'] = superstep
  if (startFields) {
    const { index, inputVersions } = startFields
    if (index !== undefined && (!isWhole || index !== 0)) payload['index'] = index
    if (inputVersions !== undefined) payload['inputVersions'] = inputVersions
  }
  if (digest !== '') payload['inputDigest'] = digest
  if (spec.isInputKept && spec.input !== undefined && !refused) payload['input'] = spec.input
  if (work.kind === 'effect') payload['safety'] = work.declared ?? 'undeclared'
  return payload
}

function addEnd(
  payload: Record<string, unknown>,
  step: Step,
  { output, fields }: Completed,
  { durationMs, cached, restored }: EndedHow,
): Record<string, unknown> {
  if (output !== null && output !== undefined) payload['output'] = output
  if (fields) {
    const { decision, goto, sends, ends, checkpoint } = fields
    if (decision !== undefined) payload['decision'] = decision
    if (goto !== undefined) payload['goto'] = goto
    if (sends !== undefined) payload['sends'] = sends
    if (ends !== undefined) payload['ends'] = ends
    if (checkpoint !== undefined) payload['checkpoint'] = checkpoint
  }
  payload['durationMs'] = durationMs
  if (cached) payload['cached'] = true
  if (restored) payload['restored'] = true
  return withUsage(payload, step)
}

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
  const stack = stackOf(error)
  if (stack !== undefined) payload['stack'] = stack
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

/** How a step came out, from its last event: code is given a copy of it. */
export function outcomeOf(event: ClewEvent, stepId: string): Outcome {
  const { output, error, decision, sends, checkpoint, goto, ends } = event.payload
  if (event.eventType === 'execution.step_failed') return { error: new StepError(error ?? {}, stepId) }
  return {
    output: output ?? null,
    fields: { decision: decision as EndFields['decision'], sends, checkpoint, goto, ends },
    ...(checkpoint !== undefined && { seq: event.ledger.seq }),
  }
}
