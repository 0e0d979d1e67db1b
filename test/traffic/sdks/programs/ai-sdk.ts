/** The AI SDK with its own telemetry. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OpenTelemetry } from '@ai-sdk/otel'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { API_KEY, DESCRIPTION, MODEL, modelUrl, QUESTION, startTracing, SYSTEM, timetable } from './ferry.ts'

const provider = startTracing()
const models = createOpenAICompatible({ name: 'local', baseURL: modelUrl, apiKey: API_KEY })
await generateText({
  model: models(MODEL),
  instructions: SYSTEM,
  prompt: QUESTION,
  tools: {
    timetable: tool({
      description: DESCRIPTION,
      inputSchema: z.object({ day: z.string() }),
      execute: timetable,
    }),
  },
  stopWhen: stepCountIs(3),
  telemetry: {
    functionId: 'ferry-desk',
    integrations: [new OpenTelemetry({ tracer: provider.getTracer('ai') })],
  },
})
await provider.shutdown()
