import { asErasable } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { beginsStep } from './begins-step.ts'
import { exportedStart, isExported } from './happened-order.ts'
import { endStatus, isTerminal, LIFE_SIGNS, type RunStatus } from './run-summary.ts'

/** Status of a run for folds that need nothing else of V1. Changed in place inside a fold's state. */
export interface RunProgress {
  runId: string | null
  agent: string | null
  status: RunStatus | null
  startedAt: string | null
  endedAt: string | null
  hasSteps: boolean
  readonly openPauses: Map<string, string | null>
  readonly pausesOfStep: Map<string, string[]>
}

export const beginProgress = (): RunProgress => ({
  runId: null,
  agent: null,
  status: null,
  startedAt: null,
  endedAt: null,
  hasSteps: false,
  openPauses: new Map(),
  pausesOfStep: new Map(),
})

export function applyProgress(progress: RunProgress, event: ClewEvent): void {
  const { timestamp } = event
  const at = isExported(event) ? exportedStart(event) : timestamp
  // In a fork the prefix carries the id of its source; the run's own events come last.
  progress.runId = event.correlationId
  progress.status ??= 'pending'
  if (progress.startedAt === null || (isExported(event) && Date.parse(at) < Date.parse(progress.startedAt)))
    progress.startedAt = at
  const own = asErasable(event)
  if (!own) return
  const ended = own.eventType === 'system.workflow_superseded' ? 'superseded' : endStatus(own)
  if (own.eventType === 'execution.completed' && isTerminal(progress.status)) return
  if (ended !== undefined) {
    progress.status = ended
    // A run that had already ended keeps the time of its end.
    if (ended !== 'superseded' || progress.endedAt === null) progress.endedAt = timestamp
    progress.openPauses.clear()
    return
  }
  if (progress.status === 'interrupted' && LIFE_SIGNS.has(own.eventType)) progress.status = 'running'
  if (beginsStep(own)) {
    // No start was recorded, and yet the run works.
    if (!progress.hasSteps && progress.status === 'pending') progress.status = 'running'
    progress.hasSteps = true
  }
  switch (own.eventType) {
    case 'system.workflow_submitted':
      progress.agent = own.payload.agent ?? progress.agent
      break
    case 'system.workflow_started':
      progress.agent = own.payload.agent ?? progress.agent
      if (!isExported(event)) progress.startedAt = timestamp
      goOn(progress)
      break
    case 'system.workflow_resumed':
    case 'system.workflow_forked':
      goOn(progress)
      break
    case 'system.workflow_paused':
      progress.status = progress.openPauses.size > 0 ? 'paused' : 'pending'
      break
    case 'system.workflow_blocked':
      progress.status = 'blocked'
      break
    case 'system.workflow_interrupted':
      if (!isTerminal(progress.status)) progress.status = 'interrupted'
      break
    case 'ui.input_requested':
      open(progress, own.payload.pauseId ?? own.eventId, own.payload.stepId ?? null)
      break
    case 'ui.input_received':
      progress.openPauses.delete(own.payload.pauseId ?? '')
      if (progress.status === 'paused' && progress.openPauses.size === 0) progress.status = 'pending'
      break
    case 'execution.step_completed':
    case 'execution.step_failed':
    case 'execution.step_stopped':
    case 'execution.step_interrupted':
      closeStep(progress, own.payload.stepId ?? null)
      break
    default:
  }
}

function goOn(progress: RunProgress): void {
  progress.status = 'running'
  progress.endedAt = null
}

function open({ openPauses, pausesOfStep }: RunProgress, pauseId: string, stepId: string | null): void {
  openPauses.set(pauseId, stepId)
  if (stepId === null) return
  const pauses = pausesOfStep.get(stepId)
  if (pauses) pauses.push(pauseId)
  else pausesOfStep.set(stepId, [pauseId])
}

function closeStep({ openPauses, pausesOfStep }: RunProgress, stepId: string | null): void {
  for (const pauseId of pausesOfStep.get(stepId ?? '') ?? [])
    if (openPauses.get(pauseId) === stepId) openPauses.delete(pauseId)
  pausesOfStep.delete(stepId ?? '')
}
