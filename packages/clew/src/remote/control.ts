import type { JsonObject, Ledger, RunSummary } from '@clew/ledger'
import {
  type AnswerOptions,
  openRunHandle as openHere,
  recordAnswers as recordHere,
  requestStop as requestHere,
  type RunHandle,
  type StopOptions,
} from '@clew/runtime'
import { askAgain, type RemoteServer } from './ask-server.ts'
import { serverOf } from './server-of.ts'

/** The run as an operation of control leaves it. */
async function control(server: RemoteServer, path: string, input: object): Promise<RunSummary> {
  const { codecs } = server
  const given = codecs.encode(input) as JsonObject
  const { run } = await askAgain<{ run: JsonObject }>(server, {
    rest: { method: 'post', path },
    input: given,
  })
  return codecs.decode(run) as RunSummary
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
  const input = { runId, reason: reason ?? undefined, by: by ?? undefined, waitMs }
  return control(server, '/v1/runs/{runId}/stop', input)
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
  return control(server, '/v1/runs/{runId}/resume', { runId, answer, answers, pauseId, by, wait: false })
}

/** A handle of any run in the ledger, for processes that do not have its agent. */
export const openRunHandle = (ledger: Ledger, runId: string): RunHandle => ({
  ...openHere(ledger, runId),
  stop: (options) => requestStop(ledger, runId, options),
})
