import {
  agent,
  append,
  type CompiledGraph,
  END,
  last,
  type Run,
  START,
  StateGraph,
  StepError,
} from '@clew/runtime'
import type { Ledger } from '@clew/ledger'
import { callModel, isRefusal, type ModelAccess, type ModelAnswer } from './call-model.ts'
import type { ChatMessage, ToolCall } from './chat-protocol.ts'
import { NOT_PUBLISHED, STOPPED, TOOLS, type ToolResult, type ToolSource, useTool } from './tools.ts'

export interface Surroundings {
  readonly ledger: Ledger
  readonly model: ModelAccess
  /** The file that published texts are written to. */
  readonly board: string
  readonly isFast: boolean
  /** Puts an agent's message into the stream it works in. */
  post(message: {
    streamId: string
    sessionId: string
    author: string
    content: string
    sources: readonly ToolSource[]
  }): Promise<string>
}

/** Input of an agent of the demo. */
export interface Asked {
  readonly question: string
  readonly streamId: string
}

const SYSTEM =
  'You answer questions about owls from the notes of an owl station. Search the notes, read what fits, answer in a few sentences and name the notes.'

const QUESTION = 'May this be published to the board of the station?'
/** A step is shown as what it is called; these have pictures of their own (T6). */
const STEP_NAMES: Readonly<Record<string, string>> = {
  search_notes: 'workspace_search',
  read_note: 'visit_page',
}

export function createAgents(around: Surroundings) {
  const { model, board, isFast } = around
  const think = (run: Run, messages: readonly ChatMessage[], mayCall = true): Promise<ModelAnswer> =>
    run.effect(
      'thinking',
      { messages, mayCall },
      async (_, call) => {
        const answer = await callModel(
          model,
          { messages, tools: TOOLS, mayCall },
          { ...call, onToken: (text) => run.token(text) },
        )
        call.usage({
          model: answer.model,
          inputTokens: answer.usage.prompt_tokens,
          outputTokens: answer.usage.completion_tokens,
        })
        return answer
      },
      { retry: { tries: 4, delayMs: 600, when: ({ code }) => !isRefusal(code) } },
    )
  const speak = (
    run: Run,
    author: string,
    { streamId }: Asked,
    content: string,
    sources: readonly ToolSource[] = [],
  ): Promise<object> =>
    run.effect('message_sent', { content, sources }, async () => ({
      content,
      sources,
      messageId: await around.post({ streamId, sessionId: run.runId, author, content, sources }),
    }))
  const tool = (run: Run, { function: { name, arguments: text } }: ToolCall): Promise<ToolResult> =>
    run.effect(
      STEP_NAMES[name] ?? name,
      JSON.parse(text) as Record<string, unknown>,
      (given) => useTool(name, given, { board, isFast }),
      name === 'publish' ? { safety: 'write', approval: { question: QUESTION } } : { safety: 'read' },
    )

  const ariadne = new StateGraph({
    asked: last<Asked>({ question: '', streamId: '' }),
    messages: append<ChatMessage>([{ role: 'system', content: SYSTEM }]),
    notesRead: append<string>(),
  })
    .addNode('listen', ({ asked, messages }) => ({
      messages: [...answersOfStopped(messages), { role: 'user', content: asked.question }],
    }))
    .addNode('think', async ({ messages }, run) => ({ messages: (await think(run, messages)).message }))
    .addNode('act', async ({ messages }, run) => {
      const calls = messages.at(-1)?.tool_calls ?? []
      const done = await Promise.all(calls.map((call) => outcomeOf(tool(run, call))))
      return {
        messages: calls.map(({ id }, at) => toolMessage(id, done[at])),
        notesRead: calls.flatMap(({ function: { name, arguments: text } }) =>
          name === 'read_note' ? [(JSON.parse(text) as { file: string }).file] : [],
        ),
      }
    })
    .addNode('answer', async ({ messages, asked }, run) => {
      await speak(run, 'ariadne', asked, messages.at(-1)?.content ?? '', notesIn(messages))
      return {}
    })
    .addEdge(START, 'listen')
    .addEdge('listen', 'think')
    .addConditionalEdges(
      'think',
      ({ messages }) => ((messages.at(-1)?.tool_calls ?? []).length > 0 ? 'act' : 'answer'),
      ['act', 'answer'],
    )
    .addEdge('act', 'think')
    .addEdge('answer', END)
    .compile({ checkpointer: around.ledger, name: 'ariadne' })

  /** One errand of Daedalus: looks one thing up. */
  const errand = agent('errand', async (run, query: string) => {
    const [best] = (await tool(run, call('search_notes', { query }))).sources ?? []
    if (!best) return null
    const asked = call('read_note', { file: best.url }, `${run.runId} read`)
    return { asked, found: await tool(run, asked) }
  })
  const daedalus = agent('daedalus', async (run, asked: Asked) => {
    const plan = await run.step('plan', asked.question, (question) => splitQuestion(question))
    const errands = await Promise.all(plan.map((query, at) => run.child(errand, query, { key: String(at) })))
    const notes = errands.filter((note) => note !== null)
    if (notes.length === 0) return speak(run, 'daedalus', asked, 'My helpers came back with nothing.')
    const messages: ChatMessage[] = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: asked.question },
      { role: 'assistant', content: null, tool_calls: notes.map((note) => note.asked) },
      ...notes.map(({ asked: { id }, found }) => toolMessage(id, found)),
    ]
    const answer = await think(run, messages, false)
    const sources = notes.flatMap(({ found }) => found.sources ?? [])
    return speak(run, 'daedalus', asked, answer.message.content ?? 'I have nothing to add.', sources)
  })

  const icarus = agent('icarus', async (run, asked: Asked) => {
    await run.effect(
      'fly',
      asked.question,
      (question) => {
        if (/\bsun\b/i.test(question))
          throw Object.assign(new Error('The wax has melted'), { name: 'TooHigh' })
        return 'in the air'
      },
      { retry: { tries: 2, delayMs: 400 } },
    )
    return speak(run, 'icarus', asked, 'I did not look anything up, but I am sure that it is lovely up here.')
  })

  return { ariadne: ariadne as unknown as CompiledGraph, daedalus, icarus, errand }
}

