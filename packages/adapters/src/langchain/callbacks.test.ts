import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClewEvent, formatMermaid, formatTranscriptText, type Ledger } from '@clew/ledger'
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { CallbackManager } from '@langchain/core/callbacks/manager'
import { Document } from '@langchain/core/documents'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
} from '@langchain/core/messages'
import { StringOutputParser } from '@langchain/core/output_parsers'
import type { ChatResult } from '@langchain/core/outputs'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { BaseRetriever } from '@langchain/core/retrievers'
import { RunnableLambda, RunnableParallel } from '@langchain/core/runnables'
import { type StructuredToolInterface, tool } from '@langchain/core/tools'
import { FakeListChatModel, FakeLLM, FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { ClewCallbackHandler, type SessionTrace, type StepCompletion } from './index.ts'

const servers: Server[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) server.close()
})

const open = (): Ledger => createMemoryWorld().open()

async function onlyRun(ledger: Ledger): Promise<string> {
  const { runs } = await ledger.listRuns()
  expect(runs).toHaveLength(1)
  return runs[0]?.runId as string
}

const eventsOf = (ledger: Ledger, runId: string): Promise<ClewEvent[]> => Array.fromAsync(ledger.read(runId))

/** Type, step, and the place of the cause: the shape of a run. */
function shape(events: readonly ClewEvent[]): string[] {
  const places = new Map(events.map((event, at) => [event.eventId, at + 1]))
  return events.map(({ eventType, payload, causationId }, at) => {
    const cause = causationId === null ? '-' : (places.get(causationId) ?? '?')
    const about = [payload['stepId'], payload['role'], payload['agent']].find(
      (each) => typeof each === 'string',
    )
    return `${at + 1} <- ${cause} ${eventType.replace(/^(execution|system)\./, '')} ${about ?? ''}`.trim()
  })
}

const owl = tool(({ place }: { place: string }) => `3 owls in ${place}`, {
  name: 'count_owls',
  description: 'counts owls',
  schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}) as StructuredToolInterface
const broken: StructuredToolInterface = tool(
  () => {
    throw new TypeError('the net is torn')
  },
  { name: 'catch_owl', description: 'fails', schema: { type: 'object', properties: {} } },
)

class Shelf extends BaseRetriever {
  override lc_namespace = ['test']
  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    return [
      new Document({
        pageContent: `About ${query}`,
        metadata: { title: 'Owls', url: 'https://birds.example/owls' },
      }),
      new Document({ pageContent: 'A note', metadata: { source: 'notes/owls.txt' } }),
    ]
  }
}

/** Says what it was told to say, as it is. */
class Scripted extends BaseChatModel {
  readonly answer: AIMessage
  constructor(answer: AIMessage) {
    super({})
    this.answer = answer
  }
  _llmType(): string {
    return 'scripted'
  }
  override async _generate(): Promise<ChatResult> {
    return { generations: [{ text: this.answer.text, message: this.answer }] }
  }
}

/** A chat model that asks an OpenAI-compatible server over HTTP, as the packages of the makers do. */
class HttpModel extends BaseChatModel {
  readonly url: string
  constructor(url: string) {
    super({ maxRetries: 0 })
    this.url = url
  }
  _llmType(): string {
    return 'http'
  }
  override invocationParams(): Record<string, unknown> {
    return { model: 'test-owl' }
  }
  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'test-owl',
        messages: messages.map((each) => ({ role: each.type, content: each.content })),
      }),
    })
    if (!answer.ok) throw new Error(`the server said ${answer.status}`)
    const { choices, usage, model } = (await answer.json()) as {
      choices: { message: { content: string; reasoning_content?: string; tool_calls?: never[] } }[]
      usage: Record<string, number>
      model: string
    }
    const said = choices[0]?.message
    const calls = (said?.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[]
    const message = new AIMessage({
      content: said?.content ?? '',
      additional_kwargs: said?.reasoning_content ? { reasoning_content: said.reasoning_content } : {},
      response_metadata: { model_name: model },
      tool_calls: calls.map(({ id, function: { name, arguments: args } }) => ({
        id,
        name,
        args: JSON.parse(args) as Record<string, unknown>,
        type: 'tool_call' as const,
      })),
    })
    return { generations: [{ text: message.text, message }], llmOutput: { tokenUsage: usage } }
  }
}

