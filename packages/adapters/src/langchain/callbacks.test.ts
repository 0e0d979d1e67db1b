import { formatMermaid, formatTranscriptText, type Ledger } from '@clew/ledger'
import { type AIMessage, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnableLambda } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ClewCallbackHandler } from './index.ts'
import {
  open,
  onlyRun,
  eventsOf,
  shape,
  owl,
  HttpModel,
  serve,
  completion,
} from '../../test/langchain-calls.ts'

afterEach(() => void vi.restoreAllMocks())

describe('an agent with a model over HTTP and a tool', () => {
  async function countOwls(ledger: Ledger): Promise<string> {
    const url = await serve([
      completion(
        {
          content: '',
          reasoning_content: 'I should count.',
          tool_calls: [{ id: 'call-1', function: { name: 'count_owls', arguments: '{"place":"the barn"}' } }],
        },
        { prompt_tokens: 900, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
      ),
      completion({ content: 'There are 3 owls.' }, { prompt_tokens: 1_000, completion_tokens: 1_000 }),
    ])
    const model = new HttpModel(url)
    const agent = RunnableLambda.from(async (question: string, config) => {
      const messages: BaseMessage[] = [new SystemMessage('You count.'), new HumanMessage(question)]
      for (;;) {
        const answer = (await model.invoke(messages, config)) as AIMessage
        messages.push(answer)
        if (!answer.tool_calls?.length) return answer.text
        for (const call of answer.tool_calls)
          messages.push((await owl.invoke({ ...call, type: 'tool_call' }, config)) as BaseMessage)
      }
    }).withConfig({ runName: 'counter' })
    const handler = new ClewCallbackHandler({ ledger, threadId: 'barn' })
    expect(await agent.invoke('How many owls?', { callbacks: [handler] })).toBe('There are 3 owls.')
    return onlyRun(ledger)
  }

  it('A4 becomes one run with its steps, and every event has the cause that it had', async () => {
    const ledger = open()
    const runId = await countOwls(ledger)
    expect(shape(await eventsOf(ledger, runId))).toEqual([
      '1 <- - workflow_started counter',
      '2 <- 1 message system',
      '3 <- 2 message user',
      '4 <- 3 step_started HttpModel#0',
      '5 <- 4 reasoning HttpModel#0',
      '6 <- 5 message HttpModel#0',
      '7 <- 6 step_completed HttpModel#0',
      '8 <- 6 step_started count_owls#0',
      '9 <- 6 tool_call count_owls#0',
      '10 <- 9 tool_result count_owls#0',
      '11 <- 10 step_completed count_owls#0',
      '12 <- 11 step_started HttpModel#1',
      '13 <- 12 message HttpModel#1',
      '14 <- 13 step_completed HttpModel#1',
      '15 <- 14 completed',
      '16 <- 15 workflow_completed',
    ])
    expect(await ledger.getRun(runId)).toMatchObject({
      agent: 'counter',
      threadId: 'barn',
      status: 'completed',
      modelCalls: 2,
      toolCalls: 1,
      errors: 0,
    })
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it('V3 V5 V7 reads well: transcript, graph and cost', async () => {
    const ledger = open()
    const runId = await countOwls(ledger)
    expect(
      formatTranscriptText(await ledger.transcript(runId)).replaceAll(runId, 'RUN'),
    ).toMatchInlineSnapshot(`
      "RUN · counter · completed

      START counter
        {
          "input": "How many owls?"
        }

      SYSTEM
        You count.

      USER
        How many owls?

      REASONING
        I should count.

      TOOL CALL count_owls
        {
          "place": "the barn"
        }

      RESULT count_owls
        3 owls in the barn

      ASSISTANT
        There are 3 owls.

      COMPLETED
        {
          "output": "There are 3 owls."
        }
      "
    `)
    expect(formatMermaid(await ledger.taskGraph(runId))).toMatchInlineSnapshot(`
      "flowchart TD
        n1(["system"])
        n2(["user"])
        n3["HttpModel<br/>×2 · 1 again"]
        n4["count_owls"]
        n1 --> n2
        n2 --> n3
        n4 --> n3
        n3 ==>|decides| n4
      "
    `)
    const { total, groups } = await ledger.cost({ runId })
    expect(total).toMatchObject({ modelCalls: 2, inputTokens: 1_900, outputTokens: 1_100, amount: 0.03 })
    expect(groups.map(({ key }) => key)).toEqual(['test-owl-2026'])
    const first = (await eventsOf(ledger, runId)).find(({ payload }) => payload['usage'])
    expect(first?.payload['usage']).toMatchObject({ inputTokens: 900, cacheReadTokens: 400 })
  })

  it('R2 a model that fails fails its step and its run, with the error', async () => {
    const ledger = open()
    const model = new HttpModel(await serve([]))
    const call = ChatPromptTemplate.fromTemplate('{q}').pipe(model).pipe(new StringOutputParser())
    const callbacks = [new ClewCallbackHandler({ ledger })]
    await expect(call.invoke({ q: 'x' }, { callbacks })).rejects.toThrow('the server said 500')
    const runId = await onlyRun(ledger)
    expect(await ledger.getRun(runId)).toMatchObject({
      status: 'failed',
      error: { message: 'the server said 500' },
    })
    const steps = await ledger.getSteps(runId)
    expect(steps.map(({ nodeName, kind, status }) => [nodeName, kind, status])).toEqual([
      ['ChatPromptTemplate', 'chain', 'completed'],
      ['HttpModel', 'model', 'failed'],
    ])
  })
})

describe('failing to record', () => {
  it('L5 raiseError: an append that fails is the call’s error, and the next call is recorded', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger, raiseError: true })
    const call = RunnableLambda.from((text: string) => text)
    vi.spyOn(ledger, 'append').mockRejectedValueOnce(new Error('the disk is full'))
    await expect(call.invoke('a', { callbacks: [handler] })).rejects.toThrow('the disk is full')
    expect(await call.invoke('b', { callbacks: [handler] })).toBe('b')
    expect((await ledger.listRuns()).runs).toHaveLength(1)
  })

  it('L5 never fails the call otherwise: LangChain warns and goes on', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue()
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger })
    vi.spyOn(ledger, 'append').mockRejectedValue(new Error('the disk is full'))
    const call = RunnableLambda.from((text: string) => text)
    expect(await call.invoke('a', { callbacks: [handler] })).toBe('a')
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('the disk is full'))
  })

  it('L5 when a callback has answered, its events are committed', async () => {
    const ledger = open()
    let seen = 0
    const look = RunnableLambda.from(async (_: string, config) => {
      await new FakeListChatModel({ responses: ['y'] }).invoke('x', config)
      seen = (await ledger.stats()).events
      return 'ok'
    })
    await look.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    expect(seen).toBe(5)
  })
})

it('A4 waits for its commits, and is one object however often it is copied', () => {
  const handler = new ClewCallbackHandler({ ledger: open() })
  expect(handler.awaitHandlers).toBe(true)
  expect(handler.copy()).toBe(handler)
})
