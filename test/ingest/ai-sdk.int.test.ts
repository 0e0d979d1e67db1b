import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OpenTelemetry } from '@ai-sdk/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { generateText, stepCountIs, tool } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { serve } from './served.ts'

/** Asks for a tool first, then answers. */
async function startModel(): Promise<string> {
  let calls = 0
  const server = createServer((request, response) => {
    request.resume()
    const message =
      calls++ === 0
        ? {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'call-1',
                type: 'function',
                function: { name: 'timetable', arguments: '{"day":"Sunday"}' },
              },
            ],
          }
        : { role: 'assistant', content: 'At 09:05.' }
    const finish_reason = message.content === null ? 'tool_calls' : 'stop'
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: `chat-${calls}`,
        object: 'chat.completion',
        created: 1,
        model: 'ferry-1',
        choices: [{ index: 0, message, finish_reason }],
        usage: { prompt_tokens: 20 + calls, completion_tokens: 5, total_tokens: 25 + calls },
      }),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

it('A3 the AI SDK tells of a conversation with a tool through its own telemetry', async () => {
  const { url, ledger } = await serve()
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` })
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  const models = createOpenAICompatible({ name: 'local', baseURL: await startModel() })
  const result = await generateText({
    model: models('ferry-1'),
    prompt: 'When does the ferry leave on Sunday?',
    tools: {
      timetable: tool({ inputSchema: z.object({ day: z.string() }), execute: ({ day }) => `${day}: 09:05` }),
    },
    stopWhen: stepCountIs(3),
    telemetry: {
      isEnabled: true,
      recordInputs: true,
      recordOutputs: true,
      functionId: 'boatman',
      integrations: [new OpenTelemetry({ tracer: provider.getTracer('ai') })],
    },
  })
  expect(result.text).toBe('At 09:05.')
  await provider.shutdown()

  const { runs } = await ledger.listRuns()
  expect(runs).toHaveLength(1)
  const [run] = runs
  expect(run).toMatchObject({
    status: 'completed',
    toolCalls: 1,
    modelCalls: 2,
    inputTokens: 43,
    outputTokens: 10,
  })
  const { entries } = await ledger.transcript(run?.runId ?? '')
  const told = JSON.stringify(entries)
  for (const text of ['When does the ferry leave', 'timetable', 'Sunday: 09:05', 'At 09:05.'])
    expect(told).toContain(text)
  const steps = await ledger.getSteps(run?.runId ?? '')
  const ids = new Set(steps.map((step) => step.stepId))
  expect(steps.filter((step) => step.parentStepId === null)).toHaveLength(1)
  expect(steps.every((step) => step.parentStepId === null || ids.has(step.parentStepId))).toBe(true)
})
