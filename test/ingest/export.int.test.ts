import { agent, openLedger } from 'clew'
import { decodeOtlpTraces, exportToOtlp, fromOtlpTraces, type OtlpSpan } from 'clew/otel'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from './served.ts'

interface Collector {
  readonly endpoint: string
  readonly spans: OtlpSpan[]
  readonly types: Set<string>
  until(count: number): Promise<void>
  refusing: number
}

/** What takes traces as a collector does; the first ones may be refused. */
async function startCollector(): Promise<Collector> {
  const spans: OtlpSpan[] = []
  const types = new Set<string>()
  let wake = (): void => {}
  const collector = { endpoint: '', spans, types, refusing: 0, until }
  async function until(count: number): Promise<void> {
    while (spans.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request))
    if (collector.refusing-- > 0) return void response.writeHead(503).end()
    types.add(request.headers['content-type'] ?? '')
    for (const { scopeSpans } of decodeOtlpTraces(new Uint8Array(body)).resourceSpans)
      for (const scope of scopeSpans) spans.push(...scope.spans)
    response.end()
    wake()
  }
  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  collector.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
  return collector
}

const boatman = agent('boatman', async (run) => {
  await run.step('plan', {}, (_, inside) => inside.effect('look up', { day: 'Sunday' }, () => ['09:05']))
  await run.step('fail', {}, () => Promise.reject(new Error('no ferry'))).catch(() => undefined)
  return 'done'
})

describe('exportToOtlp', () => {
  it.each(['protobuf', 'json'] as const)('A3 tells steps below their run as spans, as %s', async (format) => {
    const ledger = await openLedger('memory:')
    const collector = await startCollector()
    const stop = new AbortController()
    const exporting = exportToOtlp(ledger, {
      endpoint: collector.endpoint,
      format,
      content: true,
      signal: stop.signal,
    })
    const { runId } = await boatman.start(ledger, {}, { threadId: 't1' })
    await collector.until(4)
    stop.abort()
    await exporting
    const named = (name: string) => collector.spans.find((span) => span.name === name) as OtlpSpan
    const root = named('invoke_agent boatman')
    expect(root).toMatchObject({
      parentSpanId: '',
      attributes: { 'gen_ai.conversation.id': 't1', 'clew.run.id': runId },
    })
    expect(named('plan')).toMatchObject({
      parentSpanId: root.spanId,
      traceId: root.traceId,
      status: { code: 0 },
    })
    expect(named('look up')).toMatchObject({
      parentSpanId: named('plan').spanId,
      attributes: { 'input.value': '{"day":"Sunday"}', 'output.value': '["09:05"]' },
    })
    expect(named('fail').status).toEqual({ code: 2, message: 'no ferry' })
    for (const span of collector.spans)
      expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano)
    expect([...collector.types]).toEqual([format === 'json' ? 'application/json' : 'application/x-protobuf'])
    await ledger.close()
  })

  it('V9 A3 sends again what was refused, and goes on where it was when it is begun anew', async () => {
    const ledger = await openLedger('memory:')
    const collector = await startCollector()
    collector.refusing = 2
    const stop = new AbortController()
    const begin = () => exportToOtlp(ledger, { endpoint: collector.endpoint, signal: stop.signal })
    const begun = {
      eventType: 'execution.step_started',
      correlationId: 'r',
      payload: { stepId: 'a', name: 'a' },
    }
    const ended = { eventType: 'execution.step_completed', correlationId: 'r', payload: { stepId: 'a' } }
    const other = {
      eventType: 'execution.step_completed',
      correlationId: 'r',
      payload: { stepId: 'b', name: 'b' },
    }
    await ledger.append([begun, other])
    const first = begin()
    await collector.until(1)
    stop.abort()
    await first
    // Its start was read by the one before.
    await ledger.append([ended])
    const again = new AbortController()
    const second = exportToOtlp(ledger, { endpoint: collector.endpoint, signal: again.signal })
    await collector.until(2)
    again.abort()
    await second
    expect(collector.spans.map((span) => span.name)).toEqual(['b', 'a'])
    expect(JSON.stringify(collector.spans[1]?.attributes)).not.toContain('value')
    await ledger.close()
  })

  it('A3 what came as spans goes to another Clew as the same spans', async () => {
    const there = await serve()
    const ledger = await openLedger('memory:')
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const span = (nth: number, more: object = {}) => ({
      traceId,
      spanId: `00f067aa0ba902b${nth}`,
      name: `span ${nth}`,
      kind: 3,
      startTimeUnixNano: `176319000000000000${nth}`,
      endTimeUnixNano: `176319000100000000${nth}`,
      attributes: [{ key: 'http.route', value: { stringValue: '/ferry' } }],
      ...more,
    })
    const spans = [span(1), span(2, { parentSpanId: span(1).spanId, status: { code: 2, message: 'wet' } })]
    await ledger.append(fromOtlpTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] }).events)
    const stop = new AbortController()
    const exporting = exportToOtlp(ledger, { endpoint: `${there.url}/v1/traces`, signal: stop.signal })
    for await (const event of there.ledger.follow({ runId: traceId }))
      if (event.eventType === 'system.workflow_completed') break
    stop.abort()
    await exporting
    const stepsOf = async (of: typeof ledger) =>
      (await of.getSteps(traceId)).map(
        ({ stepId, parentStepId, nodeName, status, createdAt, completedAt, error }) => ({
          stepId,
          parentStepId,
          nodeName,
          status,
          createdAt,
          completedAt,
          error: error?.message,
        }),
      )
    expect(await stepsOf(there.ledger)).toEqual(await stepsOf(ledger))
    await ledger.close()
  })
})
