import type { PayloadOf } from '@clew/ledger'
import type { TakenSignal } from './ends.ts'
import { type Question, stackOf, StepError } from '../run/run.ts'
import type { StepEvent } from './record.ts'
import type { Completed, Outcome, Step, WaitingPause } from './step.ts'

type Started = PayloadOf<'execution.step_started'>
type CompletedPayload = PayloadOf<'execution.step_completed'>
type Failed = PayloadOf<'execution.step_failed'>

/** Payload of a step's start. Payloads are built key by key, since one or two of them are written for each step. */
export function startedPayload(step: Step, more: Partial<Started> | undefined): Started {
  const payload = begun(step, { isWhole: false, isClosing: false })
  return more ? Object.assign(payload, more) : payload
}

export function completedPayload(step: Step, end: Completed, how: EndedHow): CompletedPayload {
  return addEnd({ stepId: step.stepId, attempt: step.attempt }, step, end, how)
}

/** Start and end of a step in one, without what is as in most steps or is said by the checkpoint. */
export function wholePayload(step: Step, end: Completed, how: EndedHow): CompletedPayload {
  const isClosing = end.fields?.checkpoint !== undefined
  return addEnd(begun(step, { isWhole: true, isClosing }), step, end, how)
}

export interface EndedHow {
  readonly durationMs: number
  readonly cached: boolean
  readonly restored: boolean
  readonly signal?: TakenSignal | undefined
}

function begun(
  { stepId, spec, scope, digest, refused, attempt, superstep }: Step,
  { isWhole, isClosing }: { readonly isWhole: boolean; readonly isClosing: boolean },
): Started {
  const { work, startFields } = spec
  const { name } = spec
  const payload: Started = scope.path === '' ? { stepId, name } : { stepId, parentStepId: scope.path, name }
  if (!isWhole || attempt !== 1) payload.attempt = attempt
  if (!isClosing || work.kind !== 'node') payload.kind = work.kind
  if (!isClosing) payload.superstep = superstep
  if (startFields) {
    const { index, inputVersions } = startFields
    if (index !== undefined && (!isWhole || index !== 0)) payload.index = index
    if (inputVersions !== undefined) payload.inputVersions = inputVersions
  }
  if (digest !== '') payload.inputDigest = digest
  if (spec.isInputKept && spec.input !== undefined && !refused) payload.input = spec.input
  if (work.kind === 'effect') payload.safety = work.declared ?? 'undeclared'
  return payload
}

function addEnd(
  payload: CompletedPayload,
  step: Step,
  { output, fields }: Completed,
  { durationMs, cached, restored, signal }: EndedHow,
): CompletedPayload {
  if (output !== null && output !== undefined) payload.output = output
  if (fields) {
    const { decision, goto, sends, ends, checkpoint } = fields
    if (decision !== undefined) payload.decision = decision
    if (goto !== undefined) payload.goto = goto
    if (sends !== undefined) payload.sends = sends
    if (ends !== undefined) payload.ends = ends
    if (checkpoint !== undefined) payload.checkpoint = checkpoint
  }
  payload.durationMs = durationMs
  if (cached) payload.cached = true
  if (restored) payload.restored = true
  if (signal) payload.signal = { ...signal }
  return withUsage(payload, step)
}

export function failedPayload(step: Step, error: StepError, durationMs: number, retryInMs?: number): Failed {
  const payload: Failed = {
    stepId: step.stepId,
    attempt: step.attempt,
    error: error.toJSON(),
    durationMs,
  }
  const stack = stackOf(error)
  if (stack !== undefined) payload.stack = stack
  if (retryInMs !== undefined) payload.retryInMs = retryInMs
  return withUsage(payload, step)
}

function withUsage<T extends CompletedPayload | Failed>(payload: T, { usage }: Step): T {
  if (!usage) return payload
  const { model, cost, ...tokens } = usage
  payload.usage = tokens
  if (model !== undefined) payload.model = model
  if (cost !== undefined) payload.cost = cost
  return payload
}

export function questionPayload(
  { stepId, attempt }: Step,
  { pauseId, question, dueAt, childRunId }: WaitingPause,
): PayloadOf<'ui.input_requested'> {
  const asked: Partial<Question> = typeof question === 'object' && question !== null ? question : {}
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
export function outcomeOf(event: StepEvent, stepId: string): Outcome {
  const { output, error, decision, sends, checkpoint, goto, ends } = event.payload
  if (event.eventType === 'execution.step_failed') return { error: new StepError(error ?? {}, stepId) }
  return {
    output: output ?? null,
    fields: { decision, sends, checkpoint, goto, ends },
    ...(checkpoint !== undefined && { seq: event.ledger.seq }),
  }
}
