import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ledger, openLedger, recordAnswers } from 'clew'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Child, startScript } from '../../packages/sqlite/test/start-child.ts'
import { createDatabase } from '../postgres/database.ts'
import { hangs, poison, short } from './worker-agents.ts'
import { flawsOf } from './worlds.ts'

const SCRIPT = new URL('worker-child.ts', import.meta.url).pathname
const RUNS = 200
const HOUR_MS = 3_600_000

interface Place {
  readonly url: string
  drop(): Promise<void>
}

const PLACES: readonly (readonly [string, (folder: string) => Promise<Place>])[] = [
  ['SQLite', async (folder) => ({ url: `sqlite:${join(folder, 'clew.db')}`, drop: async () => {} })],
  ['PostgreSQL', () => createDatabase()],
]

describe.each(PLACES)('R9 workers in processes of their own, on %s', (_, create) => {
  let folder: string
  let place: Place
  let ledger: Ledger
  let children: Child[]

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clew-workers-'))
    process.env['CLEW_TEST_OUTSIDE'] = join(folder, 'outside.txt')
    writeFileSync(join(folder, 'outside.txt'), '')
    place = await create(folder)
    ledger = await openLedger(place.url)
    children = []
  })
  afterEach(async () => {
    for (const child of children) await child.kill()
    await ledger.close()
    await place.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function startWorker(concurrency: number, sweepMs: number, graceMs = 10_000): Promise<Child> {
    const child = startScript(SCRIPT, place.url, concurrency, sweepMs, graceMs)
    children.push(child)
    expect(await child.next()).toBe('working')
    return child
  }

  /** What was done outside, by its words. */
  const outside = (): string[] =>
    readFileSync(join(folder, 'outside.txt'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf(' ') + 1))
  const untilOutside = (what: string): Promise<void> =>
    vi.waitFor(() => expect(outside()).toContain(what), { timeout: 60_000, interval: 20 })
  const until = (runId: string, status: string): Promise<void> =>
    vi.waitFor(async () => expect((await ledger.getRun(runId))?.status).toBe(status), {
      timeout: 60_000,
      interval: 20,
    })
  const answered = (runId: string) => recordAnswers(ledger, runId, { answer: 'yes' })

  it(`R5 R9 end ${RUNS} runs, each once, no completed step done twice, while some of them are killed`, async () => {
    const runIds = Array.from({ length: RUNS }, (_each, n) => `run-${n}`)
    await Promise.all(runIds.map((runId, n) => short.start(ledger, n, { runId })))
    await Promise.all(runIds.map(answered))
    const countEnded = async (): Promise<number> =>
      (await ledger.listRuns({ status: 'completed', limit: RUNS })).runs.length
    const first = await Promise.all([1, 2, 3].map(() => startWorker(4, 500)))
    for (const [n, victim] of first.slice(0, 2).entries()) {
      await vi.waitFor(async () => expect(await countEnded()).toBeGreaterThan(20 * (n + 1)), {
        timeout: 60_000,
        interval: 5,
      })
      await victim.kill('SIGKILL')
    }
    expect(await countEnded(), 'or nothing was left to be killed').toBeLessThan(RUNS)
    await startWorker(4, 500)
    await vi.waitFor(async () => expect(await countEnded()).toBe(RUNS), { timeout: 300_000, interval: 50 })
    const flaws: string[] = []
    for (const runId of runIds) {
      flaws.push(...(await flawsOf(ledger, runId)))
      const events = await Array.fromAsync(ledger.read(runId))
      const ends = events.filter(({ eventType }) => eventType === 'system.workflow_completed')
      if (ends.length !== 1) flaws.push(`${runId} has ${ends.length} ends`)
    }
    expect(flaws).toEqual([])
    // A read in flight when its process was killed is repeated: four runs in each of two processes, four reads each at most.
    const done = outside()
    expect(new Set(done).size).toBe(4 * RUNS)
    expect(done.length - 4 * RUNS).toBeLessThanOrEqual(2 * 4 * 3)
    expect(await ledger.leases.list()).toEqual([])
  })

  it('R9 R10 SIGTERM hands over at once: another worker goes on, with nothing but the doorbell to tell it', async () => {
    await hangs.start(ledger, 1, { runId: 'h' })
    const first = await startWorker(1, HOUR_MS, 100)
    await answered('h')
    await untilOutside('hang h 1')
    const second = await startWorker(1, HOUR_MS, 100)
    const ended = once(first.process, 'exit')
    first.process.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    await until('h', 'completed')
    expect(outside()).toEqual(['once h', 'hang h 1', 'hang h 2'])
    expect(await flawsOf(ledger, 'h')).toEqual([])
    expect(await second.next()).toMatchObject({ type: 'taken', runId: 'h', why: 'interrupted' })
  })

  it('R9 SIGKILL: the next sweep of another worker finds it', async () => {
    await hangs.start(ledger, 1, { runId: 'h' })
    const first = await startWorker(1, HOUR_MS)
    await answered('h')
    await untilOutside('hang h 1')
    await startWorker(1, 200)
    await first.kill('SIGKILL')
    await until('h', 'completed')
    expect(outside()).toEqual(['once h', 'hang h 1', 'hang h 2'])
  })

  it('R9 a run that takes every process down is blocked after five of them, and the others get their turn', async () => {
    await poison.start(ledger, null, { runId: 'p' })
    await short.start(ledger, 1, { runId: 's' })
    await answered('p')
    await answered('s')
    for (let n = 0; n < 5; n++) {
      const child = startScript(SCRIPT, place.url, 2, 50, 0)
      children.push(child)
      await once(child.process, 'exit')
    }
    await startWorker(2, 50)
    await until('p', 'blocked')
    await until('s', 'completed')
    expect(outside().filter((what) => what === 'dies p')).toHaveLength(5)
  })
})
