import type { StepSkeleton } from '../fold/steps.ts'
import { isoMs, isoText } from '../event/iso-text.ts'

/** Fields of a step that a store keeps in columns or derives from the row's key. */
export type StepKey = Pick<StepSkeleton, 'runId' | 'stepId' | 'attempt' | 'startedSeq'>

/** Fields that a store may also keep in columns. */
export type StepMarks = Partial<Pick<StepSkeleton, 'spanId' | 'inputDigest'>>

/** Rows are many, so their keys are short; a row of an older version has the long names. */
const KEYS = {
  parentStepId: 'p',
  nodeName: 'n',
  kind: 'k',
  superstep: 's',
  index: 'i',
  status: 'st',
  inputDigest: 'd',
  inputVersions: 'v',
  decision: 'to',
  error: 'e',
  pause: 'q',
  partial: 'pa',
  cached: 'ca',
  restored: 're',
  childRunId: 'r',
  usage: 'u',
  billing: 'b',
  spanId: 'id',
  createdAt: 'at',
  completedAt: 'by',
  durationMs: 'ms',
  endedSeq: 'z',
} as const satisfies Record<keyof Omit<StepSkeleton, keyof StepKey>, string>

type Row = { [K in (typeof KEYS)[keyof typeof KEYS]]?: unknown }

/**
 * The text of a step's row beside its key: only what is not as in most steps, for a loop writes one with every turn.
 * `unpackStep` gives the step back, also from the whole record that older versions wrote. A store that keeps
 * span and digest elsewhere, as bytes, leaves them out here (`isBare`) and brings them along then.
 */
export function packStep(step: StepSkeleton, isBare = false): string {
  const row: Row = {}
  const { stepId, startedSeq, createdAt, completedAt, durationMs } = step
  if (step.parentStepId !== parentPart(stepId)) row.p = step.parentStepId
  if (step.nodeName !== namePart(stepId)) row.n = step.nodeName
  if (step.kind !== 'step') row.k = step.kind
  if (step.superstep !== 0) row.s = step.superstep
  if (step.index !== 0) row.i = step.index
  if (step.status !== 'completed') row.st = step.status
  if (!isBare && step.inputDigest !== null) row.d = step.inputDigest
  if (step.inputVersions !== null) row.v = step.inputVersions
  if (step.decision !== null) row.to = step.decision
  if (step.error !== null) row.e = step.error
  if (step.pause !== null) row.q = step.pause
  if (step.partial) row.pa = true
  if (step.cached) row.ca = true
  if (step.restored) row.re = true
  if (step.childRunId !== null) row.r = step.childRunId
  if (step.usage !== null) row.u = step.usage
  if (step.billing !== null) row.b = step.billing
  if (!isBare) row.id = step.spanId
  const createdMs = exactMs(createdAt)
  row.at = createdMs ?? createdAt
  if (completedAt !== endOf(createdMs, durationMs)) row.by = completedAt
  if (durationMs !== null) row.ms = durationMs
  if (step.endedSeq !== mostEnd(step.kind, startedSeq)) row.z = step.endedSeq
  return JSON.stringify(row)
}

export function unpackStep(
  text: string,
  { runId, stepId, attempt, startedSeq, spanId, inputDigest }: StepKey & StepMarks,
): StepSkeleton {
  const row = JSON.parse(text) as Partial<Record<string, unknown>>
  const isOld = row['spanId'] !== undefined
  const get = <K extends keyof typeof KEYS>(name: K): StepSkeleton[K] | undefined =>
    row[isOld ? name : KEYS[name]] as StepSkeleton[K] | undefined
  const durationMs = get('durationMs') ?? null
  const createdAt: string | number = get('createdAt') as string | number
  const createdMs = typeof createdAt === 'number' ? createdAt : undefined
  const parentStepId = get('parentStepId')
  const completedAt = get('completedAt')
  const kind = get('kind') ?? 'step'
  const endedSeq = get('endedSeq')
  return {
    runId,
    stepId,
    parentStepId: parentStepId === undefined ? parentPart(stepId) : parentStepId,
    nodeName: get('nodeName') ?? namePart(stepId),
    kind,
    attempt,
    superstep: get('superstep') ?? 0,
    index: get('index') ?? 0,
    status: get('status') ?? 'completed',
    inputDigest: inputDigest ?? get('inputDigest') ?? null,
    inputVersions: get('inputVersions') ?? null,
    decision: get('decision') ?? null,
    error: get('error') ?? null,
    pause: get('pause') ?? null,
    partial: get('partial') ?? false,
    cached: get('cached') ?? false,
    restored: get('restored') ?? false,
    childRunId: get('childRunId') ?? null,
    usage: get('usage') ?? null,
    billing: get('billing') ?? null,
    spanId: spanId ?? (get('spanId') as string),
    createdAt: typeof createdAt === 'number' ? isoText(createdAt) : createdAt,
    completedAt: completedAt === undefined ? endOf(createdMs, durationMs) : completedAt,
    durationMs,
    startedSeq,
    endedSeq: endedSeq === undefined ? mostEnd(kind, startedSeq) : endedSeq,
  }
}

/** A node that ends where it was called is one event; what is waited for has its start right before. */
const mostEnd = (kind: string, startedSeq: number): number => (kind === 'node' ? startedSeq : startedSeq + 1)

/** Only a time that is printed again as it came is kept as a number. */
function exactMs(time: string): number | undefined {
  const ms = isoMs(time)
  return !Number.isNaN(ms) && isoText(ms) === time ? ms : undefined
}

const LAST_MS = 8.64e15

function endOf(createdMs: number | undefined, durationMs: number | null): string | null {
  if (createdMs === undefined || durationMs === null) return null
  const ms = Math.round(createdMs + durationMs)
  return Math.abs(ms) <= LAST_MS ? isoText(ms) : null
}

function parentPart(stepId: string): string | null {
  const slash = stepId.lastIndexOf('/')
  return slash < 0 ? null : stepId.slice(0, slash)
}

function namePart(stepId: string): string {
  const start = stepId.lastIndexOf('/') + 1
  const mark = stepId.slice(start).search(/[#@]/)
  return mark < 0 ? stepId : stepId.slice(start, start + mark)
}
