import type { ResumeDivergence } from './result.ts'
import { StepError } from './run.ts'

const BACK =
  "Resume it with the code it began with, fork it before that step, or accept the difference with onDivergence: 'accept'"

/** Why a run is blocked, and the way out. Values stay in the divergence: a message may be logged (P3). */
export function divergenceError(divergence: ResumeDivergence): StepError {
  const { stepId, childRunId } = divergence
  const what = sentence(divergence)
  const message =
    childRunId === undefined
      ? `${what.charAt(0).toUpperCase()}${what.slice(1)}`
      : `In the child run ${childRunId} of ${stepId ?? 'it'}: ${what}`
  return new StepError({ name: 'DivergenceError', code: 'diverged', message }, stepId)
}

function sentence(divergence: ResumeDivergence): string {
  const { redactedFrom = [] } = divergence
  const [what, ...more] = redactedFrom
  if (what === undefined) return differs(divergence)
  const from = more.length === 0 ? what : `${what} and ${more.length} more`
  return `${differs(divergence)} The code was given redacted text from ${from}: code that cuts or parses it needs the secrets, by resume({ secrets }).`
}

function differs(divergence: ResumeDivergence): string {
  const { kind, stepId, expected, received, childRunId, secretKind = 'secret' } = divergence
  const step = childRunId === undefined && stepId !== null ? `step ${stepId}` : 'a step'
  switch (kind) {
    case 'missing': {
      const instead = typeof received === 'string' ? `; it asked for ${received} instead` : ''
      return `the record has step ${String(expected)}, which the code did not ask for${instead}. ${BACK}.`
    }
    case 'extra':
      return `the code asked for ${step}, which the record does not have although it shows that the code acted after it. ${BACK}.`
    case 'order':
      return `the code asked for ${step} in another order, or for another reason, than the record has. ${BACK}.`
    case 'input':
      return `the code gave ${step} another input than the record has. ${BACK}.`
    case 'output':
      return `the code of ${stepId === null ? 'the run' : step} said something else than the record has. ${BACK}.`
    case 'kind':
      return `${step} is ${named(expected)} in the record and ${named(received)} in the code. ${BACK}.`
    case 'redacted':
      return stepId === null
        ? `what the run began with or stands at was redacted at ${String(expected)} (${secretKind}), so it cannot go on here. Give the secret with resume({ secrets }), start a new run with the whole value, or fork this one with it.`
        : `the result of ${step} was redacted at ${String(expected)} (${secretKind}): a placeholder is not handed to code in place of the secret. Give the secret with resume({ secrets }), or fork the run before that step. For the next time: a vault keeps secrets, and an effect that only reads can be declared with refresh: true.`
  }
}

const NAMES: ReadonlyMap<unknown, string> = new Map([
  ['compute', 'a step'],
  ['effect', 'an effect'],
  ['interrupt', 'a question'],
  ['receive', 'a signal'],
])

const named = (kind: unknown): string => NAMES.get(kind) ?? `a ${String(kind)}`
