/** OpenInference around OpenAI's client, below a span of the application, every span exported when it ends. */
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import OpenAI from 'openai'
import { chat } from './chat.ts'
import { API_KEY, createExporter, modelUrl, startTracing } from './ferry.ts'

const provider = startTracing(new SimpleSpanProcessor(createExporter()))
new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI)
const client = new OpenAI({ baseURL: modelUrl, apiKey: API_KEY })
await provider.getTracer('ferry-desk').startActiveSpan('ferry-desk', async (span) => {
  await chat(client)
  span.end()
})
await provider.shutdown()
