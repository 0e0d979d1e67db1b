import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { type ClewEvent, foreignType, type Ledger, openLedger, type OpenLedgerOptions } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSchema } from '../postgres/database.ts'

const CODE = 'CODE-123456'
const redact = { rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] }
const note = { eventType: foreignType('execution.note'), correlationId: 'r', payload: { key: CODE } }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-vault-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const url = (): string => `sqlite:${join(folder, 'clew.db')}`
const keyFiles = (): string[] => readdirSync(folder).filter((name) => name.includes('.vault-'))
const firstKey = (): string => join(folder, 'clew.db.vault-1.key')
const restored = (ledger: Ledger): Promise<ClewEvent[]> =>
  Array.fromAsync(ledger.read('r', { restored: true }))

async function opened<T>(
  options: OpenLedgerOptions,
  work: (ledger: Ledger) => Promise<T>,
  at = url(),
): Promise<T> {
  const ledger = await openLedger(at, { redact, ...options })
  try {
    return await work(ledger)
  } finally {
    await ledger.close()
  }
}
const record = (ledger: Ledger): Promise<ClewEvent> => ledger.record(note)
const readKey = async (ledger: Ledger): Promise<unknown> => (await restored(ledger)).at(-1)?.payload['key']

describe('P2 vault: true on SQLite', () => {
  it('keeps its key in a file of mode 0600, and the secret nowhere in the files of the store', async () => {
    await opened({ vault: true }, record)
    expect(keyFiles()).toEqual(['clew.db.vault-1.key'])
    expect(statSync(firstKey()).mode & 0o777).toBe(0o600)
    expect(await opened({ vault: true }, readKey)).toBe(CODE)
    for (const name of readdirSync(folder))
      expect([name, readFileSync(join(folder, name)).includes(CODE)]).toEqual([name, false])
  })

  it('makes no file and keeps nothing without the option', async () => {
    await opened({}, record)
    expect(keyFiles()).toEqual([])
    expect(await opened({ vault: true }, readKey)).toMatch(/^\[redacted:code:/)
  })

  it('refuses to open when the key file is lost, and changes nothing; without the vault it opens', async () => {
    await opened({ vault: true }, record)
    const key = readFileSync(firstKey())
    rmSync(firstKey())
    const lost = { code: 'bad_key', fields: { keyId: expect.stringMatching(/^file-1-/) } }
    await expect(opened({ vault: true }, readKey)).rejects.toMatchObject(lost)
    expect(keyFiles()).toEqual([])
    expect(await opened({}, readKey)).toMatch(/^\[redacted:code:/)
    writeFileSync(firstKey(), randomBytes(32).toString('hex'), { mode: 0o600 })
    await expect(opened({ vault: true }, readKey)).rejects.toMatchObject(lost)
    writeFileSync(firstKey(), 'cut short')
    await expect(opened({ vault: true }, readKey)).rejects.toMatchObject({ code: 'bad_key' })
    writeFileSync(firstKey(), key)
    expect(await opened({ vault: true }, readKey)).toBe(CODE)
  })

  it('tightens a key file that others may read', async () => {
    await opened({ vault: true }, record)
    chmodSync(firstKey(), 0o644)
    expect(await opened({ vault: true }, readKey)).toBe(CODE)
    expect(statSync(firstKey()).mode & 0o777).toBe(0o600)
  })

  it('makes no key for who only reads, and reads with the one that is there', async () => {
    await opened({}, record)
    expect(await opened({ vault: true, readOnly: true }, readKey)).toMatch(/^\[redacted:code:/)
    expect(keyFiles()).toEqual([])
    await opened({ vault: true }, record)
    expect(await opened({ vault: true, readOnly: true }, readKey)).toBe(CODE)
  })

  it('a rotation makes a second key file; a process that had the store open reads and writes on', async () => {
    await opened({ vault: true }, async (other) => {
      await record(other)
      const rotated = await opened({ vault: true }, (ledger) => ledger.rotateVault())
      expect(rotated).toEqual({ keyId: expect.stringMatching(/^file-2-/), rows: 1, unreadable: 0 })
      expect(keyFiles()).toEqual(['clew.db.vault-1.key', 'clew.db.vault-2.key'])
      expect(await readKey(other)).toBe(CODE)
      await record(other)
    })
    expect(await opened({ vault: true }, async (ledger) => (await restored(ledger)).length)).toBe(2)
    const again = await opened({ vault: true }, (ledger) => ledger.rotateVault())
    expect(again).toMatchObject({ keyId: expect.stringMatching(/^file-3-/), rows: 2 })
    expect(await opened({ vault: true }, (ledger) => ledger.verify())).toMatchObject({ ok: true })
  })

  it('a damaged row keeps its key and is counted; the others are rotated, and verify names it', async () => {
    await opened({ vault: true }, async (ledger) => {
      for (let n = 0; n < 3; n++) await record(ledger)
    })
    const db = new DatabaseSync(join(folder, 'clew.db'))
    db.exec(
      "UPDATE vault SET data = X'00112233445566778899AABBCCDDEEFF00112233445566778899' WHERE position = 2",
    )
    db.close()
    await opened({ vault: true }, async (ledger) => {
      expect(await ledger.rotateVault()).toMatchObject({ rows: 2, unreadable: 1 })
      const { problems } = await ledger.verify()
      expect(problems).toMatchObject([{ problem: 'unreadable_vault_row', runId: 'r', seq: 2 }])
    })
  })

  it('two that rotate at once lose no key', async () => {
    const ledgers = await Promise.all([1, 2].map(() => openLedger(url(), { redact, vault: true })))
    for (let n = 0; n < 300; n++) await (ledgers[n % 2] as Ledger).record(note)
    await Promise.all(ledgers.map((ledger) => ledger.rotateVault()))
    for (const ledger of ledgers) await ledger.close()
    const keys = await opened({ vault: true }, async (ledger) =>
      (await restored(ledger)).map(({ payload }) => payload['key']),
    )
    expect([keys.length, new Set(keys)]).toEqual([300, new Set([CODE])])
  })

  it('processes that open a new store at once agree on one key', async () => {
    const script = `
      import { foreignType, openLedger } from ${JSON.stringify(import.meta.resolve('clew'))}
      const redact = { rules: [{ kind: 'code', pattern: /CODE-\\d{6}/ }] }
      const ledger = await openLedger(process.argv[1], { redact, vault: true })
      await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r', payload: { key: 'CODE-123456' } })
      await ledger.close()`
    const run = promisify(execFile)
    const args = ['--conditions=@clew/source', '--input-type=module', '-e', script, url()]
    await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, args)))
    expect(keyFiles()).toEqual(['clew.db.vault-1.key'])
    const events = await opened({ vault: true }, restored)
    expect(events.map(({ payload }) => payload['key'])).toEqual([CODE, CODE, CODE, CODE])
  }, 60_000)
})

