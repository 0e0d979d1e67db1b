import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, type EventInput, type Ledger, openLedger, startWorker } from 'clew'
import { createDatabase } from '../../test/postgres/database.ts'
import { type Figure, inTempFolder, median, seconds } from '../measure.ts'

const FEW = 100
const MANY = Number(process.env['CLEW_BENCH_RUNS'] ?? 100_000)
const CLAIMS = 50
const SUBMISSIONS = 2000
const FIRST_STEPS = 100

/** Submitted runs of 20 tenants, in calls of a thousand. */
async function fill(ledger: Ledger, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1000) {
    const runs = Array.from({ length: Math.min(1000, to - at) }, (_, n): EventInput => {
      const payload = { agent: 'owl', queue: 'default', key: `tenant ${(at + n) % 20}` }
      return { eventType: 'system.workflow_submitted', correlationId: `run-${at + n}`, payload }
    })
    await ledger.append(runs)
  }
}

/** Median milliseconds of a claim of one run, which is given back. */
async function claimMs(ledger: Ledger): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < CLAIMS; n++) {
    const options = { workspace: ledger.workspace, agents: ['owl'], nowMs: Date.now(), limit: 1 }
    const start = performance.now()
    const { leases } = await ledger.leases.claim(options)
    times.push(performance.now() - start)
    for (const lease of leases) await ledger.leases.release(lease)
  }
  return median(times)
}

async function claimFigure(store: string, ledger: Ledger, analyze: () => Promise<unknown>): Promise<Figure> {
  await fill(ledger, 0, FEW)
  await analyze()
  const few = await claimMs(ledger)
  await fill(ledger, FEW, MANY)
  await analyze()
  const many = await claimMs(ledger)
  return {
    name: `W4 a claim with ${MANY} waiting runs, ${store}`,
    ours: `${many.toFixed(2)} ms`,
    beside: `${few.toFixed(2)} ms with ${FEW}`,
    ratio: many / few,
    most: 2,
  }
}

async function submitFigures(store: string, ledger: Ledger, targetMs: number): Promise<Figure[]> {
  const quick = agent('quick', async (run) => run.step('first', {}, () => 1))
  const spent = await seconds(() =>
    Promise.all(
      Array.from({ length: SUBMISSIONS }, (_, n) =>
        quick.submit(ledger, null, { runId: `s-${n}`, delayMs: 3_600_000 }),
      ),
    ),
  )
  const worker = await startWorker({ ledger, agents: [quick] })
  const times: number[] = []
  for (let n = 0; n < FIRST_STEPS; n++) {
    // After looks that found nothing a worker waits before the next: the figure is that of an idle one.
    await sleep(150)
    const start = performance.now()
    const run = await quick.submit(ledger, null, { runId: `t-${n}` })
    for await (const event of run.follow()) {
      if (!event.eventType.startsWith('execution.step')) continue
      times.push(performance.now() - start)
      break
    }
    await run.result()
  }
  await worker.stop()
  const firstMs = median(times)
  const perSecond = SUBMISSIONS / spent
  return [
    {
      name: `W1 submissions a second, ${store}`,
      ours: perSecond.toFixed(0),
      beside: '1,000 promised',
      ratio: perSecond / 1000,
      least: 1,
    },
    {
      name: `W1 submit to first step, p50, ${store}`,
      ours: `${firstMs.toFixed(1)} ms`,
      beside: `${targetMs} ms promised`,
      ratio: firstMs / targetMs,
      most: 1,
    },
  ]
}

/** Submission, first step, and what a claim costs however many runs wait. */
export async function workFigures(): Promise<Figure[]> {
  const figures: Figure[] = []
  const both = async (
    store: string,
    url: (name: string) => string,
    targetMs: number,
    analyze: () => Promise<unknown>,
  ): Promise<void> => {
    const [one, two] = [await openLedger(url('one')), await openLedger(url('two'))]
    figures.push(...(await submitFigures(store, one, targetMs)), await claimFigure(store, two, analyze))
    await one.close()
    await two.close()
  }
  await inTempFolder((folder) =>
    both(
      'SQLite',
      (name) => `sqlite:${join(folder, `${name}.db`)}`,
      20,
      async () => {},
    ),
  )
  const database = await createDatabase()
  // What a server does by itself within a minute; that of the tests does not.
  const analyze = (): Promise<unknown> => database.query('ANALYZE')
  await both('PostgreSQL', (name) => `${database.url}?schema=${name}`, 30, analyze)
  await database.drop()
  return figures
}