async function serve(answers: readonly object[]): Promise<string> {
  let at = 0
  const server = createServer((_, response) => {
    const answer = answers[at++]
    response.statusCode = answer ? 200 : 500
    response.end(JSON.stringify(answer ?? {}))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`
}

const completion = (message: object, usage: object): object => ({
  model: 'test-owl-2026',
  choices: [{ message }],
  usage,
})

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

describe('which run', () => {
  const hoot = () => new FakeListChatModel({ responses: ['hoot'] })

  it('A4 each call at the top is a run of its own, under the id that LangChain gave it', async () => {
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger })
    const id = '0198f0aa-0000-7000-8000-00000000000a'
    const call = RunnableLambda.from((text: string) => text)
    await Promise.all([
      call.invoke('a', { callbacks: [handler], runId: id }),
      call.invoke('b', { callbacks: [handler] }),
    ])
    const { runs } = await ledger.listRuns()
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(await ledger.getRun(id)).not.toBeNull()
  })

  it('A4 a given run that is there gets steps, again and again, and is neither begun nor ended', async () => {
    const ledger = open()
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'mine',
      payload: { agent: 'me' },
    })
    for (let n = 0; n < 2; n++)
      await hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger, runId: 'mine' })] })
    expect(await ledger.getRun('mine')).toMatchObject({ agent: 'me', status: 'running', steps: 2 })
    await hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger, runId: 'new' })] })
    expect(await ledger.getRun('new')).toMatchObject({ agent: 'FakeListChatModel', status: 'completed' })
  })

  it('L9 inside a step of a run that is recorded by hand, its steps lie below that step', async () => {
    const ledger = open()
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'mine', payload: {} })
    const step = await ledger.record({
      eventType: 'execution.step_started',
      correlationId: 'mine',
      payload: { stepId: 'plan#0', name: 'plan' },
    })
    await ledger.causedBy(step, () =>
      hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] }),
    )
    const steps = await ledger.getSteps('mine')
    expect(steps.map(({ parentStepId }) => parentStepId)).toEqual([null, 'plan#0'])
    const events = await eventsOf(ledger, 'mine')
    expect(events.find(({ payload }) => payload['role'] === 'user')?.causationId).toBe(step.eventId)
  })

  it('R9 inside a run that somebody drives it is a run below, and the driven run stays its owner’s', async () => {
    const ledger = open()
    const lease = await ledger.leases.acquire({ workspace: ledger.workspace, runId: 'driven' })
    const [, step] = await ledger.append(
      [
        { eventType: 'system.workflow_started', correlationId: 'driven', payload: {} },
        {
          eventType: 'execution.step_started',
          correlationId: 'driven',
          payload: { stepId: 'plan#0', name: 'plan' },
        },
      ],
      { epoch: lease.epoch },
    )
    await ledger.causedBy(step as ClewEvent, () =>
      hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] }),
    )
    expect((await ledger.getRun('driven'))?.events).toBe(2)
    const { runs } = await ledger.listRuns()
    const below = runs.find(({ runId }) => runId !== 'driven')
    expect(below).toMatchObject({ parentRunId: 'driven', status: 'completed' })
    const [started] = await eventsOf(ledger, below?.runId as string)
    expect(started).toMatchObject({ causationId: step?.eventId, payload: { parentStepId: 'plan#0' } })
  })
})

describe('calls at once', () => {
  it('L9 steps side by side have one cause, what they call lies in them, and nothing claims the wrong one', async () => {
    const ledger = open()
    const branch = (name: string, waits: number) =>
      RunnableLambda.from(async (text: string, config) => {
        for (const n of [1, 2]) {
          await new Promise((resolve) => setTimeout(resolve, waits))
          await new FakeListChatModel({ responses: [`${name}${n}`] }).invoke(`${text} ${name}${n}`, config)
        }
        return name
      }).withConfig({ runName: name })
    const all = RunnableParallel.from({ a: branch('a', 3), b: branch('b', 1), c: branch('c', 2) })
    await all.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const runId = await onlyRun(ledger)
    const events = await eventsOf(ledger, runId)
    const byId = new Map(events.map((event) => [event.eventId, event]))
    const causeOf = (event: ClewEvent | undefined) => byId.get(event?.causationId ?? '')
    const starts = events.filter(({ eventType }) => eventType === 'execution.step_started')
    expect(starts).toHaveLength(9)
    for (const start of starts) {
      const { stepId, kind } = start.payload as { stepId: string; kind: string }
      if (kind === 'chain') expect(causeOf(start)?.eventType).toBe('system.workflow_started')
      else {
        // Its question, and before that its branch's start or the end of the first call of the same branch.
        const before = causeOf(causeOf(start))
        expect(String(before?.payload['stepId']).split('/')[0]).toBe(stepId.split('/')[0])
      }
    }
    const steps = await ledger.getSteps(runId)
    expect(steps.every(({ status }) => status === 'completed')).toBe(true)
    expect(new Set(steps.map(({ stepId }) => stepId)).size).toBe(9)
  })

  it('L9 after two calls at once directly in one function, the next one names the function’s start', async () => {
    const ledger = open()
    const call = (config: object | undefined) =>
      new FakeListChatModel({ responses: ['y'] }).invoke('x', config)
    const both = RunnableLambda.from(async (_: string, config) => {
      await Promise.all([call(config), call(config)])
      await call(config)
      await call(config)
      return 'done'
    })
    await both.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const events = await eventsOf(ledger, await onlyRun(ledger))
    const starts = events.filter(({ eventType }) => eventType === 'execution.step_started')
    const types = new Map(
      events.map(({ eventId, eventType, payload }) => [
        eventId,
        `${eventType} ${(payload['stepId'] as string | undefined) ?? ''}`,
      ]),
    )
    expect(starts.slice(2).map(({ causationId }) => types.get(causationId ?? ''))).toEqual([
      'system.workflow_started ',
      'execution.step_completed FakeListChatModel#2',
    ])
  })

  it('D3 what a run leaves running ends with it, as stopped', async () => {
    const ledger = open()
    let release: () => void = () => {}
    const slow = RunnableLambda.from(
      () => new Promise<string>((resolve) => (release = () => resolve('late'))),
    ).withConfig({ runName: 'slow' })
    let left: Promise<unknown> | undefined
    const hasty = RunnableLambda.from(async (_: string, config) => {
      left = slow.invoke('x', config)
      await new Promise((resolve) => setTimeout(resolve, 10))
      return 'done'
    })
    await hasty.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    release()
    await left
    const runId = await onlyRun(ledger)
    expect((await ledger.getSteps(runId)).map(({ nodeName, status }) => [nodeName, status])).toEqual([
      ['slow', 'stopped'],
    ])
    expect((await ledger.getRun(runId))?.status).toBe('completed')
  })
})

describe('failing to record', () => {
  it('L5 an append that fails is the call’s error, and the next call is recorded', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger })
    const call = RunnableLambda.from((text: string) => text)
    vi.spyOn(ledger, 'append').mockRejectedValueOnce(new Error('the disk is full'))
    await expect(call.invoke('a', { callbacks: [handler] })).rejects.toThrow('the disk is full')
    expect(await call.invoke('b', { callbacks: [handler] })).toBe('b')
    expect((await ledger.listRuns()).runs).toHaveLength(1)
  })

  it('L5 raiseError: false leaves it to LangChain, which warns and goes on', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue()
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger, raiseError: false })
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

describe('the live trace', () => {
  interface Told {
    readonly stepType: string
    readonly progress: string[]
    completed?: StepCompletion
  }
  const listen = () => {
    const steps: Told[] = []
    const ends: string[] = []
    const trace: SessionTrace = {
      startStep({ stepType }) {
        const step: Told = { stepType, progress: [] }
        steps.push(step)
        return {
          progress: ({ content }) => void step.progress.push(content),
          complete: (completion) => void (step.completed = completion),
        }
      },
      notifyCompleted: () => void ends.push('completed'),
      notifyFailed: ({ message }) => void ends.push(message),
    }
    return { steps, ends, trace }
  }

  it('T1 T4 hears tokens as the text so far, which the ledger does not keep', async () => {
    const ledger = open()
    const { steps, ends, trace } = listen()
    const chunks = ['Let ', 'me ', 'see'].map((content) => new AIMessageChunk({ content }))
    const model = new FakeStreamingChatModel({ chunks })
    for await (const _ of await model.stream('x', {
      callbacks: [new ClewCallbackHandler({ ledger, trace })],
    }));
    expect(steps).toMatchObject([{ stepType: 'thinking', completed: { content: 'Let me see' } }])
    // The last word is held back until it is plain that no secret begins with it.
    expect(steps[0]?.progress).toEqual(['Let ', 'Let me '])
    expect(ends).toEqual(['completed'])
    const types = (await eventsOf(ledger, await onlyRun(ledger))).map(({ eventType }) => eventType)
    expect(types.filter((type) => type === 'execution.message')).toHaveLength(2)
  })

  it('P1 a secret that streams in pieces is not shown', async () => {
    const ledger = open()
    const { steps, trace } = listen()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const chunks = ['key ', secret.slice(0, 7), secret.slice(7), ' end'].map(
      (content) => new AIMessageChunk({ content }),
    )
    const model = new FakeStreamingChatModel({ chunks })
    for await (const _ of await model.stream('x', {
      callbacks: [new ClewCallbackHandler({ ledger, trace })],
    }));
    expect(JSON.stringify(steps)).not.toContain(secret.slice(7))
    expect(steps[0]?.completed?.content).toContain('[redacted:')
  })

  it('T1 T6 tools and retrievers are steps, with their sources; a failure is told', async () => {
    const ledger = open()
    const { steps, ends, trace } = listen()
    const callbacks = [new ClewCallbackHandler({ ledger, trace })]
    await owl.invoke({ place: 'a barn' }, { callbacks })
    await new Shelf().invoke('owls', { callbacks })
    await expect(broken.invoke({}, { callbacks })).rejects.toThrow()
    expect(
      steps.map(({ stepType, completed }) => [stepType, completed?.content ?? completed?.sources?.length]),
    ).toEqual([
      ['tool_call', '3 owls in a barn'],
      ['workspace_search', 2],
      ['tool_call', 'the net is torn'],
    ])
    expect(ends).toEqual(['completed', 'completed', 'the net is torn'])
  })
})

it('A4 waits for its commits and raises by default, and is one object however often it is copied', () => {
  const handler = new ClewCallbackHandler({ ledger: open() })
  expect([handler.awaitHandlers, handler.raiseError]).toEqual([true, true])
  expect(handler.copy()).toBe(handler)
})
