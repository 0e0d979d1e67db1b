/** The Agents SDK of OpenAI, its traces as OpenTelemetry by OpenInference. */
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import * as agents from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { API_KEY, DESCRIPTION, MODEL, modelUrl, QUESTION, startTracing, SYSTEM, timetable } from './ferry.ts'

const provider = startTracing()
agents.setDefaultOpenAIClient(new OpenAI({ baseURL: modelUrl, apiKey: API_KEY }))
agents.setOpenAIAPI('chat_completions')
new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents)
const desk = new agents.Agent({
  name: 'ferry-desk',
  instructions: SYSTEM,
  model: MODEL,
  tools: [
    agents.tool({
      name: 'timetable',
      description: DESCRIPTION,
      parameters: z.object({ day: z.string() }),
      execute: timetable,
    }),
  ],
})
await agents.run(desk, QUESTION)
await provider.forceFlush()
await provider.shutdown()
process.exit(0)
