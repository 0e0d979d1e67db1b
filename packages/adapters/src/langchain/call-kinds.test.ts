import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { CallbackManager } from '@langchain/core/callbacks/manager'
import { AIMessage } from '@langchain/core/messages'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { RunnableLambda } from '@langchain/core/runnables'
import { FakeListChatModel, FakeLLM } from '@langchain/core/utils/testing'
import { describe, expect, it } from 'vitest'
import { ClewCallbackHandler } from './index.ts'
import { open, onlyRun, eventsOf, shape, broken, Shelf, Scripted } from '../../test/langchain-calls.ts'

describe('each kind of call', () => {
  it('A4 a tool that fails is a tool error, told once', async () => {
    const ledger = open()
    await expect(broken.invoke({}, { callbacks: [new ClewCallbackHandler({ ledger })] })).rejects.toThrow()
    const runId = await onlyRun(ledger)
    expect(shape(await eventsOf(ledger, runId))).toEqual([
      '1 <- - workflow_started catch_owl',
      '2 <- 1 step_started catch_owl#0',
      '3 <- 1 tool_call catch_owl#0',
      '4 <- 3 tool_error catch_owl#0',
      '5 <- 4 step_failed catch_owl#0',
      '6 <- 5 workflow_failed',
    ])
    const { entries } = await ledger.transcript(runId)
    expect(entries.filter(({ kind }) => kind === 'failure')).toEqual([])
  })

  it('T6 a retriever is a call with its sources', async () => {
    const ledger = open()
    await new Shelf().invoke('owls', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const events = await eventsOf(ledger, await onlyRun(ledger))
    const call = events.find(({ eventType }) => eventType === 'integration.call')
    const answer = events.find(({ eventType }) => eventType === 'integration.response')
    expect(call?.payload).toMatchObject({ service: 'Shelf', operation: 'retrieve', query: 'owls' })
    expect(answer?.causationId).toBe(call?.eventId)
    expect(answer?.payload['sources']).toEqual([
      {
        type: 'web',
        title: 'Owls',
        url: 'https://birds.example/owls',
        domain: 'birds.example',
        snippet: 'About owls',
      },
      { type: 'document', title: 'notes/owls.txt', url: null, domain: null, snippet: 'A note' },
    ])
  })

  it('A4 a plain text model has a prompt and an answer', async () => {
    const ledger = open()
    await new FakeLLM({ response: 'hoot' }).invoke('say it', {
      callbacks: [new ClewCallbackHandler({ ledger })],
    })
    const chat = (await ledger.transcript(await onlyRun(ledger))).entries.filter(
      ({ kind }) => kind === 'message',
    )
    expect(chat).toMatchObject([
      { role: 'user', content: 'say it' },
      { role: 'assistant', content: 'hoot' },
    ])
  })

  it('V7 usage and thinking in the spellings of several makers', async () => {
    const ledger = open()
    const answers = [
      Object.assign(
        new AIMessage({
          content: [
            { type: 'thinking', thinking: 'quietly', signature: 's' },
            { type: 'text', text: 'one' },
          ],
          response_metadata: { model: 'test-a' },
        }),
        {
          usage_metadata: {
            input_tokens: 100,
            output_tokens: 20,
            total_tokens: 120,
            input_token_details: { cache_read: 60, cache_creation: 10 },
            output_token_details: { reasoning: 5 },
          },
        },
      ),
      new AIMessage({
        content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'in short' }] }],
        response_metadata: { model_name: 'test-b', usage: { prompt_tokens: 7, completion_tokens: 3 } },
      }),
    ]
    for (const answer of answers) {
      await new Scripted(answer).invoke('x', {
        callbacks: [new ClewCallbackHandler({ ledger, runId: 'all' })],
      })
    }
    const events = await eventsOf(ledger, 'all')
    const thoughts = events.filter(({ eventType }) => eventType === 'execution.reasoning')
    expect(thoughts.map(({ payload }) => payload['content'])).toEqual(['quietly', 'in short'])
    const used = events.filter(({ payload }) => payload['usage'])
    expect(used.map(({ payload }) => [payload['model'], payload['usage']])).toMatchObject([
      [
        'test-a',
        { inputTokens: 100, outputTokens: 20, cacheReadTokens: 60, cacheWriteTokens: 10, reasoningTokens: 5 },
      ],
      ['test-b', { inputTokens: 7, outputTokens: 3 }],
    ])
    expect((await ledger.cost({ runId: 'all' })).total).toMatchObject({ modelCalls: 2, inputTokens: 107 })
  })

  it('A4 an agent that tells its actions has its thoughts, its choices and its result on record', async () => {
    const ledger = open()
    const manager = CallbackManager.configure([new ClewCallbackHandler({ ledger })])
    const root = await manager?.handleChainStart(
      { lc: 1, type: 'not_implemented', id: ['x'] },
      { input: 'q' },
    )
    const executor = await root
      ?.getChild()
      .handleChainStart({ lc: 1, type: 'not_implemented', id: ['AgentExecutor'] }, { input: 'q' })
    await executor?.handleAgentAction({ tool: 'count_owls', toolInput: 'barn', log: 'I must count.' })
    await executor?.handleAgentEnd({ returnValues: { output: '3' }, log: '' })
    await executor?.handleChainEnd({ output: '3' })
    await root?.handleChainEnd({ output: '3' })
    const events = await eventsOf(ledger, await onlyRun(ledger))
    expect(shape(events)).toEqual([
      '1 <- - workflow_started x',
      '2 <- 1 step_started AgentExecutor#0',
      '3 <- 2 reasoning AgentExecutor#0',
      '4 <- 2 structured_output AgentExecutor#0',
      '5 <- 2 step_completed AgentExecutor#0',
      '6 <- 5 completed',
      '7 <- 6 workflow_completed',
    ])
    expect(events[4]?.payload['decision']).toEqual(['count_owls'])
  })

  it('A4 a chain that is streamed learns its input late, and it is on record', async () => {
    const ledger = open()
    const model = new FakeListChatModel({ responses: ['hoot'] })
    const chain = RunnableLambda.from((text: string) => text)
      .pipe(model)
      .pipe(new StringOutputParser())
    let text = ''
    for await (const part of await chain.stream('say it', {
      callbacks: [new ClewCallbackHandler({ ledger })],
    }))
      text += part
    expect(text).toBe('hoot')
    const runId = await onlyRun(ledger)
    const events = await eventsOf(ledger, runId)
    const inputs = events.map(({ payload }) => JSON.stringify(payload['input'] ?? null))
    expect(inputs.some((input) => input.includes('say it'))).toBe(true)
    expect(
      events.find(({ eventType }) => eventType === 'execution.completed')?.payload['output'],
    ).toMatchObject({
      output: 'hoot',
    })
    expect((await ledger.getSteps(runId)).every(({ status }) => status === 'completed')).toBe(true)
  })

  it('E3 a custom event is kept, as often as it comes', async () => {
    const ledger = open()
    const twice = RunnableLambda.from(async (_: string, config) => {
      for (const n of [1, 1]) await dispatchCustomEvent('seen', { n }, config)
      return 'ok'
    })
    await twice.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const events = await eventsOf(ledger, await onlyRun(ledger))
    expect(events.filter(({ eventType }) => eventType === 'execution.custom_event')).toHaveLength(2)
  })

  it('L8 what a record cannot keep never fails the call', async () => {
    const ledger = open()
    const circle: Record<string, unknown> = {
      at: new Date(0),
      f: () => 1,
      s: Symbol('x'),
      map: new Map([[1, { a: 2n }]]),
    }
    circle['self'] = circle
    class Odd {
      readonly secret = 1
    }
    circle['odd'] = new Odd()
    circle['bytes'] = new Float64Array(2)
    const same = RunnableLambda.from((value: object) => ({ value }))
    await same.invoke(circle, { callbacks: [new ClewCallbackHandler({ ledger })] })
    const [started] = await eventsOf(ledger, await onlyRun(ledger))
    expect(started?.payload['input']).toEqual({
      at: new Date(0),
      f: '[function f]',
      s: '[Symbol(x)]',
      map: new Map([[1, { a: 2n }]]),
      self: '[refers to itself]',
      odd: '[Odd]',
      bytes: '[16 bytes]',
    })
  })
})
