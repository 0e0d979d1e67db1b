import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, ended, type Ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-verify-'))
const file = (name: string): string => join(folder, name)
const storeOf = (name: string): string => `sqlite:${file(name)}`
const on = (store: string, ...args: string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: storeOf(store) }))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('L6 clew verify', () => {
  const verifyRuns = 'fine.db'
  interface Found {
    readonly code: number | null
    readonly problems: { runId: string; seq: number | null; problem: string }[]
  }

  beforeAll(async () => {
    const ledger = await openLedger(storeOf(verifyRuns))
    for (let seq = 1; seq <= 8; seq++)
      await ledger.record({
        eventType: seq === 1 ? 'system.workflow_started' : 'execution.message',
        correlationId: 'r',
        payload: { content: `number ${seq}` },
      })
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'other' })
    await ledger.close()
  })

  /** Changes a copy with plain SQL, as somebody would who has the file and first takes its triggers away. */
  async function tamper(name: string, sql: string, ...args: string[]): Promise<Found> {
    copyFileSync(file(verifyRuns), file(name))
    const db = new DatabaseSync(file(name), { enableForeignKeyConstraints: false })
    for (const { name: trigger } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER ${String(trigger)}`)
    db.exec(`CREATE TEMP TABLE r AS SELECT id FROM runs WHERE run_id = 'r'; ${sql}`)
    db.close()
    const { code, stdout } = await on(name, 'verify', '--json', ...args)
    const { data } = JSON.parse(stdout) as { data: { problems: Found['problems'] } }
    return { code, problems: data.problems.map(({ runId, seq, problem }) => ({ runId, seq, problem })) }
  }
  const at = (seq: number): string => `run = (SELECT id FROM r) AND seq = ${seq}`

  it('L6 says yes with 0 when nothing was changed', async () => {
    const { code, stdout } = await on(verifyRuns, 'verify')
    expect([code, stdout.startsWith('✓ Nothing was changed: 9 events checked')]).toEqual([0, true])
  })

  it('L6 finds a flipped byte', async () => {
    const found = await tamper(
      'flipped.db',
      `UPDATE payloads SET body = replace(body, 'number 4', 'number 5') WHERE position = (SELECT position FROM events WHERE ${at(4)})`,
    )
    expect(found).toEqual({ code: 1, problems: [{ runId: 'r', seq: 4, problem: 'changed' }] })
  })

  it('L6 finds a deleted event in the middle', async () => {
    const found = await tamper('deleted.db', `DELETE FROM events WHERE ${at(4)}`)
    expect(found).toEqual({ code: 1, problems: [{ runId: 'r', seq: 4, problem: 'missing' }] })
  })

  it('L6 finds swapped events', async () => {
    const swap = `UPDATE events SET seq = 100 WHERE ${at(4)}; UPDATE events SET seq = 4 WHERE ${at(5)}; UPDATE events SET seq = 5 WHERE ${at(100)}`
    const { code, problems } = await tamper('swapped.db', swap)
    expect([code, problems[0], problems.some(({ seq }) => seq === 5)]).toEqual([
      1,
      { runId: 'r', seq: 4, problem: 'changed' },
      true,
    ])
    expect(problems.every(({ runId, seq }) => runId === 'r' && seq !== null && seq >= 4 && seq <= 6)).toBe(
      true,
    )
  })

  it('L6 finds an inserted event', async () => {
    const { code, problems } = await tamper(
      'inserted.db',
      `UPDATE events SET seq = -seq WHERE run = (SELECT id FROM r) AND seq >= 4;
       UPDATE events SET seq = 1 - seq WHERE run = (SELECT id FROM r) AND seq < 0;
       INSERT INTO events SELECT 1000, run, 4, '00000000-0000-7000-8000-000000000000', event_type, timestamp, origin, runtime,
         causation_id, recorded_at, schema_version, payload_hash, hash, follows FROM events WHERE ${at(3)};
       INSERT INTO payloads SELECT 1000, salt, mac, body FROM payloads WHERE position = (SELECT position FROM events WHERE ${at(3)})`,
    )
    expect([code, problems[0]]).toEqual([1, { runId: 'r', seq: 4, problem: 'changed' }])
  })

  it('L6 finds a truncated tail', async () => {
    const found = await tamper('truncated.db', `DELETE FROM events WHERE ${at(8)}`)
    expect(found).toEqual({ code: 1, problems: [{ runId: 'r', seq: 8, problem: 'truncated' }] })
  })

  it('L6 finds against signed heads what the file alone cannot tell: a tail cut with its head, a removed run', async () => {
    const signed = await on(verifyRuns, 'verify', '--sign-heads', file('heads.json'))
    expect(signed.code).toBe(0)
    expect(statSync(file(`${verifyRuns}.signing.pem`)).mode & 0o777).toBe(0o600)
    expect((await on(verifyRuns, 'verify', '--heads', file('heads.json'))).code).toBe(0)
    const cut = await tamper(
      'cut.db',
      `DELETE FROM events WHERE ${at(8)};
       UPDATE runs SET seq = 7, hash = (SELECT hash FROM events WHERE ${at(7)}) WHERE run_id = 'r';
       DELETE FROM events WHERE run IN (SELECT id FROM runs WHERE run_id = 'other'); DELETE FROM runs WHERE run_id = 'other'`,
      '--heads',
      file('heads.json'),
    )
    expect(cut.code).toBe(1)
    expect(cut.problems).toContainEqual({ runId: 'r', seq: 8, problem: 'truncated' })
    expect(cut.problems).toContainEqual({ runId: 'other', seq: null, problem: 'run_missing' })
  })

  it('shows people where, and does not sign what is wrong', async () => {
    const { code, stdout } = await on('flipped.db', 'verify', '--sign-heads', file('never.json'))
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ 1 problem found/)
    expect(stdout).toMatch(/\nr +4 +changed +its payload is not the one that was recorded\n/)
    expect(existsSync(file('never.json'))).toBe(false)
  })
})
