import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import type { Run } from '@clew/runtime'
import { countMice, KEY, QUESTION, type Said, type Talk } from './talk.ts'

export const talkByAi = async (run: Run, { url, isStreamed }: Talk): Promise<Said> => {
  const provider = createOpenAICompatible({
    name: 'local',
    baseURL: `${url}/v1`,
    apiKey: KEY,
    includeUsage: true,
  })
  const used: string[] = []
  const count_mice = tool({
    inputSchema: z.object({ place: z.string() }),
    async execute({ place }) {
      used.push(await countMice(run, place))
      return used.at(-1)
    },
  })
  const asked = {
    model: provider('small-model'),
    prompt: QUESTION,
    tools: { count_mice },
    stopWhen: stepCountIs(3),
  }
  if (!isStreamed) {
    const { text, totalUsage } = await generateText(asked)
    return { pieces: [text], tools: used, tokens: totalUsage.totalTokens }
  }
  const result = streamText(asked)
  const pieces: string[] = []
  for await (const text of result.textStream) pieces.push(text)
  return { pieces, tools: used, tokens: (await result.totalUsage).totalTokens }
}
