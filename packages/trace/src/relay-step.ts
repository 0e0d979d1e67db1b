import { type ClewEvent, foldStep, type StepRecord, stepTypeOf } from '@clew/ledger'
import { STEP_COMPLETED, STEP_STARTED } from './names.ts'
import type { Content, StepCompletedPayload, StepStartedPayload, TraceMessage } from './payloads.ts'
import { type NumberedStep, type SessionState, stepKeyOf } from './session-state.ts'
import { completionOf, isAtWork, isObject } from './to-trace-step.ts'

/** Longer content stays where it is: a room is for many, and who wants it fetches the session. */
const MAX_CONTENT_CHARS = 65_536

/** Step changes of an event: a start, an end, or all open steps of a run that was left. */
export function relayStep(
  event: ClewEvent,
  before: SessionState | null,
  after: SessionState,
): TraceMessage[] {
  if (isAtWork(before?.summary.status ?? 'running') && !isAtWork(after.summary.status))
    return [...after.open.values()].map((open) => assumeEnd(open, event, after))
  const key = stepKeyOf(event)
  if (key === null || !event.eventType.startsWith('execution.step_')) return []
  const known = before?.open.get(key)
  const opened = after.open.get(key)
  if (opened) return known ? [] : [started(opened, event, after)]
  const step = foldStep(known?.step, event, before?.summary.steps ?? 0)
  if (!step) return []
  return [completed({ step, stepNumber: known?.stepNumber ?? after.summary.steps }, step, after, false)]
}

function started({ step, stepNumber }: NumberedStep, event: ClewEvent, state: SessionState): TraceMessage {
  const { input } = event.payload
  const content = isObject(input) && Object.keys(input).length === 1 ? (input['content'] as Content) : null
  const payload: StepStartedPayload = {
    ...stepFields({ step, stepNumber }, state),
    startedSeq: step.startedSeq,
    startedAt: step.createdAt,
    content: content ?? null,
  }
  return { name: STEP_STARTED, payload }
}

function completed(
  numbered: NumberedStep,
  record: StepRecord,
  state: SessionState,
  isAssumed: boolean,
): TraceMessage {
  const { content, sources, messageId } = completionOf(record.values)
  const isContentLeftOut = sizeOf(content) > MAX_CONTENT_CHARS
  const payload: StepCompletedPayload = {
    ...stepFields(numbered, state),
    startedSeq: record.startedSeq,
    endedSeq: record.endedSeq ?? state.seq,
    status: record.status as StepCompletedPayload['status'],
    isAssumed,
    content: isContentLeftOut ? null : content,
    isContentLeftOut,
    sources,
    messageId,
    error: record.error,
    startedAt: record.createdAt,
    completedAt: record.completedAt ?? record.createdAt,
    durationMs: record.durationMs,
  }
  return { name: STEP_COMPLETED, payload }
}

function assumeEnd(open: NumberedStep, { timestamp }: ClewEvent, state: SessionState): TraceMessage {
  const record: StepRecord = {
    ...open.step,
    values: null,
    status: 'interrupted',
    completedAt: timestamp,
    durationMs: Math.max(0, Date.parse(timestamp) - Date.parse(open.step.createdAt)),
  }
  return completed(open, record, state, true)
}

function stepFields({ step, stepNumber }: NumberedStep, { summary, workspaceId }: SessionState) {
  const { stepId, attempt, kind, nodeName, parentStepId } = step
  return {
    workspaceId,
    sessionId: summary.runId,
    streamId: summary.session?.streamId ?? '',
    stepId,
    attempt,
    stepNumber,
    stepType: stepTypeOf(kind, nodeName),
    name: nodeName,
    parentStepId,
  }
}

const sizeOf = (content: Content): number =>
  typeof content === 'string' ? content.length : content === null ? 0 : JSON.stringify(content).length
