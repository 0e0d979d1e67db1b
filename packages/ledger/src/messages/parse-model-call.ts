import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import { type ParsedMessage, parseMessage, parseMessages } from './parse-message.ts'
import { parseModelReply } from './parse-reply.ts'
import { joinStream } from './join-stream.ts'

/**
 * The conversation that a request sends to a model: `messages` of OpenAI's chats, Anthropic and others, `input` of
 * OpenAI's responses, `contents` of Gemini. Undefined for any other request.
 */
export function parseModelRequest(url: string, body: unknown): ParsedMessage[] | undefined {
  if (!isObject(body)) return undefined
  const { messages, contents, input } = body
  const system = systemOf(body)
  const said = Array.isArray(messages)
    ? parseMessages(messages)
    : Array.isArray(contents)
      ? parseMessages(contents)
      : // Embeddings have an `input` as well, which is not a message.
        input !== undefined && url.endsWith('/responses')
        ? parseInput(input)
        : undefined
  return said && [...system, ...said]
}

function parseInput(input: unknown): ParsedMessage[] | undefined {
  if (typeof input === 'string') return parseMessages({ role: 'user', content: input })
  if (!Array.isArray(input)) return undefined
  // References to items that the server keeps say nothing here.
  return input.flatMap((item) => parseMessage(item) ?? [])
}

function systemOf(body: Record<string, unknown>): ParsedMessage[] {
  const gemini = body['systemInstruction'] ?? body['system_instruction']
  const given = body['system'] ?? body['instructions'] ?? (isObject(gemini) ? gemini['parts'] : gemini)
  if (typeof given !== 'string' && !Array.isArray(given)) return []
  const message = parseMessage({ role: 'system', content: given })
  return message ? [message] : []
}

/** Parses a model's answer from the text of a response, streamed or not. Undefined for any other response. */
export function parseModelResponse(text: string): ParsedMessage | undefined {
  for (const value of valuesOf(text)) {
    const reply = parseModelReply(value)
    if (reply)
      return { ...reply, model: reply.model ?? (isObject(value) ? textOf(value['modelVersion']) : null) }
  }
  return undefined
}

function valuesOf(text: string): unknown[] {
  const whole = parsed(text)
  if (whole.length > 0) return whole
  const parts = text.split(/\r\n|\r|\n/).flatMap((line) => parsed(line.replace(/^data:/, '')))
  return parts.length > 0 ? [joinStream(parts)] : []
}

function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    // Names of events, the mark at the end of a stream, or a line that was cut off.
    return []
  }
}
