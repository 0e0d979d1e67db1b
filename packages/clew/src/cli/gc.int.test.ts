import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ForeignType, foreignType, type Ledger, type RecordInput } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-gc-'))
const url = `sqlite:${join(folder, 'ledger.db')}`
const policy = join(folder, 'policy.json')

const start = (...args: readonly string[]) =>
  startNode(folder, [BIN, ...args], { CLEW_STORE: url, COLUMNS: '100' })
const clew = (...args: readonly string[]): Promise<Ended> => ended(start(...args))

const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  (JSON.parse((await clew(...args, '--json')).stdout) as { data: Record<string, unknown> }).data

async function addRun(ledger: Ledger, runId: string, agent: string, notes: number): Promise<void> {
  const notesOf = Array.from(
    { length: notes },
    (_, n): RecordInput<ForeignType> => ({
      eventType: foreignType('execution.note'),
      correlationId: runId,
      payload: { n },
    }),
  )
  await ledger.append([
    { eventType: 'system.workflow_started', correlationId: runId, payload: { agent } },
    ...notesOf,
    { eventType: 'system.workflow_completed', correlationId: runId },
  ])
}

beforeAll(async () => {
  writeFileSync(policy, JSON.stringify({ rules: [{ name: 'old', match: { agent: 'old' }, newest: 0 }] }))
  const ledger = await openLedger(url)
  await addRun(ledger, 'first', 'old', 3)
  await addRun(ledger, 'second', 'old', 3)
  await addRun(ledger, 'other', 'new', 3)
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('clew hold', () => {
  it('P4 sets a hold on a run, lists it, and releases it; gc says why the run stays', {
    timeout: 120_000,
  }, async () => {
    const held = await clew('hold', 'add', '--run', 'first', '--reason', 'case 12', '--by', 'legal')
    expect([held.code, held.stdout]).toEqual([0, expect.stringContaining('Held: run first.')])
    const { holds } = (await json('hold', 'list')) as { holds: { holdId: string }[] }
    expect(holds).toMatchObject([{ target: { runId: 'first' }, reason: 'case 12', by: 'legal' }])

    const plan = await clew('gc', '--policy', policy, '--dry-run')
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/first +old +hold .*case 12/)])
    const released = await clew('hold', 'release', holds[0]?.holdId ?? '', '--by', 'legal')
    expect([released.code, released.stdout]).toEqual([0, expect.stringContaining('Released: run first.')])
    expect((await clew('hold', 'list')).stdout).toContain('Nothing is held.')
  })
})

describe('clew gc', () => {
  it('P4 shows what would go and why, then lets it go, and verify is green', {
    timeout: 120_000,
  }, async () => {
    const plan = await clew('gc', '--policy', policy, '--dry-run')
    expect(plan.stdout).toMatch(/RUN +SEQ +DELETES +RULE/)
    expect(plan.stdout).toMatch(/first +1–5 +run +old/)
    expect(plan.stdout).toContain('Would be deleted: 10 events of 2 runs, 2 runs as a whole (old 10 events).')
    const done = await json('gc', '--policy', policy, '--by', 'ann')
    expect(done).toMatchObject({ dryRun: false, events: 10, runs: 2, kept: [] })
    const verified = await clew('verify')
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining('10 events of 2 runs were pruned'),
    ])
    expect((await clew('compliance')).stdout).toMatch(/ann .*pruned/)
  })

  it('P4 wants a policy that it can read', { timeout: 120_000 }, async () => {
    const none = await clew('gc')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--policy FILE')])
    writeFileSync(join(folder, 'bad.json'), JSON.stringify({ rules: [{ newest: -1 }] }))
    const bad = await clew('gc', '--policy', 'bad.json')
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('rules')])
  })

  it('P4 killed in the middle it leaves whole batches, and the next one goes on', {
    timeout: 240_000,
  }, async () => {
    const ledger = await openLedger(url)
    for (let n = 0; n < 100; n++) await addRun(ledger, `many-${n}`, 'old', 198)
    const before = (await ledger.stats()).events
    const child = start('gc', '--policy', policy)
    const closed = once(child, 'close')
    // Beside a writer it takes rests, so that there is a middle.
    for (let n = 0; (await ledger.stats()).events - n >= before && child.exitCode === null; n++)
      await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'live', payload: { n } })
    child.kill('SIGKILL')
    await closed
    const { ok, pruned } = await ledger.verify()
    expect([ok, pruned.length > 2]).toEqual([true, true])
    const left = await json('gc', '--policy', policy)
    expect((await clew('gc', '--policy', policy)).stdout).toContain('Nothing was deleted.')
    expect(left['events']).toBeGreaterThan(0)
    expect(left['events']).toBeLessThan(20_000)
    expect((await ledger.verify()).ok).toBe(true)
    expect((await ledger.listRuns({ agent: 'old' })).runs).toEqual([])
    await ledger.close()
  })
})
