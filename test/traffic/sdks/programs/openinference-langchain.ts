/** OpenInference around LangChain: the ready-made agent of LangGraph. */
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as CallbackManagerModule from '@langchain/core/callbacks/manager'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { API_KEY, DESCRIPTION, MODEL, modelUrl, QUESTION, startTracing, SYSTEM, timetable } from './ferry.ts'

const provider = startTracing()
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(CallbackManagerModule)
const agent = createReactAgent({
  name: 'ferry-desk',
  llm: new ChatOpenAI({ model: MODEL, apiKey: API_KEY, configuration: { baseURL: modelUrl } }),
  tools: [
    tool(timetable, {
      name: 'timetable',
      description: DESCRIPTION,
      schema: z.object({ day: z.string() }),
    }),
  ],
  prompt: SYSTEM,
})
await agent.invoke({ messages: [{ role: 'user', content: QUESTION }] })
await provider.shutdown()
