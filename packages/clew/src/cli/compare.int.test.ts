import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { BIN } from '../../test/run-clew.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-compare-'))
const store = `sqlite:${join(folder, 'l.db')}`
const HOSTILE = '\u001b]0;owned\u0007\u202e\u0000 words'

function clew(...args: string[]) {
  const env = { ...process.env, CLEW_STORE: store, COLUMNS: '80' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { env, encoding: 'utf8' })
  return { status, stdout, stderr, data: args.includes('--json') ? JSON.parse(stdout).data : undefined }
}

async function record(runId: string, query: string, ends: string) {
  const ledger = await openLedger(store)
  const step = { stepId: 'search#0', attempt: 1 }
  await ledger.append(
    [
      { eventType: 'system.workflow_started', payload: { agent: 'research', input: { topic: 'owls' } } },
      { eventType: 'execution.message', payload: { role: 'user', content: `Why? ${HOSTILE}` } },
      { eventType: 'execution.step_started', payload: { ...step, name: 'search', input: { query } } },
      {
        eventType: ends === 'completed' ? 'execution.step_completed' : 'execution.step_failed',
        payload:
          ends === 'completed'
            ? { ...step, output: 3, model: 'gpt-4o', usage: { inputTokens: 1000, outputTokens: 10 } }
            : { ...step, error: { name: 'SearchError', message: HOSTILE } },
      },
      { eventType: `system.workflow_${ends}`, payload: {} },
    ].map((event) => ({ ...event, correlationId: runId })),
  )
  await ledger.close()
}

beforeAll(async () => {
  await record('good-1', 'wings', 'completed')
  await record('good-2', 'wings', 'completed')
  await record('bad-1', `feathers ${HOSTILE}`, 'failed')
  const ledger = await openLedger(store)
  await ledger.record({
    eventType: 'execution.message',
    correlationId: 'odd',
    payload: { model: `new ${HOSTILE}`, usage: { inputTokens: 5, outputTokens: 5 } },
  })
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every line fits, and nothing in it drives a terminal. */
function expectTidy(text: string) {
  // oxlint-disable-next-line no-control-regex -- these are the ones to catch
  expect(stripVTControlCharacters(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  for (const line of text.split('\n').slice(0, -2)) expect(line.length).toBeLessThanOrEqual(80)
}

describe('clew diff', () => {
  it('A1 the same is 0, a difference is 1, an unknown run is 2', () => {
    expect(clew('diff', 'good-1', 'good-2').status).toBe(0)
    const found = clew('diff', 'good-1', 'bad')
    expect(found.status).toBe(1)
    expect(found.stdout).toContain('FIRST DIVERGENCE\n  input: the same with another input')
    expect(found.stdout).toContain('$.query')
    expectTidy(found.stdout)
    expect(clew('diff', 'good-1', 'gone').status).toBe(2)
  })

  it('A1 tells all lines with --full, in JSON too', () => {
    expect(clew('diff', 'good-1', 'bad-1', '--json').data.rows).toHaveLength(1)
    expect(clew('diff', 'good-1', 'bad-1', '--json', '--full').data.rows).toHaveLength(3)
    expectTidy(clew('diff', 'good-1', 'bad-1', '--full').stdout)
  })
})

describe('clew explain', () => {
  it('V10 fits on a screen and says where the last good run went on', () => {
    const { stdout, status } = clew('explain', 'bad-1')
    expect(status).toBe(0)
    expect(stdout).toContain('FAILED  search#0')
    expect(stdout).toContain('LAST GOOD RUN  good-2')
    expect(stdout.split('\n').length).toBeLessThan(30)
    expectTidy(stdout)
    expect(clew('explain', 'bad-1', '--json').data.place.because).toBe('failed')
  })
})

describe('clew cost', () => {
  it('V7 adds up what is known and says what is not', () => {
    const { data } = clew('cost', '--json')
    expect(data.total).toMatchObject({ modelCalls: 3, unpricedCalls: 1, complete: false })
    const { stdout } = clew('cost')
    expect(stdout).toMatch(/total +3 .*\$0\.005\d?\+/)
    expect(stdout).toContain('+ means at least: 1 call without a price in dollars')
    expectTidy(stdout)
    expect(clew('cost', 'good-1', '--by', 'agent', '--json').data.groups[0].key).toBe('research')
    expect(clew('cost', '--by', 'nothing').status).toBe(2)
    expect(clew('runs').stdout).toContain('COST')
  })

  it('V7 prices come from the file that CLEW_PRICES names', async () => {
    const file = join(folder, 'prices.json')
    writeFileSync(file, JSON.stringify({ models: { 'house-model': { input: 1, output: 1 } } }))
    process.env['CLEW_PRICES'] = file
    try {
      const ledger = await openLedger('memory:')
      const payload = { model: 'house-model', usage: { inputTokens: 1_000_000, outputTokens: 0 } }
      const event = await ledger.record({ eventType: 'execution.message', correlationId: 'r', payload })
      expect(event.payload['cost']).toMatchObject({ amount: 1, source: 'prices' })
      await ledger.close()
    } finally {
      delete process.env['CLEW_PRICES']
    }
  })
})
