import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldMemory, type MemoryRow, parseMemoryRunId } from '@clew/ledger'
import { type Ledger, openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CrashPoint } from '../crash/crash-points.ts'

const CHILD = join(import.meta.dirname, 'memory-child.ts')
const ITEMS = 30

let folder: string
let database: string
let ledger: Ledger

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-memory-'))
  database = join(folder, 'clew.db')
  ledger = await openLedger(`sqlite:${database}`)
  await Promise.all(
    Array.from({ length: ITEMS }, (_, n) =>
      ledger.memory.put({ layer: 'session', scope: 't', namespace: 'n', key: `k${n}`, value: `number ${n}` }),
    ),
  )
})
afterEach(async () => {
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The signal that ended it; null when it came to its end before the kill. */
async function work(what: string, point?: CrashPoint, after = 1): Promise<NodeJS.Signals | null> {
  const env = { ...process.env, ...(point && { CLEW_CRASH_AT: point, CLEW_CRASH_AFTER: String(after) }) }
  const child = spawn(process.execPath, [CHILD, database, what], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  if (signal === null) expect(code).toBe(0)
  return signal
}

/** What is listed is what the memory runs say, and the record is whole. */
async function checkRows(): Promise<void> {
  const expected: string[] = []
  const { runs } = await ledger.listRuns({ systemRun: 'memory' })
  for (const { runId } of runs) {
    const rows = new Map<string, MemoryRow>()
    for await (const event of ledger.read(runId)) foldMemory(rows, event)
    const { layer, scope } = parseMemoryRunId(runId) ?? { layer: '', scope: '' }
    for (const { key, seq } of rows.values()) expected.push(`${layer} ${scope} ${key} ${seq}`)
  }
  const { items } = await ledger.memory.list({ limit: 1000 })
  const listed = items.map(({ layer, scope, key, version }) => `${layer} ${scope} ${key} ${version}`)
  expect(listed.toSorted()).toEqual(expected.toSorted())
  expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
}

describe('a process that is killed with SIGKILL', () => {
  it.each<[CrashPoint, number]>([
    ['before-begin', 9],
    ['mid-transaction', 40],
    ['before-commit', 15],
    ['after-commit', 25],
  ])('M2 while it promotes: each item is promoted once, whoever goes on: %s', async (point, after) => {
    expect(await work('promote', point, after)).toBe('SIGKILL')
    await checkRows()
    const { length } = (await ledger.memory.list({ layers: ['long'] })).items
    expect(length).toBeLessThan(ITEMS)
    expect(await work('promote')).toBeNull()
    await checkRows()
    expect((await ledger.memory.list({ layers: ['long'] })).items).toHaveLength(ITEMS)
    expect((await ledger.getRun('clew:memory/long/workspace'))?.events).toBe(ITEMS)
  })

  it.each<[CrashPoint, number]>([
    ['mid-transaction', 20],
    ['before-commit', 4],
    ['after-commit', 4],
  ])('M3 while it sweeps: goes on, and nothing is half forgotten: %s', async (point, after) => {
    expect(await work('sweep', point, after)).toBe('SIGKILL')
    await checkRows()
    expect(await work('sweep')).toBeNull()
    await checkRows()
    const { items } = await ledger.memory.list()
    expect(items.map(({ key }) => key).toSorted()).toEqual(['k25', 'k26', 'k27', 'k28', 'k29'])
  })

  it('M1 while it folds rows: the next reader makes them', async () => {
    expect(await work('read', 'mid-transaction', 10)).toBe('SIGKILL')
    await checkRows()
  })
})
