/** OpenLLMetry: its instrumentation of OpenAI's client, and its spans for an agent and a tool. */
import * as traceloop from '@traceloop/node-server-sdk'
import OpenAI from 'openai'
import { chat } from './chat.ts'
import { API_KEY, createExporter, modelUrl } from './ferry.ts'

traceloop.initialize({
  appName: 'ferry-desk',
  exporter: createExporter(),
  instrumentModules: { openAI: OpenAI },
  silenceInitializationMessage: true,
  telemetryEnabled: false,
  traceloopSyncEnabled: false,
})
const client = new OpenAI({ baseURL: modelUrl, apiKey: API_KEY })
await traceloop.withWorkflow({ name: 'ferry-desk' }, () =>
  chat(client, (name, input, call) => traceloop.withTool({ name }, async () => call(), input)),
)
await traceloop.forceFlush()
process.exit(0)
