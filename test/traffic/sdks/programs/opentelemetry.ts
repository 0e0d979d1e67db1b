/** OpenTelemetry by hand, in the names of its conventions for generative AI, every span exported when it ends. */
import { SpanKind, trace } from '@opentelemetry/api'
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createExporter, MODEL, QUESTION, startTracing, SYSTEM, timetable } from './ferry.ts'

const provider = startTracing(new SimpleSpanProcessor(createExporter()))
const tracer = trace.getTracer('ferry-desk', '1.2.0')
const part = (content: string) => ({ type: 'text', content })
const CALL = { type: 'tool_call', id: 'call_1', name: 'timetable', arguments: { day: 'Sunday' } }

function chat(input: readonly object[], output: object, inputTokens: number): void {
  tracer.startActiveSpan(
    `chat ${MODEL}`,
    {
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': MODEL,
        'gen_ai.response.model': MODEL,
        'gen_ai.system_instructions': JSON.stringify([part(SYSTEM)]),
        'gen_ai.input.messages': JSON.stringify(input),
        'gen_ai.output.messages': JSON.stringify([output]),
        'gen_ai.usage.input_tokens': inputTokens,
        'gen_ai.usage.output_tokens': 5,
      },
    },
    (span) => span.end(),
  )
}

tracer.startActiveSpan(
  'invoke_agent ferry-desk',
  {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'ferry-desk',
      'gen_ai.conversation.id': 'conversation-1',
    },
  },
  (agent) => {
    const asked = { role: 'user', parts: [part(QUESTION)] }
    const called = { role: 'assistant', parts: [CALL], finish_reason: 'tool_call' }
    chat([asked], called, 20)
    const result = tracer.startActiveSpan(
      'execute_tool timetable',
      {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'timetable',
          'gen_ai.tool.call.id': CALL.id,
          'gen_ai.tool.call.arguments': JSON.stringify(CALL.arguments),
        },
      },
      (span) => {
        const found = timetable(CALL.arguments)
        span.setAttribute('gen_ai.tool.call.result', found)
        span.end()
        return found
      },
    )
    const response = { type: 'tool_call_response', id: CALL.id, response: result }
    const answered = { role: 'assistant', parts: [part('At 09:05.')], finish_reason: 'stop' }
    chat([asked, called, { role: 'tool', parts: [response] }], answered, 40)
    agent.end()
  },
)
await provider.shutdown()
