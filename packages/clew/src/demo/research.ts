import { randomBytes } from 'node:crypto'
import type { Ledger } from '@clew/ledger'
import type { OperationContext } from '../operations/operation.ts'
import { type Actor, createActor } from './actor.ts'

const QUESTION = 'Why do owls fly so quietly? Two sources, and keep it short.'
const ANSWER =
  'An owl breaks up its own noise: a comb on the leading edge of the wing calms the air, a soft fringe on the trailing edge lets it leave without a hiss, and a velvet surface swallows the rest.'
const ASK_MS = 20_000

const SOURCES = {
  feathers: { title: 'Serrations and fringes of the barn owl wing', url: 'https://example.org/owl-feathers' },
  flow: { title: 'How a soft trailing edge quiets the wake', url: 'https://example.org/owl-flow' },
}

interface Play extends OperationContext {
  readonly fast: boolean
  /** An answer that another process records; undefined if none comes in time. */
  readonly answered?: ((pauseId: string, timeoutMs: number) => Promise<string | undefined>) | undefined
}

interface Played {
  readonly runId: string
  readonly childRunId: string
  readonly status: 'completed' | 'stopped'
  readonly answer: string | null
}

export const newRunId = (): string => `demo-${randomBytes(3).toString('hex')}`

/** A research assistant at work: nothing in it is real but the record that it leaves. */
export async function playResearch(ledger: Ledger, runId: string, play: Play): Promise<Played> {
  const childRunId = `${runId}-writer`
  const actor = createActor(ledger, runId, play)
  const threadId = `${runId}-thread`
  const started = { agent: 'research-assistant', agentVersion: '1', threadId, input: { question: QUESTION } }
  try {
    const answer = await actor.live(started, () => research(ledger, actor, childRunId, play))
    return { runId, childRunId, status: 'completed', answer }
  } catch (error) {
    if (!play.signal?.aborted) throw error
    return { runId, childRunId, status: 'stopped', answer: null }
  }
}

async function research(ledger: Ledger, actor: Actor, childRunId: string, play: Play): Promise<string> {
  await actor.pause(500)
  const asked = await actor.record('execution.message', { role: 'user', content: QUESTION }, 'ui')
  return ledger.causedBy(asked, async () => {
    await actor.pause(700)
    await actor.step({ name: 'plan', kind: 'model', input: { question: QUESTION } }, async (stepId) => {
      await actor.pause(600)
      await actor.record('execution.reasoning', {
        stepId,
        content: 'Feathers first, then the flow of air. Those are two searches, so I send both at once.',
      })
      await actor.pause(900)
      return {
        output: { queries: Object.keys(SOURCES) },
        model: 'gpt-4o-mini',
        usage: { inputTokens: 412, outputTokens: 58 },
      }
    })
    await bothOf([
      search(actor, 0, 'owl wing feathers noise', SOURCES.feathers),
      searchTwice(actor, 1, 'owl flight air flow', SOURCES.flow),
    ])
    await actor.pause(500)
    await handOff(ledger, actor, childRunId, play)
    const decision = await approve(ledger, actor, play)
    await actor.pause(400)
    if (decision === 'yes') await publish(actor)
    return conclude(actor, decision)
  })
}

/** Like `Promise.all`, but waits for all, so that no branch records after the end. */
async function bothOf(works: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(works))
    if (outcome.status === 'rejected') throw outcome.reason as Error
}

type Source = (typeof SOURCES)[keyof typeof SOURCES]

async function search(
  actor: Actor,
  ordinal: number,
  query: string,
  source: Source,
  attempt = 1,
): Promise<void> {
  const step = { name: 'search', kind: 'tool', ordinal, attempt, input: { query } }
  await actor.step(step, async (stepId) => {
    const tool = { toolCallId: `call-${ordinal + 1}-${attempt}`, name: 'web_search', stepId }
    // A secret where secrets really turn up; the ledger stores a placeholder instead (P1).
    const headers = { authorization: 'Bearer demo-not-a-real-token-5f2c9e' }
    await actor.record('execution.tool_call', { ...tool, arguments: { query, headers } })
    await actor.pause(700 + ordinal * 500)
    if (ordinal === 1 && attempt === 1) {
      const error = Object.assign(new Error('503 Service Unavailable'), { name: 'SearchError' })
      await actor.record('execution.tool_error', {
        ...tool,
        error: { name: error.name, message: error.message },
      })
      throw error
    }
    await actor.record('execution.tool_result', { ...tool, result: { hits: 3, best: source } })
    await actor.step(
      { name: 'read', kind: 'tool', parentStepId: stepId, input: { url: source.url } },
      async () => {
        await actor.pause(800)
        return { output: { title: source.title, words: 1840 + 310 * ordinal } }
      },
    )
    return { output: source }
  })
}

