import type { ServerResponse } from 'node:http'
import { type Answer, json, startServer, stream, type TestServer } from './server.ts'

/** The words of the reply, as tokens. */
const REPLY = ['The ', 'owl ', 'sees ', '7 ', 'mice ', 'at ', 'night', '.']

interface Asked {
  readonly stream?: boolean
  readonly messages: readonly { role: string; content: unknown }[]
  readonly before: (piece: number) => Promise<void> | undefined
}

/** Waited for before each piece of a streamed answer; requests and pieces count from 0. */
export type Gate = (request: number, piece: number) => Promise<void> | undefined

/**
 * Speaks as two kinds of model servers do. The first question is answered with the call of a tool, what follows a tool's result
 * with text; each of the first `busy` requests with the status that it says.
 */
export const startModelServer = (busy: readonly number[] = [], before?: Gate): Promise<TestServer> => {
  const refusals = [...busy]
  let requests = 0
  const answer: Answer = (seen, response) => {
    const refusal = refusals.shift()
    if (refusal !== undefined) {
      response.setHeader('retry-after', '0.05')
      return json(response, { error: { type: 'overloaded_error', message: 'busy' } }, refusal)
    }
    const request = requests++
    const asked: Asked = {
      ...(JSON.parse(seen.body) as Asked),
      before: (piece) => before?.(request, piece),
    }
    return seen.url.startsWith('/v1/messages') ? answerMessages(asked, response) : answerChat(asked, response)
  }
  return startServer(answer)
}

const hasToolResult = ({ messages }: Asked): boolean =>
  messages.some(
    ({ role, content }) =>
      role === 'tool' || (Array.isArray(content) && JSON.stringify(content).includes('tool_result')),
  )

const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

function answerChat(asked: Asked, response: ServerResponse): void | Promise<void> {
  const base = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'small-model' }
  const usage = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 }
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'count_mice', arguments: '{"place":"barn"}' },
  }
  const isText = hasToolResult(asked)
  if (!asked.stream) {
    const message = isText
      ? { role: 'assistant', content: REPLY.join('') }
      : { role: 'assistant', content: null, tool_calls: [call] }
    const finish_reason = isText ? 'stop' : 'tool_calls'
    return json(response, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    })
  }
  const chunk = (delta: unknown, finish_reason: string | null = null): string =>
    sse({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  const part = (fields: object): string => chunk({ role: 'assistant', tool_calls: [{ index: 0, ...fields }] })
  const pieces = isText
    ? [...REPLY.map((content) => chunk({ role: 'assistant', content })), chunk({}, 'stop')]
    : [
        part({ id: 'call_1', type: 'function', function: { name: 'count_mice', arguments: '' } }),
        part({ function: { arguments: '{"pla' } }),
        part({ function: { arguments: 'ce":"barn"}' } }),
        chunk({}, 'tool_calls'),
      ]
  const last = sse({ ...base, object: 'chat.completion.chunk', choices: [], usage })
  return stream(response, [...pieces, last, sse('[DONE]')], asked)
}

function answerMessages(asked: Asked, response: ServerResponse): void | Promise<void> {
  const isText = hasToolResult(asked)
  const usage = { input_tokens: 12, output_tokens: 8 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'small-model',
    stop_sequence: null,
  }
  const block = isText
    ? { type: 'text', text: REPLY.join('') }
    : { type: 'tool_use', id: 'toolu_1', name: 'count_mice', input: { place: 'barn' } }
  const stop_reason = isText ? 'end_turn' : 'tool_use'
  if (!asked.stream) return json(response, { ...message, content: [block], stop_reason, usage })
  const event = (type: string, fields: object): string => sse({ type, ...fields }, type)
  const deltas = isText
    ? REPLY.map((text) => ({ type: 'text_delta', text }))
    : ['{"pla', 'ce":"barn"}'].map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  const empty = isText ? { type: 'text', text: '' } : { ...block, input: {} }
  return stream(
    response,
    [
      event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
      event('content_block_start', { index: 0, content_block: empty }),
      ...deltas.map((delta) => event('content_block_delta', { index: 0, delta })),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }),
      event('message_stop', {}),
    ],
    asked,
  )
}
