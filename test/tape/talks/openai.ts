import OpenAI from 'openai'
import type { Run } from '@clew/runtime'
import { countMice, KEY, QUESTION, type Said, type Talk } from './talk.ts'

export const talkByOpenai = async (run: Run, { url, isStreamed }: Talk): Promise<Said> => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'count_mice', parameters: { type: 'object', properties: {} } } },
  ]
  const used: string[] = []
  for (;;) {
    const asked = { model: 'small-model', messages, tools }
    const pieces: string[] = []
    let message: OpenAI.ChatCompletionMessage
    let tokens: number | undefined
    if (isStreamed) {
      const stream = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } })
      for await (const chunk of stream) {
        const text = chunk.choices[0]?.delta.content
        if (text) pieces.push(text)
      }
      const final = await stream.finalChatCompletion()
      message = final.choices[0]?.message as OpenAI.ChatCompletionMessage
      tokens = final.usage?.total_tokens
    } else {
      const final = await client.chat.completions.create(asked)
      message = final.choices[0]?.message as OpenAI.ChatCompletionMessage
      if (message.content) pieces.push(message.content)
      tokens = final.usage?.total_tokens
    }
    if (!message.tool_calls) return { pieces, tools: used, tokens }
    messages.push(message)
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const { place } = JSON.parse(call.function.arguments) as { place: string }
      used.push(await countMice(run, place))
      messages.push({ role: 'tool', tool_call_id: call.id, content: used.at(-1) as string })
    }
  }
}
