import { type Change, type JsonObject, type RunSummary, type StepSkeleton } from '@clew/ledger'
import type { NextCall } from '@clew/mcp'
import { formatDuration } from '../cli/time.ts'

/** A value on one line, cut short, in JSON: so that a text cannot be taken for ours. */
export function short(value: unknown, most = 120): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > most ? `${text.slice(0, most)}…` : text
}

export const next = (tool: string, input: JsonObject, why: string): NextCall => ({ tool, input, why })

export const errorText = (error: RunSummary['error']): string =>
  error === null
    ? ''
    : [error.name, error.code, error.message]
        .filter((part) => part !== null)
        .join(': ')
        .slice(0, 300)

export function runLine(run: RunSummary): string {
  const { runId, status, agent, startedAt, durationMs, steps, cost, error, pauses } = run
  return [
    runId,
    status,
    agent ?? 'no agent',
    startedAt.slice(0, 19),
    durationMs === null ? '' : formatDuration(durationMs),
    `${steps} steps`,
    cost === null ? '' : `$${cost.toPrecision(3)}`,
    pauses.length > 0 ? `asks ${short(pauses[0]?.question, 80)}` : '',
    errorText(error).slice(0, 120),
  ]
    .filter((part) => part !== '')
    .join('  ')
}

export function stepLine(step: StepSkeleton): string {
  const { stepId, status, attempt, durationMs, kind, cached, error, decision } = step
  return [
    stepId,
    status,
    durationMs === null ? '' : formatDuration(durationMs),
    kind,
    attempt > 1 ? `attempt ${attempt}` : '',
    cached ? 'cached' : '',
    decision === null ? '' : `→ ${[decision].flat().join(', ')}`,
    errorText(error).slice(0, 120),
  ]
    .filter((part) => part !== '')
    .join('  ')
}

export const changeLine = ({ path, expected, received }: Change): string =>
  `  ${path}: ${expected ?? 'nothing'} → ${received ?? 'nothing'}`

/** Fields that were given: the input of a call that goes on from this one. */
export const given = (fields: object): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, each]) => each !== undefined))
