import { context, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

/** The one story that every program tells: a question, a call of a tool, its result, an answer. */
export const SYSTEM = 'Answer briefly.'
export const QUESTION = 'When does the ferry leave on Sunday?'
export const MODEL = 'ferry-1'
export const API_KEY = 'sk-local-not-a-secret'
export const DESCRIPTION = 'When ferries leave'
export const timetable = ({ day }: { day: string }): string => `${day}: 09:05`

const variable = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set; run this by test/traffic/record.ts`)
  return value
}

/** Base of the OpenAI API, ending in /v1. Anthropic's API is at the same origin. */
export const modelUrl = variable('MODEL_URL')
export const modelOrigin = new URL(modelUrl).origin
export const otlpUrl = variable('OTLP_URL')

export const createExporter = (): OTLPTraceExporter => new OTLPTraceExporter({ url: `${otlpUrl}/v1/traces` })

/** A tracer provider as applications set it up. */
export function startTracing(
  processor: SpanProcessor = new BatchSpanProcessor(createExporter()),
): NodeTracerProvider {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'ferry-desk' }),
    spanProcessors: [processor],
  })
  provider.register()
  return provider
}

export { context, trace }