/** Result of a tool, or its error: the model receives either. */
async function outcomeOf(work: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StepError)) throw error
    return { content: error.code === 'denied' ? NOT_PUBLISHED : error.message }
  }
}

/** A run that was stopped leaves calls without a result, and a model refuses to go on from those. */
const answersOfStopped = (messages: readonly ChatMessage[]): ChatMessage[] =>
  (messages.at(-1)?.tool_calls ?? []).map(({ id }) => toolMessage(id, { content: STOPPED }))

/** Pages read since the last question: the sources of the answer. */
function notesIn(messages: readonly ChatMessage[]): ToolSource[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const read = new Set(
    turn
      .flatMap(({ tool_calls }) => tool_calls ?? [])
      .flatMap(({ id, function: { name } }) => (name === 'read_note' ? [id] : [])),
  )
  return turn.flatMap((message) =>
    message.role === 'tool' && read.has(message.tool_call_id ?? '')
      ? ((JSON.parse(message.content ?? '{}') as ToolResult).sources ?? [])
      : [],
  )
}

const toolMessage = (tool_call_id: string, result: ToolResult | undefined): ChatMessage => ({
  role: 'tool',
  tool_call_id,
  content: JSON.stringify(result),
})

const call = (name: string, given: object, id = name): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
})

/** "Which owls migrate and which hunt by day?" are two errands. */
const splitQuestion = (question: string): string[] =>
  question
    .replace(/@\w+/g, '')
    .split(/\band\b|[?;,]/i)
    .map((part) => part.trim())
    .filter((part) => part.length > 3)
    .slice(0, 3)
