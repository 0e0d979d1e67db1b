import { type JsonValue, type ProgressNote, type RunStatus, type StepRecord, stepTypeOf } from '@clew/ledger'
import type { Content } from './payloads.ts'
import type { TraceStep } from './session-view.ts'
import type { StepSource } from './step-types.ts'

/** Result of a step. */
export interface Completion {
  readonly content: Content
  readonly sources: readonly StepSource[]
  readonly messageId: string | null
}

const KEYS: ReadonlySet<string> = new Set(['content', 'sources', 'messageId'])
const NOTHING: Completion = { content: null, sources: [], messageId: null }

/** Output of nothing but content, sources and message id is that; any other is content as it is. */
export function completionOf(output: unknown): Completion {
  if (output === null || output === undefined) return NOTHING
  if (!isObject(output) || !Object.keys(output).every((key) => KEYS.has(key)))
    return { ...NOTHING, content: output as JsonValue }
  const { content = null, sources, messageId } = output
  return {
    content: content as JsonValue,
    sources: sourcesOf(sources),
    messageId: textOf(messageId),
  }
}

export const sourcesOf = (given: unknown): StepSource[] =>
  Array.isArray(given) ? given.filter(isObject).map(toSource) : []

function toSource(given: Record<string, unknown>): StepSource {
  const url = textOf(given['url'])
  return {
    type: textOf(given['type']) ?? 'web',
    title: textOf(given['title']),
    url,
    domain: textOf(given['domain']) ?? domainOf(url),
    snippet: textOf(given['snippet']),
  }
}

const domainOf = (url: string | null): string | null =>
  /^https?:\/\/([^/:?#\s]+)/i.exec(url ?? '')?.[1] ?? null

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Statuses in which steps may still be open: in all others no process works on them. */
const AT_WORK: ReadonlySet<RunStatus> = new Set(['running', 'paused', 'pending', 'blocked'])

export const isAtWork = (status: RunStatus): boolean => AT_WORK.has(status)

/** A record as pages show it: `stepNumber` is its place in `getSteps`, from 1. */
export function toTraceStep(
  step: StepRecord,
  stepNumber: number,
  status: RunStatus,
  progress?: Pick<ProgressNote, 'version' | 'content'>,
): TraceStep {
  const { stepId, attempt, kind, nodeName, parentStepId, error, startedSeq, endedSeq, durationMs } = step
  const isOpen = step.status === 'running' || step.status === 'paused'
  return {
    stepId,
    attempt,
    stepNumber,
    stepType: stepTypeOf(kind, nodeName),
    name: nodeName,
    parentStepId,
    status: isOpen && !isAtWork(status) ? 'interrupted' : step.status,
    ...completionOf(step.values),
    isContentLeftOut: false,
    error,
    startedSeq,
    endedSeq,
    startedAt: step.createdAt,
    completedAt: step.completedAt,
    durationMs,
    progress:
      progress && isOpen && isAtWork(status)
        ? { version: progress.version, content: progress.content }
        : null,
  }
}
