import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger, RetentionReport } from '@clew/ledger'
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
    await recordRun(blue, 'blue-1')
    await blue.hold({ runId: 'blue-1' }, { reason: 'case of blue', by: 'bob' })
    await blue.setPolicy({ retention: { rules: [{ name: 'all of blue', newest: 0 }] } }, { by: 'bob' })
    await ledger.setPolicy({ retention: { rules: [{ name: 'all of red', newest: 0 }] } }, { by: 'ann' })
    for (const [name, scopes, workspace] of [
      ['red', ['admin'], 'default'],
      ['blue', ['admin'], 'blue'],
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
