/** OpenInference around Anthropic's client, below a span of the application. */
import Anthropic from '@anthropic-ai/sdk'
import type { MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import {
  API_KEY,
  DESCRIPTION,
  MODEL,
  modelOrigin,
  QUESTION,
  startTracing,
  SYSTEM,
  timetable,
} from './ferry.ts'

const provider = startTracing()
new AnthropicInstrumentation({ tracerProvider: provider }).manuallyInstrument(Anthropic)
const client = new Anthropic({ baseURL: modelOrigin, apiKey: API_KEY })

async function talk(): Promise<void> {
  const messages: MessageParam[] = [{ role: 'user', content: QUESTION }]
  for (;;) {
    const { content } = await client.messages.create({
      model: MODEL,
      max_tokens: 100,
      system: SYSTEM,
      messages,
      tools: [
        {
          name: 'timetable',
          description: DESCRIPTION,
          input_schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
        },
      ],
    })
    messages.push({ role: 'assistant', content })
    const results = content
      .filter((block) => block.type === 'tool_use')
      .map((block): ToolResultBlockParam => {
        const result = timetable(block.input as { day: string })
        return { type: 'tool_result', tool_use_id: block.id, content: result }
      })
    if (results.length === 0) return
    messages.push({ role: 'user', content: results })
  }
}

await provider.getTracer('ferry-desk').startActiveSpan('ferry-desk', async (span) => {
  await talk()
  span.end()
})
await provider.shutdown()
