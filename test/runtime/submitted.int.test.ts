import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClewEvent, type Ledger, listQueues, openLedger, setQueue } from 'clew'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Child, startScript } from '../../packages/sqlite/test/start-child.ts'
import { createDatabase } from '../postgres/database.ts'
import { hangs, quick } from './worker-agents.ts'
import { flawsOf } from './worlds.ts'

const SCRIPT = new URL('worker-child.ts', import.meta.url).pathname
const RUNS = 120
const LIMIT = 5

interface Place {
  readonly url: string
  drop(): Promise<void>
}

const PLACES: readonly (readonly [string, (folder: string) => Promise<Place>])[] = [
  ['SQLite', async (folder) => ({ url: `sqlite:${join(folder, 'clew.db')}`, drop: async () => {} })],
  ['PostgreSQL', () => createDatabase()],
]
const BEGINS = ['system.workflow_started', 'system.workflow_resumed']
const RESTS = ['system.workflow_completed', 'system.workflow_paused', 'system.workflow_interrupted']

describe.each(PLACES)('W1 W4 submitted runs and workers in processes of their own, on %s', (_, create) => {
  let folder: string
  let place: Place
  let ledger: Ledger
  let children: Child[]

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clew-submitted-'))
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

  async function startWorker(sweepMs = 300, graceMs = 10_000): Promise<Child> {
    const child = startScript(SCRIPT, place.url, 4, sweepMs, graceMs)
    children.push(child)
    expect(await child.next()).toBe('working')
    return child
  }

  const outside = (): string[] =>
    readFileSync(join(folder, 'outside.txt'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf(' ') + 1))

  /** The most runs of the queue that were at work at once, by the record alone. */
  async function mostAtOnce(prefix: string): Promise<number> {
    const events: ClewEvent[] = []
    for await (const event of ledger.follow({ live: false, types: [...BEGINS, ...RESTS] }))
      if (event.correlationId.startsWith(prefix)) events.push(event)
    const working = new Set<string>()
    let most = 0
    for (const { eventType, correlationId } of events) {
      if (BEGINS.includes(eventType)) working.add(correlationId)
      else working.delete(correlationId)
      most = Math.max(most, working.size)
    }
    return most
  }

  it(`W1 W4 ${RUNS} runs end once each and within their limit, while workers are killed taking, running and finishing`, async () => {
    await setQueue(ledger, 'few', { concurrency: LIMIT, concurrencyPerKey: 3 })
    const runIds = Array.from({ length: RUNS }, (_each, n) => `run-${n}`)
    await Promise.all(
      runIds.map((runId, n) => quick.submit(ledger, { n }, { runId, queue: 'few', key: `tenant ${n % 3}` })),
    )
    const countEnded = async (): Promise<number> =>
      (await ledger.listRuns({ status: 'completed', limit: RUNS })).runs.length
    const victims = await Promise.all([1, 2, 3, 4].map(() => startWorker()))
    for (const [n, victim] of victims.slice(0, 3).entries()) {
      await vi.waitFor(async () => expect(await countEnded()).toBeGreaterThan(10 * (n + 1)), {
        timeout: 60_000,
        interval: 5,
      })
      await victim.kill('SIGKILL')
    }
    await startWorker()
    await vi.waitFor(async () => expect(await countEnded()).toBe(RUNS), { timeout: 120_000, interval: 50 })
    const flaws: string[] = []
    for (const runId of runIds) {
      flaws.push(...(await flawsOf(ledger, runId)))
      const events = await Array.fromAsync(ledger.read(runId))
      const count = (type: string): number => events.filter(({ eventType }) => eventType === type).length
      for (const type of ['submitted', 'started', 'completed'])
        if (count(`system.workflow_${type}`) !== 1) flaws.push(`${runId} has other than one ${type}`)
    }
    expect(flaws).toEqual([])
    expect(new Set(outside()).size).toBe(RUNS)
    // A read in flight when its process was killed is repeated.
    expect(outside().length - RUNS).toBeLessThanOrEqual(3 * 4)
    expect(await mostAtOnce('run-')).toBeLessThanOrEqual(LIMIT)
    expect(await listQueues(ledger)).toMatchObject([{ queue: 'few', waiting: 0, running: 0 }])
  })

  it('W1 a worker that was stopped and goes on (SIGSTOP, SIGCONT) keeps its run; a submission sent again is the same run', async () => {
    await hangs.submit(ledger, 0, { runId: 'h' })
    const worker = await startWorker()
    await vi.waitFor(async () => expect((await ledger.getRun('h'))?.status).toBe('paused'), {
      timeout: 60_000,
    })
    worker.process.kill('SIGSTOP')
    const first = await quick.submit(ledger, { n: 1 }, { runId: 'q' })
    // As after a reply that was lost.
    const again = await quick.submit(ledger, { n: 1 }, { runId: 'q' })
    expect(again.id).toBe(first.id)
    expect((await first.result({ waitMs: 300 })).status).toBe('pending')
    worker.process.kill('SIGCONT')
    expect((await again.result({ waitMs: 60_000 })).output).toBe(1)
    expect(outside()).toEqual(['work q'])
  })
})
