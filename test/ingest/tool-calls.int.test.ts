import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { serve } from './served.ts'

const RECORDINGS = new URL('../traffic/recordings/', import.meta.url)
const bodiesOf = (name: string): object[] =>
  JSON.parse(readFileSync(new URL(`${name}.json`, RECORDINGS), 'utf8'))

describe('what recorded SDKs export, over HTTP', () => {
  it.each([
    ['', 'openllmetry', 1],
    ['?toolCalls=auto', 'openllmetry', 1],
    ['?toolCalls=spans', 'openllmetry', 1],
    ['?toolCalls=messages', 'openllmetry', 2],
    ['?toolCalls=spans', 'openinference-openai', 0],
    ['?toolCalls=messages', 'openinference-openai', 1],
  ])('A3 traces%s of %s have %i calls of tools', async (query, name, toolCalls) => {
    const { post, ledger } = await serve()
    for (const body of bodiesOf(name))
      expect(await post(`/v1/traces${query}`, 'application/json', JSON.stringify(body))).toMatchObject({
        status: 200,
        json: {},
      })
    expect((await ledger.listRuns()).runs).toMatchObject([{ toolCalls }])
  })

  it('A3 refuses an unknown value of toolCalls', async () => {
    const { post } = await serve()
    const answer = await post('/v1/traces?toolCalls=twice', 'application/json', '{"resourceSpans":[]}')
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('toolCalls')
  })

  it('A3 log records that belong to no run are counted and fail nothing', async () => {
    const { post, ledger } = await serve()
    const logs = bodiesOf('mastra').find((body) => 'resourceLogs' in body)
    expect(await post('/v1/logs', 'application/json', JSON.stringify(logs))).toMatchObject({
      status: 200,
      json: { partialSuccess: { rejectedLogRecords: '1' } },
    })
    const record = (more: object) => ({ body: { stringValue: 'x' }, ...more })
    const mixed = [record({}), record({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }), record({})]
    const body = { resourceLogs: [{ scopeLogs: [{ logRecords: mixed }] }] }
    expect(await post('/v1/logs', 'application/json', JSON.stringify(body))).toMatchObject({
      status: 200,
      json: { partialSuccess: { rejectedLogRecords: '2' } },
    })
    expect((await ledger.listRuns()).runs).toHaveLength(1)
    const broken = { resourceLogs: [{ scopeLogs: [{ logRecords: [record({ traceId: 'abc' })] }] }] }
    expect((await post('/v1/logs', 'application/json', JSON.stringify(broken))).status).toBe(400)
  })
})
