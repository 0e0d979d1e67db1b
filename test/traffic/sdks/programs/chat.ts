import type OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { DESCRIPTION, MODEL, QUESTION, SYSTEM, timetable } from './ferry.ts'

const TOOLS: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'timetable',
      description: DESCRIPTION,
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    },
  },
]

type RunTool = (name: string, input: { day: string }, call: () => string) => Promise<string> | string

/** The loop of an agent by hand, over OpenAI's client. `runTool` may put a span around the tool. */
export async function chat(
  client: OpenAI,
  runTool: RunTool = (_name, _input, call) => call(),
): Promise<string> {
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: QUESTION },
  ]
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages, tools: TOOLS })
    const message = choices[0]?.message
    if (!message) throw new Error('the model did not answer')
    messages.push(message)
    if (!message.tool_calls?.length) return message.content ?? ''
    for (const call of message.tool_calls) {
      if (call.type !== 'function') throw new Error(`a call of type ${call.type}`)
      const input = JSON.parse(call.function.arguments) as { day: string }
      const content = await runTool(call.function.name, input, () => timetable(input))
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
}
