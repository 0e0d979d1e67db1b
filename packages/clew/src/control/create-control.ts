import {
  ClewError,
  createCodecs,
  type ErrorCode,
  isTerminal,
  type JsonValue,
  type Ledger,
  type RunSummary,
} from '@clew/ledger'
import {
  type AnswerOptions,
  previewFork,
  recordAnswers,
  recordFork,
  replay,
  requestPause,
  requestResume,
  requestStop,
  type RunResult,
  type RunListener,
} from '@clew/runtime'
import type { ControlOutcome } from '../operations/schemas.ts'
import type { AgentSet, ForkRequest, RunControl, Watching } from './run-control.ts'

export interface ControlOptions {
  /** Without agents, runs can be answered and stopped, but not resumed. */
  readonly agents?: AgentSet | undefined
}

export function createControl(ledger: Ledger, { agents }: ControlOptions = {}): RunControl {
  const outcome = async (
    runId: string,
    worked: boolean,
    result?: Pick<RunResult, 'output' | 'divergence'> & { readonly warnings?: readonly string[] },
  ): Promise<ControlOutcome> => ({
    run: await readRun(ledger, runId),
    worked,
    output: shown(result?.output ?? null),
    divergence: result?.divergence ?? null,
    warnings: result?.warnings ?? [],
  })

  /** Output to send or print: with placeholders, even if the vault restored secrets for the code (P3). */
  function shown(output: unknown): unknown {
    try {
      return ledger.redactor.value(output as JsonValue).value
    } catch {
      return `a ${typeof output} that cannot be stored`
    }
  }

  async function watch(
    { onEvent, wait = true }: Watching,
    begin: (listener: RunListener) => Promise<RunResult & { readonly warnings?: readonly string[] }>,
  ): Promise<ControlOutcome> {
    const begun = Promise.withResolvers<string>()
    const working = ours(
      begin({
        event(event) {
          onEvent?.(event)
          begun.resolve(event.correlationId)
        },
      }),
    )
    const seen = await (wait ? working : Promise.race([working, begun.promise]))
    if (typeof seen !== 'string') return outcome(seen.runId, true, seen)
    // No caller waits for it any more; its outcome is in the record.
    working.catch((error: unknown) => console.error(error))
    return outcome(seen, true)
  }

  const canRun = (agent: string | null): boolean => agent !== null && agents?.names.includes(agent) === true

  return {
    canRun,
    canReplay: (agent) => canRun(agent) || canRun(mappedBy(agent)),
    async resume(runId, { onEvent, wait, ...request } = {}) {
      const run = await readRun(ledger, runId)
      await assertNoChild(ledger, run)
      if (isTerminal(run.status)) throw ended(run)
      if (run.held && (!agents || !canRun(run.agent)))
        return {
          ...(await outcome(runId, false)),
          run: await requestResume(ledger, runId, { by: request.by }),
        }
      if (!agents) throw agentMissing(run)
      const runnable = agents.of(run)
      return watch({ onEvent, wait }, (listener) =>
        runnable.resume(ledger, runId, { ...withValues(request), listener }),
      )
    },
    async fork(runId, { onEvent, wait, ...request } = {}) {
      const source = await readRun(ledger, runId)
      assertOneWay(source, request)
      const effects = request.retry === true ? undefined : (request.effects ?? 'ask')
      if (agents && canRun(source.agent)) {
        const runnable = agents.of(source)
        return watch({ onEvent, wait }, (listener) =>
          runnable.fork(ledger, runId, { ...request, effects, listener }),
        )
      }
      if (request.state !== undefined || request.replace || request.retry === true) throw needsAgent(source)
      const { at, input, newRunId } = request
      const fork = await recordFork(ledger, runId, { at, input, newRunId, effects })
      return outcome(fork.runId, false)
    },
    async preview(runId, request) {
      const { agent } = await readRun(ledger, runId)
      return { ...(await previewFork(ledger, runId, request)), agent, canRun: canRun(agent) }
    },
    async replay(runId, { onEvent, ...request } = {}) {
      const run = await readRun(ledger, runId)
      if (request.mode === 'reconstruct') return replay(null, { ...request, ledger, runId })
      if (!agents) throw replayNeedsAgent(run)
      const listener = onEvent && { event: onEvent }
      // A what-if is a branch like any other.
      const isBranch = request.mode === 'what-if' ? { effects: 'ask' as const } : {}
      const agent = canRun(run.agent) ? run.agent : mappedBy(run.agent)
      return ours(agents.of({ runId, agent }).replay(ledger, runId, { ...request, ...isBranch, listener }))
    },
    async answer(runId, request) {
      await assertNoChild(ledger, await readRun(ledger, runId))
      return {
        ...(await outcome(runId, false)),
        run: await recordAnswers(ledger, runId, withValues(request)),
      }
    },
    async pause(runId, request) {
      await assertNoChild(ledger, await readRun(ledger, runId))
      return { ...(await outcome(runId, false)), run: await requestPause(ledger, runId, request) }
    },
    async stop(runId, request) {
      return { ...(await outcome(runId, false)), run: await requestStop(ledger, runId, request) }
    },
  }
}