async function searchTwice(actor: Actor, ordinal: number, query: string, source: Source): Promise<void> {
  try {
    await search(actor, ordinal, query, source)
  } catch {
    // Throws again when the demo was stopped, instead of trying again.
    await actor.pause(600)
    await search(actor, ordinal, query, source, 2)
  }
}

/** The writer is an agent of its own, with a run of its own. */
async function handOff(ledger: Ledger, actor: Actor, childRunId: string, play: Play): Promise<void> {
  const step = { name: 'write', kind: 'agent', childRunId, input: { sources: Object.values(SOURCES) } }
  await actor.step(step, async (stepId) => {
    const handed = await actor.record('execution.handoff', {
      from: 'research-assistant',
      to: 'writer',
      reason: 'Two sources found; three clear lines are wanted',
      stepId,
    })
    await ledger.causedBy(handed, () => write(createActor(ledger, childRunId, play), actor.runId, stepId))
    return { output: { text: ANSWER } }
  })
}

async function write(writer: Actor, parentRunId: string, parentStepId: string): Promise<void> {
  const { runId } = writer
  const identity = {
    agent: 'writer',
    agentVersion: '1',
    parentRunId,
    parentStepId,
    threadId: `${runId}-thread`,
  }
  await writer.live(identity, async () => {
    await writer.pause(500)
    await writer.step({ name: 'draft', kind: 'model' }, async (stepId) => {
      await writer.pause(900)
      await writer.record('execution.message', {
        role: 'assistant',
        model: 'gpt-4o',
        content: ANSWER,
        stepId,
      })
      return { output: { text: ANSWER }, model: 'gpt-4o', usage: { inputTokens: 2310, outputTokens: 74 } }
    })
    await writer.record('system.workflow_completed', { output: { text: ANSWER } }, 'system')
  })
}

/** Waits for a person; if none is there, or none answers, the answer is yes. */
async function approve(ledger: Ledger, actor: Actor, play: Play): Promise<string> {
  const step = { name: 'approve', kind: 'human' }
  const { output } = await actor.step(step, async (stepId) => {
    const pauseId = `${actor.runId}-approve`
    const asked = await actor.record(
      'ui.input_requested',
      { pauseId, question: 'Publish this to the team?', options: ['yes', 'no'], timeoutMs: ASK_MS, stepId },
      'ui',
    )
    return ledger.causedBy(asked, async () => {
      await actor.record('system.workflow_paused', { pauseIds: [pauseId] }, 'system')
      const recorded = await play.answered?.(pauseId, ASK_MS)
      const person = play.fast ? undefined : (recorded ?? (await play.ask?.(pauseId, ASK_MS)))
      await actor.pause(person === undefined ? 900 : 0)
      const answer = person ?? 'yes'
      const by = person === undefined ? 'nobody, by default' : 'you'
      if (recorded === undefined)
        await actor.record('ui.input_received', { pauseId, answer, by, stepId }, 'ui')
      await actor.record('system.workflow_resumed', { reason: 'answered' }, 'system')
      return { output: answer }
    })
  })
  return output
}

async function publish(actor: Actor): Promise<void> {
  await actor.step({ name: 'publish', kind: 'integration' }, async (stepId) => {
    const call = { callId: 'post-1', service: 'team-channel', operation: 'post', stepId }
    await actor.record('integration.call', { ...call, request: { text: ANSWER } }, 'integration')
    await actor.pause(600)
    await actor.record('integration.response', { ...call, status: 201 }, 'integration')
    return { output: { messageId: 'm-1042' } }
  })
}

async function conclude(actor: Actor, decision: string): Promise<string> {
  const value = {
    answer: ANSWER,
    sources: Object.values(SOURCES),
    confidence: 0.92,
    published: decision === 'yes',
  }
  await actor.record('execution.structured_output', { value })
  await actor.pause(300)
  await actor.record('system.workflow_completed', { output: value }, 'system')
  return ANSWER
}