describe('P2 keys that are given', () => {
  const [one, two] = [
    { id: 'one', key: randomBytes(32) },
    { id: 'two', key: randomBytes(32).toString('base64') },
  ]

  it('rotate by naming the older key, and without it the error names it', async () => {
    await opened({ vault: one }, record)
    expect(keyFiles()).toEqual([])
    await expect(opened({ vault: two }, readKey)).rejects.toMatchObject({
      code: 'bad_key',
      fields: { keyId: 'one', runId: 'r', seq: 1 },
    })
    const both = { ...two, older: [one] }
    expect(await opened({ vault: both }, readKey)).toBe(CODE)
    expect(await opened({ vault: both }, (ledger) => ledger.rotateVault())).toEqual({
      keyId: 'two',
      rows: 1,
      unreadable: 0,
    })
    expect(await opened({ vault: two }, readKey)).toBe(CODE)
  })

  it('another key under the same id is refused before it writes anything', async () => {
    await opened({ vault: one }, record)
    const other = { id: 'one', key: randomBytes(32) }
    await expect(opened({ vault: other }, record)).rejects.toMatchObject({
      code: 'bad_key',
      fields: { keyId: 'one' },
    })
    expect(await opened({ vault: one }, async (ledger) => (await restored(ledger)).length)).toBe(1)
  })

  it('come from a function, which is asked for older ones by their id, and anew at a rotation', async () => {
    const asked: (string | undefined)[] = []
    let current = one as { id: string; key: Buffer | string }
    const vault = async (id?: string) => {
      asked.push(id)
      return id === undefined ? current : [one, two].find((each) => each.id === id)
    }
    await opened({ vault }, async (ledger) => {
      await record(ledger)
      current = two
      expect(await ledger.rotateVault()).toEqual({ keyId: 'two', rows: 1, unreadable: 0 })
      expect(await readKey(ledger)).toBe(CODE)
    })
    expect(asked).toEqual([undefined, undefined])
    current = one
    expect(await opened({ vault }, readKey)).toBe(CODE)
    expect(asked.slice(2)).toEqual([undefined, 'two'])
    await expect(opened({ vault: () => undefined }, readKey)).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('are refused when they are short, named twice, or no keys at all; nothing is made', async () => {
    const bad: unknown[] = [
      { id: 'one', key: 'short' },
      { id: 'one', key: one.key, older: [{ id: 'one', key: one.key }] },
      { id: 'one', key: one.key, older: [{ id: 'zero', key: '' }] },
      'sesame',
      null,
      7,
    ]
    for (const vault of bad)
      await expect(opened({ vault: vault as never }, readKey)).rejects.toMatchObject({ code: 'bad_option' })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('P2 the vault elsewhere', () => {
  it('in memory has a key of its own', async () => {
    await opened(
      { vault: true },
      async (ledger) => expect([await record(ledger), await readKey(ledger)][1]).toBe(CODE),
      'memory:',
    )
  })

  it('on PostgreSQL asks for keys', async () => {
    const place = await createSchema()
    try {
      await expect(opened({ vault: true }, record, place.url)).rejects.toMatchObject({
        code: 'bad_option',
        fields: { option: 'vault' },
      })
      const vault = { id: 'one', key: randomBytes(32) }
      await opened({ vault }, record, place.url)
      expect(await opened({ vault }, readKey, place.url)).toBe(CODE)
      expect(existsSync(firstKey())).toBe(false)
    } finally {
      await place.drop()
    }
  })
})