const codecs = createCodecs()

/** Answers arrive as JSON, in which values that JSON lacks are tagged (E1). */
const withValues = <Request extends AnswerOptions>({ answer, answers, ...request }: Request) => ({
  ...request,
  ...(answer !== undefined && { answer: codecs.decode(answer as JsonValue) }),
  ...(answers && { answers: codecs.decode(answers as JsonValue) as NonNullable<typeof answers> }),
})

/** A map is a run without code of its own, `<agent> map`. */
const mappedBy = (agent: string | null): string | null => agent?.replace(/ map$/, '') ?? null

async function readRun(ledger: Ledger, runId: string): Promise<RunSummary> {
  const run = await ledger.getRun(runId)
  if (run) return run
  throw new ClewError(
    'not_found',
    `There is no run ${runId} in workspace ${ledger.workspace}`,
    'List the runs with `clew runs`.',
    { runId },
  )
}

function agentMissing({ runId, agent, status, pauses }: RunSummary): ClewError {
  const [pause] = pauses
  if (status === 'paused' && pause)
    return new ClewError(
      'not_resumable',
      `Run ${runId} waits for an answer`,
      `Give it: clew resume ${runId} --answer …; clew show ${runId} has the question. Nothing was changed.`,
      { runId, agent, status, pauseId: pause.pauseId },
    )
  return new ClewError(
    'not_resumable',
    `Run ${runId} is ${status}, and only its agent ${agent ?? ''} can resume it`,
    `Name the module that exports it: clew resume ${runId} --agent ./agents.ts. Nothing was changed.`,
    { runId, agent, status },
  )
}

const ended = ({ runId, status }: RunSummary): ClewError =>
  new ClewError(
    'not_resumable',
    `Run ${runId} is ${status}: there is nothing to resume`,
    status === 'failed' || status === 'stopped'
      ? `Go on where it ended: clew fork ${runId} --retry --agent ./agents.ts. Nothing was changed.`
      : `Start the next turn on its thread, or fork it: clew fork ${runId} --at STEP. Nothing was changed.`,
    { runId, status },
  )

const replayNeedsAgent = ({ runId, agent }: RunSummary): ClewError =>
  new ClewError(
    'bad_option',
    `Run ${runId} can be replayed only with the code of its agent ${agent ?? ''}`,
    `Name the module that exports it: clew replay ${runId} --agent ./agents.ts.`,
    { runId, agent },
  )

const needsAgent = ({ runId, agent }: RunSummary): ClewError =>
  new ClewError(
    'bad_option',
    `Only its agent ${agent ?? ''} can retry run ${runId}, or put another state or value into a fork of it`,
    'Name the module that exports it with --agent. Nothing was changed.',
    { runId, agent },
  )

function assertOneWay({ runId }: RunSummary, { retry, at, input, state }: ForkRequest): void {
  if (retry !== true || (at === undefined && input === undefined && state === undefined)) return
  throw new ClewError(
    'bad_option',
    `A retry of run ${runId} begins where it failed, with the input and the state it had`,
    'Leave out either the retry, or the place, input and state. Nothing was changed.',
    { runId },
  )
}

/** A child goes on inside its parent, which also passes its questions and their answers on. */
async function assertNoChild(ledger: Ledger, run: RunSummary): Promise<void> {
  if (run.parentRunId === null || isTerminal(run.status)) return
  const parent = await ledger.getRun(run.parentRunId)
  if (!parent || isTerminal(parent.status)) return
  throw new ClewError(
    'not_resumable',
    `Run ${run.runId} is a child of run ${parent.runId}, which goes on with it`,
    `Resume the parent: clew resume ${parent.runId}. Nothing was changed.`,
    { runId: run.runId, parentRunId: parent.runId },
  )
}

/** A user's module may bring a Clew of its own, whose errors are of another class than ours. */
async function ours<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ClewError || !(error instanceof Error) || error.name !== 'ClewError') throw error
    const { code, hint, fields, message } = error as ClewError
    const what = message.endsWith(hint) ? message.slice(0, -hint.length - 2) : message
    throw new ClewError(code satisfies ErrorCode, what, hint, fields, error)
  }
}
