import { ClewError, isOwn, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { readDueTimes } from '../pause/answers.ts'
import { requestStop, type StopOptions, workingChild } from '../lifecycle/request-stop.ts'
import type { Program } from '../machine/program.ts'
import type { ChildEnd, ChildLink, WaitingPause } from '../machine/step.ts'
import { earlierRunFor } from './earlier-writes.ts'
import type { RunResult } from './result.ts'
import { goOnWithRun } from './resume-run.ts'
import { StepError } from './run.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'
import { beginRun } from './start-run.ts'

/** R5: a child that ended while its parent's step was not written gives its end back; it is not run again. */
export async function openChild(
  ledger: Ledger,
  program: Program,
  link: ChildLink,
  { listener, suspendAlways, shutdown, onDivergence }: RunOptions & Pick<ResumeOptions, 'onDivergence'>,
): Promise<ChildEnd> {
  const { runId, signal, input } = link
  const options = { signal, listener: listener?.child?.(link), suspendAlways, shutdown, onDivergence }
  const run = await ledger.getRun(runId)
  if (!run) {
    const earlierRunId = await earlierRunFor(ledger, link.earlierRunId, input)
    const parent = { ...link, earlierRunId }
    return toChildEnd(await beginRun(ledger, program, input, { ...options, runId, threadId: null, parent }))
  }
  if (run.status === 'completed')
    return { status: 'completed', output: await program.outputOf(ledger, runId), restored: true }
  if (isTerminal(run.status)) return { status: 'failed', error: await errorOf(ledger, run, link) }
  const answers = answersFor(run, link)
  if (isStillWaiting(run) && Object.keys(answers).length === 0) return waitingChild(ledger, run)
  const result = await goOnWithRun(
    ledger,
    program,
    runId,
    { ...options, answers },
    {
      input,
      areInTime: true,
    },
  )
  // Its other questions may have their answers here already.
  return result.pauses.some(({ pauseId }) => link.answers.has(pauseId) && !Object.hasOwn(answers, pauseId))
    ? openChild(ledger, program, link, { listener, suspendAlways, shutdown, onDivergence })
    : toChildEnd(result)
}

/** A child that was stopped because its time was over, just before its parent died, has timed out for the parent. */
async function errorOf(
  ledger: Ledger,
  { runId, status, error }: RunSummary,
  { parentStepId, timeout }: ChildLink,
): Promise<StepError> {
  if (status === 'stopped' && timeout)
    for await (const event of ledger.read(runId, { types: ['system.workflow_stopped'] }))
      if (isOwn(event, 'system.workflow_stopped') && event.payload.reason === timeout.message) return timeout
  return new StepError(error ?? { code: status }, parentStepId)
}

/** A pause whose time is over is settled by the child itself, when it is taken up. */
function answersFor({ pauses }: RunSummary, { answers }: ChildLink): Record<string, unknown> {
  return Object.fromEntries(
    pauses.flatMap(({ pauseId }) => {
      const given = answers.get(pauseId)?.payload
      return given && given['by'] !== 'timeout' ? [[pauseId, given['answer'] ?? null]] : []
    }),
  )
}

const isStillWaiting = ({ status, dueAt }: RunSummary): boolean =>
  dueAt === null ? status === 'paused' : Date.parse(dueAt) > Date.now()

async function waitingChild(ledger: Ledger, run: RunSummary): Promise<ChildEnd> {
  const { runId, pauses, dueAt, awaits = [] } = run
  const times = await readDueTimes(ledger, runId)
  const withTimes = pauses.map((pause): WaitingPause => {
    const time = times.get(pause.pauseId)
    return time ? { ...pause, dueAt: Date.parse(time) } : pause
  })
  return {
    status: 'paused',
    pauses: withTimes,
    dueAt: dueAt === null ? undefined : Date.parse(dueAt),
    awaits,
  }
}

function toChildEnd({ status, output, error, pauses, dueAt, awaits, divergence }: RunResult): ChildEnd {
  if (status === 'completed') return { status, output, restored: false }
  if (status === 'paused' || status === 'pending')
    return { status: 'paused', pauses, dueAt: dueAt === null ? undefined : Date.parse(dueAt), awaits }
  if (status === 'interrupted') return { status: 'left' }
  if (status === 'blocked' && divergence) return { status, divergence }
  return { status: 'failed', error: error ?? new StepError({ code: status }, null) }
}

/** Stops a child run that no code awaits any more; throws if it does not end in time, since its parent must not end before it. */
export async function stopChild(
  ledger: Ledger,
  runId: string,
  { reason = 'left behind', ...options }: StopOptions = {},
): Promise<void> {
  try {
    const { status } = await requestStop(ledger, runId, { reason, ...options })
    if (!isTerminal(status)) throw workingChild(runId)
  } catch (error) {
    // The child has ended, or was announced by its parent and never began.
    if (!(error instanceof ClewError) || (error.code !== 'ended' && error.code !== 'not_found')) throw error
  }
}
