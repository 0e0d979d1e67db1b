import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger, RetentionReport, WireEvent } from '@clew/ledger'
import { createToken } from '@clew/server/tokens'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordRun, type Served, serve } from './served.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-retention-'))
let served: Served
const tokens: Record<string, string> = {}

beforeAll(async () => {
  async function prepare(ledger: Ledger): Promise<void> {
    const blue = ledger.in('blue')
    for (const runId of ['red-1', 'red-2']) await recordRun(ledger, runId)
    await recordStates(ledger.in('green'), 'green-1')
    await recordRun(blue, 'blue-1')
    await blue.hold({ runId: 'blue-1' }, { reason: 'case of blue', by: 'bob' })
    await blue.setPolicy({ retention: { rules: [{ name: 'all of blue', newest: 0 }] } }, { by: 'bob' })
    await ledger.setPolicy({ retention: { rules: [{ name: 'all of red', newest: 0 }] } }, { by: 'ann' })
    for (const [name, scopes, workspace] of [
      ['red', ['admin'], 'default'],
      ['blue', ['admin'], 'blue'],
      ['green', ['read'], 'green'],
      ['reader', ['read', 'write', 'control'], 'default'],
    ] as const)
      tokens[name] = (await createToken(ledger, { name, scopes, workspace, expiresAt: null })).token
  }
  served = await serve({ tokens: true }, prepare, `sqlite:${join(folder, 'clew.db')}`)
})
afterAll(async () => {
  await served.close()
  rmSync(folder, { recursive: true })
})

/** Three supersteps with their whole states, of which the newest is kept, and then an event is erased. */
async function recordStates(ledger: Ledger, runId: string): Promise<void> {
  const at = (eventType: string, payload: Record<string, unknown>) => ({
    eventType,
    correlationId: runId,
    payload,
  })
  const superstep = (n: number) =>
    at('execution.step_completed', {
      stepId: `say@s${n}`,
      output: { word: n },
      checkpoint: {
        superstep: n,
        next: [],
        operations: [],
        baseSeq: n + 2,
        state: { word: n },
        versions: {},
      },
    })
  await ledger.append([at('system.workflow_started', { threadId: 't' }), ...[0, 1, 2].map(superstep)])
  const [message] = await ledger.append([
    at('execution.message', { role: 'user', content: 'hello' }),
    at('system.workflow_completed', {}),
  ])
  await ledger.pruneStates(runId, { keep: 'latest' })
  await ledger.erase({ eventId: message?.eventId ?? '' })
}

const ask = (name: string, workspace: string) =>
  served.fetch(`/v1/retention?workspace=${workspace}`, { token: tokens[name] })

describe('GET /v1/retention', () => {
  it('R10 A2 tells each workspace of its own runs, holds, policy and plan alone', async () => {
    const red = (await (await ask('red', 'default')).json()) as RetentionReport
    expect(red).toMatchObject({ workspace: 'default', runs: 2, holds: [], policy: { by: 'ann' } })
    expect(red.goes?.rules).toEqual([{ rule: 'all of red', runs: 2, events: 10 }])
    expect(red.size.isShared).toBe(true)
    expect(JSON.stringify(red)).not.toMatch(/blue|"bob"/)
    const blue = (await (await ask('blue', 'blue')).json()) as RetentionReport
    expect(blue).toMatchObject({ workspace: 'blue', runs: 1, holds: [{ runs: 1 }], policy: { by: 'bob' } })
    expect(blue.goes).toMatchObject({ events: 0, kept: [{ runId: 'blue-1', rule: 'all of blue' }] })
    expect(JSON.stringify(blue)).not.toMatch(/red-\d|of red|"ann"/)
  })

  it('A2 needs admin, and another workspace is not there', async () => {
    expect((await ask('none', 'default')).status).toBe(401)
    expect((await ask('reader', 'default')).status).toBe(403)
    expect((await ask('red', 'blue')).status).toBe(404)
  })
})

it('A2 GET /v1/doctor names no workspace but the one that is asked about', async () => {
  const answer = await served.fetch('/v1/doctor?workspace=default', { token: tokens['red'] })
  const { checks } = (await answer.json()) as { checks: { name: string; detail: string }[] }
  expect(checks.find(({ name }) => name === 'workspaces')?.detail).toBe('default')
  expect(JSON.stringify(checks)).not.toContain('blue')
})

it('E2 an event whose payload went with its state says pruned over HTTP, an erased one does not', async () => {
  const { events } = (await (
    await served.fetch('/v1/runs/green-1/events?workspace=green', { token: tokens['green'] })
  ).json()) as { events: WireEvent[] }
  expect(events.map(({ payload, ledger }) => [payload, ledger.erased, ledger.pruned])).toEqual([
    [{ threadId: 't' }, undefined, undefined],
    [{}, true, true],
    [{}, true, true],
    [expect.objectContaining({ stepId: 'say@s2' }), undefined, undefined],
    [{}, true, undefined],
    [{}, undefined, undefined],
  ])
})
