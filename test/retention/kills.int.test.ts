import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { openLedger } from 'clew'
import type { EventInput, Ledger } from '@clew/ledger'
import { createDatabase } from '../postgres/database.ts'

const CHILD = join(import.meta.dirname, 'gc-child.ts')
const RUNS = 27
const EVENTS = 24

const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const stores: Readonly<Record<string, () => Promise<string>>> = {
  async SQLite() {
    const folder = mkdtempSync(join(tmpdir(), 'clew-gc-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    return `sqlite:${join(folder, 'ledger.db')}`
  },
  async PostgreSQL() {
    const database = await createDatabase()
    ends.push(() => database.drop())
    return database.url
  },
}

/** Values of a thread are shared, so that some go with their run and some stay. */
function runOf(runId: string, thread: number): EventInput[] {
  const list = Array.from({ length: EVENTS }, (_, n) => ({ n, text: `${thread} ${n} `.repeat(40) }))
  const note = (n: number): EventInput => ({
    eventType: 'execution.note',
    correlationId: runId,
    payload: { list: list.slice(0, n), own: `${runId} ${n} `.repeat(300) },
  })
  return [
    { eventType: 'system.workflow_started', correlationId: runId, payload: { threadId: `t${thread}` } },
    ...Array.from({ length: EVENTS - 2 }, (_, n) => note(n)),
    { eventType: 'system.workflow_completed', correlationId: runId, payload: {} },
  ]
}

async function fill(ledger: Ledger): Promise<void> {
  for (let n = 0; n < RUNS; n++) await ledger.append(runOf(`run-${n}`, n % 10))
  // What stays: a fork, and with it the beginning of its source; a thread that is held.
  await ledger.append([
    {
      eventType: 'system.workflow_forked',
      correlationId: 'fork',
      payload: { sourceRunId: 'run-3', sourceSeq: 20, threadId: 'of the fork' },
    },
  ])
  await ledger.hold({ threadId: 't7' }, { reason: 'case 12' })
}

/** Kills the child some time after it has said so many lines; true when it came to its end before. */
async function killAfter(url: string, lines: number): Promise<boolean> {
  const child = spawn(process.execPath, [CHILD, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  let said = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('done')) break
    if (++said < lines) continue
    await sleep(Math.random() * 20)
    child.kill('SIGKILL')
    break
  }
  const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null]
  expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL'])
  return signal === null
}

async function read(ledger: Ledger, runId: string): Promise<unknown[]> {
  const events = await Array.fromAsync(ledger.read(runId))
  return events.map(({ payload, ledger: { hash } }) => [payload, hash])
}

describe.each(Object.keys(stores))('P4 a gc that is killed, on %s', (name) => {
  it('P4 leaves a ledger that is whole, and the next one goes on until all is gone', async () => {
    const url = await (stores[name] as () => Promise<string>)()
    const first = await openLedger(url)
    await fill(first)
    const kept = [await read(first, 'fork'), await read(first, 'run-7')]
    await first.close()
    let isDone = false
    for (let round = 0; !isDone && round < 40; round++) {
      isDone = await killAfter(url, 1 + (round % 3))
      const ledger = await openLedger(url)
      const { problems } = await ledger.verify(undefined, { projections: true })
      expect(problems).toEqual([])
      expect([await read(ledger, 'fork'), await read(ledger, 'run-7')]).toEqual(kept)
      for (const { runId } of (await ledger.listRuns({ limit: 500 })).runs)
        expect(await read(ledger, runId)).not.toHaveLength(0)
      await ledger.close()
    }
    expect(isDone).toBe(true)
    const ledger = await openLedger(url)
    const left = (await ledger.listRuns({ limit: 500 })).runs.map(({ runId }) => runId).toSorted()
    expect(left).toEqual(['fork', 'run-17', 'run-7'])
    const { events } = await ledger.stats()
    const audit = await Array.fromAsync(ledger.read('clew:audit'))
    expect(events).toBe(20 + 1 + 2 * EVENTS + audit.length)
    await ledger.close()
  })
})

describe('P4 space', () => {
  it('P4 goes back to the file system', async () => {
    const url = await (stores['SQLite'] as () => Promise<string>)()
    const file = url.slice('sqlite:'.length)
    const ledger = await openLedger(url)
    for (let n = 0; n < 100; n++) await ledger.append(runOf(`run-${n}`, n))
    await ledger.append(runOf('last', 200))
    await ledger.search('nothing')
    const size = (): number => statSync(file).size + statSync(`${file}-wal`).size
    const before = size()
    const report = await ledger.gc({ policy: { rules: [{ newest: 1 }] } })
    expect(report.runs).toBe(100)
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore / 5)
    expect(size()).toBeLessThan(before / 5)
    expect(statSync(`${file}-wal`).size).toBeLessThan(1_000_000)
    expect((await ledger.verify()).problems).toEqual([])
    await ledger.close()
  })
})
