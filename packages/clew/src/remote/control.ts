import type { Ledger, RunSummary } from '@clew/ledger'
import {
  type AnswerOptions,
  recordAnswers as recordHere,
  requestStop as requestHere,
  type StopOptions,
} from '@clew/runtime'
import { askAgain } from './ask-server.ts'
import { serverOf } from './server-of.ts'

interface Outcome {
  readonly run: RunSummary
}

/**
 * Asks a run to stop, in whichever process it is running, and waits for its end; the run as it is then. Through a server it
 * needs the scope *control*.
 */
export async function requestStop(
  ledger: Ledger,
  runId: string,
  options: StopOptions = {},
): Promise<RunSummary> {
  const server = serverOf(ledger)
  if (!server) return requestHere(ledger, runId, options)
  const { reason, by, waitMs } = options
  const rest = { method: 'post', path: '/v1/runs/{runId}/stop' } as const
  const input = { runId, reason: reason ?? undefined, by: by ?? undefined, waitMs }
  return (await askAgain<Outcome>(server, { rest, input })).run
}

/**
 * Answers open questions of a run without resuming it: a process that has its agent does. Through a server it needs the scope
 * *control*, and a server that has the agent resumes the run.
 */
export async function recordAnswers(
  ledger: Ledger,
  runId: string,
  options: AnswerOptions,
): Promise<RunSummary> {
  const server = serverOf(ledger)
  if (!server) return recordHere(ledger, runId, options)
  const { answer, answers, pauseId, by } = options
  const rest = { method: 'post', path: '/v1/runs/{runId}/resume' } as const
  const question = { rest, input: { runId, answer, answers, pauseId, by, wait: false } }
  return (await askAgain<Outcome>(server, question)).run
}
