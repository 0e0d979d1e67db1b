import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIT_RUN_ID } from '@clew/ledger'
import { openLedger } from '../../packages/clew/src/index.ts'
import { findBytes, NEEDLES, recordCustomers, SUBJECT, WORD } from './world.ts'

const ROUNDS = 10
const CHILD = new URL('erase-child.ts', import.meta.url).pathname

async function eraseInChild(folder: string, killAt: number): Promise<{ signal: unknown; calls: number }> {
  const child = spawn(process.execPath, [CHILD, join(folder, 'clew.db'), String(killAt)])
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(text)
  return { signal, calls: Number(text) }
}

/** Unsalted digests of what was said: they would confirm a guess as well as the text. */
function digestsIn(path: string): Buffer[] {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare(`SELECT hash FROM nodes WHERE instr(body, ?) > 0`).all(WORD)
  const salts = db
    .prepare(
      'SELECT p.salt FROM payloads p JOIN events e ON e.position = p.position JOIN subjects s ON s.run = e.run',
    )
    .all()
  db.close()
  return [...rows.map((row) => row['hash']), ...salts.map((row) => row['salt'])].map((blob) =>
    Buffer.from(blob as Uint8Array),
  )
}

describe('P5 erasure on real files', () => {
  const base = mkdtempSync(join(tmpdir(), 'clew-erasure-'))
  const template = join(base, 'template')
  let digests: Buffer[] = []
  let calls = 0

  const copyTo = (name: string): string => {
    cpSync(template, join(base, name), { recursive: true })
    return join(base, name)
  }

  beforeAll(async () => {
    const ledger = await openLedger(`sqlite:${join(template, 'clew.db')}`)
    await recordCustomers(ledger, 40)
    await ledger.search(WORD)
    await ledger.close()
    digests = digestsIn(join(template, 'clew.db'))
    calls = (await eraseInChild(copyTo('whole'), 0)).calls
  }, 120_000)
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  it('P5 no byte of it is left in any file, in whatever encoding, nor a digest of it', async () => {
    expect(findBytes(template)).not.toEqual([])
    expect(digests.length).toBeGreaterThan(40)
    expect(findBytes(template, digests).length).toBeGreaterThan(0)
    expect(findBytes(join(base, 'whole'))).toEqual([])
    expect(findBytes(join(base, 'whole'), digests)).toEqual([])
  })

  it(`P5 a kill at ${ROUNDS} places leaves all or nothing to be read, and the next erasure ends it`, async () => {
    expect(calls).toBeGreaterThan(100)
    const outcomes = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const killAt = 1 + Math.floor(((round + Math.random()) * calls) / ROUNDS)
      const folder = copyTo(`round-${round}`)
      const { signal } = await eraseInChild(folder, killAt)
      const where = `killed at ${killAt} of ${calls}`
      const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
      const events = await Array.fromAsync(ledger.follow({ live: false }))
      const erased = events.filter((event) => event.ledger.erased)
      const audits = events.filter((event) => event.correlationId === AUDIT_RUN_ID)
      const found = (await ledger.search(WORD, { catchUpMs: 5000 })).hits.length
      outcomes.add(erased.length === 0 ? 'before' : 'after')
      if (erased.length === 0) expect([found, audits.length], where).toEqual([8, 0])
      else expect([erased.length, found, audits.length], where).toEqual([56, 0, 1])
      expect((await ledger.verify(undefined, { projections: true })).problems, where).toEqual([])
      await ledger.erase({ subject: SUBJECT }, { by: 'again' })
      expect(findBytes(folder, [...NEEDLES, ...digests]), where).toEqual([])
      expect((await ledger.verify(undefined, { projections: true })).problems, where).toEqual([])
      expect((await ledger.search('ordinary')).hits.length, where).toBeGreaterThan(0)
      await ledger.close()
      expect(findBytes(folder), where).toEqual([])
      expect(signal).toBe('SIGKILL')
      rmSync(folder, { recursive: true })
    }
    expect([...outcomes].sort()).toEqual(['after', 'before'])
  }, 180_000)
})
