import Anthropic from '@anthropic-ai/sdk'
import type { Run } from '@clew/runtime'
import { countMice, KEY, QUESTION, type Said, type Talk } from './talk.ts'

export const talkByAnthropic = async (run: Run, { url, isStreamed }: Talk): Promise<Said> => {
  const client = new Anthropic({ baseURL: url, apiKey: KEY })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }]
  const tools: Anthropic.Tool[] = [{ name: 'count_mice', input_schema: { type: 'object' } }]
  const used: string[] = []
  for (;;) {
    const asked = { model: 'small-model', max_tokens: 100, messages, tools }
    const pieces: string[] = []
    let message: Anthropic.Message
    if (isStreamed) {
      const stream = client.messages.stream(asked)
      stream.on('text', (text) => void pieces.push(text))
      message = await stream.finalMessage()
    } else {
      message = await client.messages.create(asked)
      for (const block of message.content) if (block.type === 'text') pieces.push(block.text)
    }
    const calls = message.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return { pieces, tools: used, tokens: message.usage.output_tokens }
    messages.push({ role: 'assistant', content: message.content })
    for (const { id, input } of calls) {
      used.push(await countMice(run, (input as { place: string }).place))
      const result = { type: 'tool_result' as const, tool_use_id: id, content: used.at(-1) as string }
      messages.push({ role: 'user', content: [result] })
    }
  }
}
