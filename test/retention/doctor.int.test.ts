import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foreignType, type RetentionReport } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../packages/clew/test/run-clew.ts'
import { createDatabase, type TestDatabase } from '../postgres/database.ts'
import { agedLines } from './aged-lines.ts'
import { openLedger } from 'clew'

const SECRET = 'a secret that is long enough for all of them'
const folder = mkdtempSync(join(tmpdir(), 'clew-retention-'))
const sqlite = (name: string): string => `sqlite:${join(folder, name)}`
const stores: Record<string, string> = { SQLite: sqlite('aged.db') }
let database: TestDatabase

const clew = (store: string, ...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: store, CLEW_SECRET: SECRET, COLUMNS: '100' }))

const report = async (store: string, ...args: readonly string[]): Promise<RetentionReport> => {
  const { data } = JSON.parse((await clew(store, ...args, '--json')).stdout) as {
    data: RetentionReport & { retention?: RetentionReport }
  }
  return data.retention ?? data
}

beforeAll(async () => {
  database = await createDatabase()
  stores['PostgreSQL'] = database.url
  process.env['CLEW_SECRET'] = SECRET
  for (const url of Object.values(stores)) {
    const ledger = await openLedger(url)
    await ledger.import(agedLines(10))
    await ledger.hold({ runId: 'aged-9-1' }, { reason: 'case 12', by: 'legal' })
    await ledger.close()
  }
}, 120_000)
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(['SQLite', 'PostgreSQL'])('R10 size, growth and a proposed policy on %s', (name) => {
  it('R10 doctor shows them, with the commands that would apply it, and changes nothing', async () => {
    const store = stores[name] ?? ''
    const before = await report(store, 'doctor')
    const { code, stdout } = await clew(store, 'doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/✓ size +\d[\d.]* [KM]B on disk/)
    expect(stdout).toMatch(/✓ growth +[\d.]+ events or .* a day over 7 days/)
    expect(stdout).toMatch(/✓ policy +none: nothing is deleted/)
    expect(stdout).toContain('{"name":"short-term memory","match":{"layer":"short"},"olderThan":"24h"}')
    expect(stdout).toContain('{"name":"session memory","match":{"layer":"session"},"olderThan":"30d"}')
    expect(stdout).toContain('clew retention --save retention.json')
    const after = await report(store, 'doctor')
    expect([after.events, after.runs, after.proposal]).toEqual([before.events, before.runs, before.proposal])
    expect(after.growth.week).toMatchObject({ days: 7, runsPerDay: expect.closeTo(2, 0) as number })
    expect(after.growth.bytesIn30Days).toBeGreaterThan(after.size.bytes)
    expect(after.size.parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(after.size.bytes)
  })

  it('R10 the proposal can be saved, and gc lets go what the report said', async () => {
    const store = stores[name] ?? ''
    const file = `${name}.json`
    const { proposal, holds } = await report(store, 'retention')
    expect(holds).toMatchObject([{ target: { runId: 'aged-9-1' }, runs: 2, reason: 'case 12' }])
    const saved = await clew(store, 'retention', '--save', file)
    expect([saved.code, saved.stdout]).toEqual([
      0,
      expect.stringContaining(`clew gc --policy ${file} --dry-run`),
    ])
    const policy = JSON.parse(readFileSync(join(folder, file), 'utf8')) as object
    expect(policy).toEqual(proposal?.policy)
    expect((await clew(store, 'retention', '--save', file)).stderr).toContain('it already exists')
    const set = await clew(store, 'policy', '--set', JSON.stringify({ retention: policy }), '--by', 'ann')
    expect([set.code, set.stderr]).toEqual([0, ''])
    const inForce = await report(store, 'retention')
    expect(inForce.policy).toMatchObject({ source: 'workspace', by: 'ann', problem: null })
    expect([inForce.goes, inForce.proposal]).toEqual([proposal?.goes, null])
    expect(inForce.goes?.rules).toEqual([{ rule: 'short-term memory', runs: 9, events: 9 }])
    const gone = await clew(store, 'gc', '--by', 'nightly')
    expect([gone.code, gone.stdout]).toEqual([0, expect.stringContaining('Deleted: 9 events of 9 runs')])
    expect(await report(store, 'retention')).toMatchObject({
      lastGc: { by: 'nightly', events: 9, rules: ['short-term memory'] },
      goes: { events: 0 },
    })
  })
})

describe('R10 what is too young or empty', () => {
  it('R10 an empty ledger and one of today say so, and invent no growth', async () => {
    const store = sqlite('young.db')
    const ledger = await openLedger(store)
    const empty = await clew(store, 'doctor')
    expect([empty.code, empty.stdout]).toEqual([0, expect.stringMatching(/growth +nothing is recorded yet/)])
    await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r', payload: {} })
    await ledger.close()
    const { stdout } = await clew(store, 'retention')
    expect(stdout).toMatch(/growth +the record began .*less than a day ago: too young to tell/s)
    expect(stdout).not.toContain('completed runs')
  })

  it('R10 --help has an example', async () => {
    expect((await clew(sqlite('young.db'), 'retention', '--help')).stdout).toContain(
      'Example:\n  $ clew retention --save retention.json',
    )
  })
})

it('P2 doctor reports a vault key that others can read', async () => {
  const store = sqlite('vaulted.db')
  await (await openLedger(store, { vault: true })).close()
  // Long paths are wrapped.
  expect((await clew(store, 'doctor')).stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /vault key .*vaulted\.db\.vault-1\.key, only for its owner/,
  )
  chmodSync(join(folder, 'vaulted.db.vault-1.key'), 0o644)
  const { code, stdout } = await clew(store, 'doctor')
  expect([code, stdout.replaceAll(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringMatching(/vault-1\.key has mode 644: others can read it/),
  ])
})

describe('P1 doctor --scan', () => {
  it('P1 finds secrets that were stored in clear, and quotes none of them', async () => {
    const store = sqlite('told.db')
    const told = ['Zk7', 'qW2', 'pX9'].join('')
    const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    const ledger = await openLedger(store, { redact: false })
    for (const text of [`password: "${told}"`, `use ${token} for it`, 'nothing to see'])
      await ledger.record({ eventType: 'execution.message', correlationId: 'r', payload: { content: text } })
    await ledger.close()
    const { code, stdout } = await clew(store, 'doctor', '--scan', '--json')
    const { scan } = (JSON.parse(stdout) as { data: { scan: { total: number; places: { seq: number }[] } } })
      .data
    expect([code, scan.places.map(({ seq }) => seq)]).toEqual([1, [1, 2]])
    for (const secret of [told, token]) expect(stdout).not.toContain(secret)
    const shown = await clew(store, 'doctor', '--scan')
    expect(shown.stdout).toContain("2 places that today's rules would redact: 3 events read.")
    expect(shown.stdout).not.toContain(told)
  })
})
