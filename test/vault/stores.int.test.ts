import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Ledger, openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'

const redact = { rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] }
const started = {
  eventType: 'system.workflow_started',
  correlationId: 'r',
  payload: { input: 'CODE-000001' },
}
const note = { eventType: 'execution.note', correlationId: 'r', payload: { key: 'CODE-000002' } }
const ended = { eventType: 'system.workflow_completed', correlationId: 'r', payload: {} }
const problemsOf = async (ledger: Ledger): Promise<unknown[]> =>
  (await ledger.verify()).problems.map(({ problem, runId, seq }) => [problem, runId, seq])
const readKey = async (ledger: Ledger): Promise<unknown> =>
  (await Array.fromAsync(ledger.read('r', { restored: true })))[1]?.payload['key']

describe('the vault of a SQLite file', () => {
  let folder: string
  let ledger: Ledger
  let plain: DatabaseSync
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clew-vault-'))
    const file = join(folder, 'clew.db')
    ledger = await openLedger(`sqlite:${file}`, { redact, vault: true })
    await ledger.append([started, note, ended])
    plain = new DatabaseSync(file)
  })
  afterEach(async () => {
    plain.close()
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const rows = (): { position: number; data: Uint8Array }[] =>
    plain.prepare('SELECT position, data FROM vault ORDER BY position').all() as never

  it.each([
    'UPDATE vault SET position = position + 100',
    'UPDATE OR REPLACE vault SET position = 2 WHERE position = 1',
    'INSERT OR REPLACE INTO vault SELECT 1, key_id, data FROM vault WHERE position = 2',
  ])('L2 refuses to move a row to another event: %s', async (sql) => {
    expect(() => plain.exec(sql)).toThrow(/stay with their event/)
    expect(await readKey(ledger)).toBe('CODE-000002')
    expect(await problemsOf(ledger)).toEqual([])
  })

  it('P2 without a row the event is as without a vault; a changed row is found', async () => {
    plain.exec('DELETE FROM vault WHERE position = 1')
    expect(await problemsOf(ledger)).toEqual([])
    plain.exec("UPDATE vault SET data = x'00' || substr(data, 2)")
    await expect(readKey(ledger)).rejects.toMatchObject({ code: 'bad_key', fields: { runId: 'r', seq: 2 } })
    expect(await problemsOf(ledger)).toEqual([['unreadable_vault_row', 'r', 2]])
  })

  it('P5 the bytes of a row are gone from all files after an erasure; a row put back is found', async () => {
    const [, row] = rows()
    const holds = (): boolean =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .some(({ parentPath, name }) =>
          readFileSync(join(parentPath, name)).includes(Buffer.from(row?.data ?? '')),
        )
    expect(holds()).toBe(true)
    await ledger.erase({ runId: 'r' })
    expect([rows(), holds()]).toEqual([[], false])
    plain.prepare("INSERT INTO vault VALUES (2, 'k', ?), (999, 'k', ?)").run(row?.data ?? '', row?.data ?? '')
    expect(await problemsOf(ledger)).toEqual([
      ['stray_vault_row', 'r', 2],
      ['stray_vault_row', '', null],
    ])
  })
})

describe('the vault of a PostgreSQL database', () => {
  let database: TestDatabase
  let ledger: Ledger
  beforeEach(async () => {
    database = await createDatabase()
    ledger = await openLedger(database.url, { redact, vault: { id: 'one', key: randomBytes(32) } })
    await ledger.append([started, note, ended])
  })
  afterEach(async () => {
    await ledger.close()
    await database.drop()
  })
  const plain = (sql: string): ReturnType<TestDatabase['query']> =>
    database.query(`SET search_path = clew; ${sql}`)

  it('L2 refuses to move a row, also where triggers of the usual kind are silent; other changes are found', async () => {
    for (const mode of ['origin', 'replica'])
      await expect(
        plain(`SET session_replication_role = ${mode}; UPDATE vault SET position = position + 9`),
      ).rejects.toThrow(/append-only/)
    expect(await problemsOf(ledger)).toEqual([])
    await plain("UPDATE vault SET data = '\\x00' || substr(data, 2)")
    expect(await problemsOf(ledger)).toEqual([
      ['unreadable_vault_row', 'r', 1],
      ['unreadable_vault_row', 'r', 2],
    ])
  })

  it('P5 rows go with their payloads, and a row put back is found', async () => {
    await plain('CREATE TABLE kept AS SELECT * FROM vault')
    await ledger.erase({ runId: 'r' }, { rewrite: true })
    expect(await database.query('SELECT position FROM clew.vault')).toEqual([])
    await plain(
      "INSERT INTO vault SELECT * FROM kept; INSERT INTO vault SELECT 1, 'k', data FROM kept LIMIT 1",
    )
    expect(await problemsOf(ledger)).toEqual([
      ['stray_vault_row', '', null],
      ['stray_vault_row', 'r', 1],
      ['stray_vault_row', 'r', 2],
    ])
  })
})
