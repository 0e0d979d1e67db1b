import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ErasureCertificate } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { verifyCertificate } from '../signing.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-erase-'))
const url = `sqlite:${join(folder, 'ledger.db')}`
// Put together here, so that no scanner takes this file for a leak.
const KEY = ['ghp', 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'].join('_')

const clew = (...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: url, COLUMNS: '100' }))

beforeAll(async () => {
  const ledger = await openLedger(url, { redact: false })
  for (const runId of ['a', 'b'])
    await ledger.append([
      {
        eventType: 'system.workflow_started',
        correlationId: runId,
        payload: { subjects: [`person-${runId}`] },
      },
      {
        eventType: 'execution.note',
        correlationId: runId,
        payload: { text: runId === 'b' ? KEY : 'a heron' },
      },
      { eventType: 'system.workflow_completed', correlationId: runId },
    ])
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('clew erase', () => {
  it('P5 erases a subject, writes a signed certificate, and wants exactly one target', {
    timeout: 60_000,
  }, async () => {
    const wrong = await clew('erase', '--subject', 'x', '--run', 'a')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--subject, --run and --event')])
    const plan = await clew('erase', '--subject', 'person-a', '--dry-run', '--json')
    expect(JSON.parse(plan.stdout)).toMatchObject({ data: { events: 3, dryRun: true, certificate: null } })
    const done = await clew('erase', '--subject', 'person-a', '--by', 'dpo', '--certificate', 'erased.json')
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('3 events in 1 run erased')])
    const certificate = JSON.parse(readFileSync(join(folder, 'erased.json'), 'utf8')) as ErasureCertificate
    expect(await verifyCertificate(certificate)).toBe(true)
    expect(certificate).toMatchObject({ by: 'dpo', events: 3, proof: { runId: 'clew:audit', seq: 1 } })
    expect(readFileSync(join(folder, 'ledger.db')).includes('heron')).toBe(false)
    expect((await clew('verify', '--projections')).code).toBe(0)
  })

  it('P5 doctor --scan names the command that erases what it finds', { timeout: 60_000 }, async () => {
    const scan = await clew('doctor', '--scan')
    expect(scan.code).toBe(1)
    const [, command = ''] = /clew (erase --event b:2) /.exec(scan.stdout) ?? []
    expect(command).toBe('erase --event b:2')
    expect((await clew(...command.split(' '))).code).toBe(0)
    const again = JSON.parse((await clew('doctor', '--scan', '--json')).stdout) as { data: { scan: unknown } }
    expect(again.data.scan).toMatchObject({ total: 0, erase: [] })
  })

  it('V8 exports are noted, and reads where the policy of the workspace asks for it', {
    timeout: 60_000,
  }, async () => {
    const deeds = async (): Promise<string[]> => {
      const { data } = JSON.parse((await clew('compliance', '--json')).stdout) as {
        data: { entries: { who: string; action: string; target: string | null }[] }
      }
      return data.entries.slice(2).map(({ who, action, target }) => `${who} ${action} ${target}`)
    }
    await clew('events', 'a')
    await clew('export', '--run', 'a', '-o', 'a.ndjson')
    expect(existsSync(join(folder, 'a.ndjson'))).toBe(true)
    expect(await deeds()).toEqual(['system/clew export a'])
    const set = await clew('policy', '--set', '{"auditReads":true}', '--by', 'dpo')
    expect([set.code, set.stdout]).toEqual([0, expect.stringContaining('"auditReads": true')])
    await clew('events', 'a')
    expect((await deeds()).slice(1)).toEqual(['dpo policy_changed null', 'system/clew read a'])
  })
})
