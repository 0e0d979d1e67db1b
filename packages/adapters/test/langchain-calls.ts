import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClewEvent, Ledger } from '@clew/ledger'
import { Document } from '@langchain/core/documents'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { BaseRetriever } from '@langchain/core/retrievers'
import { type StructuredToolInterface, tool } from '@langchain/core/tools'
import { expect, onTestFinished } from 'vitest'
import { createMemoryWorld } from './memory-ledger.ts'

export const open = (): Ledger => createMemoryWorld().open()

export async function onlyRun(ledger: Ledger): Promise<string> {
  const { runs } = await ledger.listRuns()
  expect(runs).toHaveLength(1)
  return runs[0]?.runId as string
}

export const eventsOf = (ledger: Ledger, runId: string): Promise<ClewEvent[]> =>
  Array.fromAsync(ledger.read(runId))

/** Type, step, and the place of the cause: the shape of a run. */
export function shape(events: readonly ClewEvent[]): string[] {
  const places = new Map(events.map((event, at) => [event.eventId, at + 1]))
  return events.map(({ eventType, payload, causationId }, at) => {
    const cause = causationId === null ? '-' : (places.get(causationId) ?? '?')
    const about = [payload['stepId'], payload['role'], payload['agent']].find(
      (each) => typeof each === 'string',
    )
    return `${at + 1} <- ${cause} ${eventType.replace(/^(execution|system)\./, '')} ${about ?? ''}`.trim()
  })
}

export const owl = tool(({ place }: { place: string }) => `3 owls in ${place}`, {
  name: 'count_owls',
  description: 'counts owls',
  schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}) as StructuredToolInterface
export const broken: StructuredToolInterface = tool(
  () => {
    throw new TypeError('the net is torn')
  },
  { name: 'catch_owl', description: 'fails', schema: { type: 'object', properties: {} } },
)

export class Shelf extends BaseRetriever {
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
export class Scripted extends BaseChatModel {
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
export class HttpModel extends BaseChatModel {
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

export async function serve(answers: readonly object[]): Promise<string> {
  let at = 0
  const server = createServer((_, response) => {
    const answer = answers[at++]
    response.statusCode = answer ? 200 : 500
    response.end(JSON.stringify(answer ?? {}))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`
}

export const completion = (message: object, usage: object): object => ({
  model: 'test-owl-2026',
  choices: [{ message }],
  usage,
})
