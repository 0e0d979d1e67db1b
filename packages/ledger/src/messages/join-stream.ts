import { isObject } from '../json.ts'

interface StreamedCall {
  id: unknown
  name: string
  arguments: string
}

/** Joins the parts of a streamed answer into the form of the same answer without streaming. */
export function joinStream(parts: readonly unknown[]): Record<string, unknown> {
  let content = ''
  let reasoning = ''
  let model: unknown
  const calls = new Map<string, StreamedCall>()
  const items: unknown[] = []

  const callAt = (index: unknown): StreamedCall => {
    const key = String(index)
    const known = calls.get(key) ?? { id: undefined, name: '', arguments: '' }
    calls.set(key, known)
    return known
  }

  for (const part of parts) {
    if (!isObject(part)) continue
    const { response, message, delta, content_block: block, index } = part
    // OpenAI's responses API repeats the whole answer in its last part.
    if (isObject(response) && Array.isArray(response['output']) && response['output'].length > 0)
      return response
    if (part['type'] === 'response.output_item.done') items.push(part['item'])
    model ??= part['model'] ?? part['modelVersion'] ?? (isObject(message) ? message['model'] : undefined)
    if (isObject(block) && block['type'] === 'tool_use')
      Object.assign(callAt(index), { id: block['id'], name: String(block['name']) })
    if (isObject(delta)) {
      content += textIn(delta['text'])
      reasoning += textIn(delta['thinking'])
      if (typeof delta['partial_json'] === 'string') callAt(index).arguments += delta['partial_json']
    }
    for (const { delta: piece } of listIn(part['choices']).slice(0, 1))
      if (isObject(piece)) {
        content += textIn(piece['content'])
        reasoning += textIn(piece['reasoning_content'] ?? piece['reasoning'])
        for (const call of listIn(piece['tool_calls'])) addCall(callAt(call['index'] ?? calls.size), call)
      }
    for (const { content: said } of listIn(part['candidates']).slice(0, 1))
      for (const each of isObject(said) ? listIn(said['parts']) : []) {
        if (each['thought'] === true) reasoning += textIn(each['text'])
        else content += textIn(each['text'])
        const { functionCall: called } = each
        if (isObject(called))
          Object.assign(callAt(calls.size), {
            name: String(called['name']),
            arguments: JSON.stringify(called['args'] ?? {}),
          })
      }
    // Ollama: one object on each line.
    if (isObject(message) && typeof message['content'] === 'string') {
      content += message['content']
      reasoning += textIn(message['thinking'])
      for (const call of listIn(message['tool_calls'])) addCall(callAt(calls.size), call)
    }
  }
  if (items.length > 0) return { output: items, model }
  const toolCalls = [...calls.values()].filter(({ name }) => name !== '')
  if (content === '' && reasoning === '' && toolCalls.length === 0) return {}
  return {
    model,
    message: { role: 'assistant', content, tool_calls: toolCalls, ...(reasoning !== '' && { reasoning }) },
  }
}

function addCall(known: StreamedCall, call: Record<string, unknown>): void {
  if (typeof call['id'] === 'string' && call['id'] !== '') known.id = call['id']
  const { function: made } = call
  if (!isObject(made)) return
  known.name += textIn(made['name'])
  known.arguments +=
    typeof made['arguments'] === 'object' ? JSON.stringify(made['arguments']) : textIn(made['arguments'])
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
const listIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
