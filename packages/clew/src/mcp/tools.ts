import { ClewError, type Ledger } from '@clew/ledger'
import type { Tool, ToolContext, View } from '@clew/mcp'
import type { z } from 'zod'
import { answer } from '../operations/answer.ts'
import { causes, effects } from '../operations/causality.ts'
import { cost } from '../operations/cost.ts'
import { diff } from '../operations/diff.ts'
import { explain } from '../operations/explain.ts'
import { fork } from '../operations/fork.ts'
import { memorySearch } from '../operations/memory-reads.ts'
import { memoryForget, memoryPut } from '../operations/memory-writes.ts'
import type { Operation } from '../operations/operation.ts'
import { pause } from '../operations/pause.ts'
import { preview } from '../operations/preview.ts'
import { replay } from '../operations/replay.ts'
import { result } from '../operations/result.ts'
import { resume } from '../operations/resume.ts'
import { runs } from '../operations/runs.ts'
import { score } from '../operations/score.ts'
import { search } from '../operations/search.ts'
import { show } from '../operations/show.ts'
import { signal } from '../operations/signal.ts'
import { start } from '../operations/start.ts'
import { state } from '../operations/state.ts'
import { step } from '../operations/step.ts'
import { steps } from '../operations/steps.ts'
import { stop } from '../operations/stop.ts'
import { tail } from '../operations/tail.ts'
import { transcript } from '../operations/transcript.ts'
import { value } from '../operations/value.ts'
import { verify } from '../operations/verify.ts'
import { assertOpenToAgents } from './agent-memory.ts'
import { collectTail } from './collect-tail.ts'
import {
  forgetView,
  isRepeated,
  outcomeView,
  previewView,
  rememberView,
  repeatedView,
  replayView,
  resultView,
  scoreView,
  signalView,
} from './control-views.ts'
import { diffView, explainView } from './explain-views.ts'
import { runsView, searchView, showView, stepsView, tailView, transcriptView } from './run-views.ts'
import { previewLines } from './step-previews.ts'
import {
  causalityView,
  costView,
  memoryView,
  stateView,
  stepView,
  valueView,
  verifyView,
} from './value-views.ts'

type ViewOf<O extends Operation> = (
  output: z.output<O['output']>,
  input: z.output<O['input']>,
  ledger: Ledger,
) => View | Promise<View>

/** An operation in its spelling for MCP, with how its answer is written. */
function offer<O extends Operation>(
  operation: O,
  view: ViewOf<O>,
  more: Pick<Partial<Tool>, 'hidden' | 'defaults' | 'assertAllowed' | 'collect'> = {},
): Tool {
  const { mcp } = operation
  if (!mcp)
    throw new ClewError('bad_option', `The operation ${operation.name} has no tool`, 'Give it one.', {})
  return {
    name: mcp.tool,
    operation,
    scope: mcp.scope ?? operation.scope,
    effect: mcp.effect,
    view: (output, input, ledger) =>
      isRepeated(output) ? repeatedView(output) : view(output as never, input as never, ledger),
    ...more,
  }
}

/** All tools, read-only ones first. The contract test compares them with the list of operations (A1). */
export const tools: readonly Tool[] = [
  offer(explain, explainView, { hidden: ['fork'] }),
  offer(runs, runsView),
  offer(show, showView, { hidden: ['values', 'tree', 'gaps'], defaults: { steps: 30 } }),
  offer(
    steps,
    async (output, input, ledger) => stepsView(output, input, await previewLines(ledger, output.steps)),
    { defaults: { limit: 30 } },
  ),
  offer(step, stepView),
  offer(value, valueView),
  offer(state, stateView, { hidden: ['full'] }),
  // An agent asks again rather than wait: the answer says how far the index is.
  offer(search, searchView, { defaults: { limit: 5, waitMs: 150 } }),
  offer(transcript, transcriptView, { hidden: ['format', 'as'] }),
  offer(causes, causalityView('causes'), { defaults: { limit: 30 } }),
  offer(effects, causalityView('effects'), { defaults: { limit: 30 } }),
  offer(diff, diffView),
  offer(cost, costView),
  offer(memorySearch, memoryView),
  offer(preview, previewView),
  offer(result, resultView),
  offer(verify, verifyView, { hidden: ['heads', 'publicKey'] }),
  offer(tail, tailView as unknown as ViewOf<typeof tail>, {
    hidden: ['untilEnd'],
    collect: (ledger, input, context: ToolContext) => collectTail(ledger, input as never, context),
  }),
  offer(fork, outcomeView, { hidden: ['wait'] }),
  offer(replay, replayView, { hidden: ['all', 'agent', 'since', 'limit'] }),
  offer(resume, outcomeView, { hidden: ['answer', 'answers', 'pauseId', 'by', 'wait'] }),
  // Without a run id, which would be taken for that of a run that is there: the idempotency key makes one run of retries.
  offer(start, resultView, { hidden: ['runId', 'dedupe'] }),
  offer(stop, outcomeView, { hidden: ['by'] }),
  offer(pause, outcomeView, { hidden: ['by', 'waitMs'] }),
  offer(signal, signalView, { hidden: ['by'] }),
  offer(score, scoreView, { hidden: ['by'] }),
  offer(answer, outcomeView, { hidden: ['by'] }),
  offer(memoryPut, rememberView, { assertAllowed: assertOpenToAgents }),
  offer(memoryForget, forgetView, { assertAllowed: assertOpenToAgents }),
]
