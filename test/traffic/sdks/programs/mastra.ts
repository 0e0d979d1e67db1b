/** Mastra: an agent with a tool, exported by its own exporter for OpenTelemetry. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelExporter } from '@mastra/otel-exporter'
import { z } from 'zod'
import { API_KEY, DESCRIPTION, MODEL, modelUrl, otlpUrl, QUESTION, SYSTEM, timetable } from './ferry.ts'

const desk = new Agent({
  id: 'ferry-desk',
  name: 'ferry-desk',
  instructions: SYSTEM,
  model: createOpenAICompatible({ name: 'local', baseURL: modelUrl, apiKey: API_KEY })(MODEL),
  tools: {
    timetable: createTool({
      id: 'timetable',
      description: DESCRIPTION,
      inputSchema: z.object({ day: z.string() }),
      execute: async (input) => timetable(input),
    }),
  },
})
const mastra = new Mastra({
  agents: { desk },
  logger: false,
  observability: new Observability({
    configs: {
      otel: {
        serviceName: 'ferry-desk',
        exporters: [
          new OtelExporter({
            provider: { custom: { endpoint: `${otlpUrl}/v1/traces`, protocol: 'http/json' } },
          }),
        ],
      },
    },
  }),
})
await mastra.getAgent('desk').generate(QUESTION)
await mastra.observability.shutdown()
process.exit(0)
