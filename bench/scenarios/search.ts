import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventInput, type Ledger, openLedger } from 'clew'
import { type Figure, inTempFolder, median, rate, seconds } from '../measure.ts'
import { makeText, WORDS } from '../words.ts'

const BATCH = 1000
const QUERIES = 100
const APPENDED = 20_000
const ROUNDS = 11
const LIVE_PER_S = 2000
const LIVE_S = 8

const COMMON =
  'the agent looked at pages about owls and wrote what it had found in a report for the editor'.split(' ')

const text = (seed: number): string => makeText(seed, COMMON)

function event(n: number): EventInput {
  const correlationId = `run-${Math.floor(n / 50)}`
  if (n % 50 === 0)
    return { eventType: 'system.workflow_started', correlationId, payload: { agent: `agent-${n % 7}` } }
  if (n % 50 === 49) {
    const failed = Math.floor(n / 50) % 20 === 0
    return {
      eventType: failed ? 'system.workflow_failed' : 'system.workflow_completed',
      correlationId,
      payload: failed ? { error: { name: 'TimeoutError', message: text(n) } } : { output: text(n) },
    }
  }
  if (n % 5 === 0)
    return {
      eventType: 'execution.tool_call',
      correlationId,
      payload: { name: `tool_${n % 11}`, arguments: { q: text(n) } },
    }
  return { eventType: 'execution.message', correlationId, payload: { role: 'assistant', content: text(n) } }
}

async function append(ledger: Ledger, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n += BATCH)
    await ledger.append(Array.from({ length: Math.min(BATCH, from + count - n) }, (_, i) => event(n + i)))
}

/** Kinds of queries in turn: rare and common words, both, phrases, beginnings, filters alone and with words. */
function queryOf(n: number): string {
  const [rare, common] = [WORDS[(n * 37) % WORDS.length] ?? '', COMMON[n % COMMON.length] ?? '']
  const kinds = [
    rare,
    common,
    `${rare} ${common}`,
    `"${common} ${COMMON[(n + 3) % COMMON.length]}"`,
    `${rare.slice(0, 3)}*`,
    `status:failed ${rare}`,
    `tool:tool_${n % 11} ${common}`,
    `status:failed agent:agent-${n % 7}`,
    `since:1h type:tool_call ${rare}`,
    `${common} -${rare}`,
  ]
  return kinds[n % kinds.length] ?? rare
}

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] as number

export async function searchFigures(events: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const url = `sqlite:${join(folder, 'search.db')}`
    const ledger = await openLedger(url, { redact: false })
    await append(ledger, 0, events)
    const filling = await seconds(() => ledger.index())
    const times: number[] = []
    for (let n = -5; n < QUERIES; n++) {
      const took = 1000 * (await seconds(() => ledger.search(queryOf(Math.abs(n)))))
      if (n >= 0) times.push(took)
    }
    const lags = await liveLags(url, ledger, events)
    await ledger.close()
    const slowed = await slowing(folder)
    return [
      {
        name: `search over ${events.toLocaleString('en')} events, 100 queries`,
        ours: `p95 ${p95(times).toFixed(1)} ms, median ${median(times).toFixed(1)} ms`,
        beside: `promise 50 ms; the index was filled at ${rate(events, filling)}`,
        ratio: p95(times),
        most: 50,
        unit: 'ms',
      },
      {
        name: `index lag at ${LIVE_PER_S.toLocaleString('en')} events/s`,
        ours: `at most ${Math.max(...lags).toFixed(0)} ms`,
        beside: 'promise 1,000 ms',
        ratio: Math.max(...lags),
        most: 1000,
        unit: 'ms',
      },
      {
        name: 'append with the indexer running',
        ours: rate(APPENDED, slowed.with),
        beside: `without it ${rate(APPENDED, slowed.without)}`,
        ratio: slowed.ratio,
        most: 1.05,
      },
    ]
  })
}

/** How old the newest event in the index is, asked while events arrive at a steady rate. */
async function liveLags(url: string, ledger: Ledger, from: number): Promise<number[]> {
  const indexing = await openLedger(url, { index: true })
  await sleep(1500)
  const lags: number[] = []
  const start = performance.now()
  for (let sent = 0; sent < LIVE_PER_S * LIVE_S; ) {
    const due = Math.min(LIVE_PER_S * LIVE_S, Math.floor(((performance.now() - start) / 1000) * LIVE_PER_S))
    if (due > sent) await ledger.append(Array.from({ length: due - sent }, (_, i) => event(from + sent + i)))
    sent = Math.max(sent, due)
    const { lag } = await ledger.indexState()
    lags.push((lag / LIVE_PER_S) * 1000)
    await sleep(20)
  }
  await indexing.close()
  return lags
}

/** The same appends with and without the indexer beside them, in turn; each pair gives a ratio, for load drifts. */
async function slowing(folder: string): Promise<{ with: number; without: number; ratio: number }> {
  const times: { with: number[]; without: number[] } = { with: [], without: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of round % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      const ledger = await openLedger(`sqlite:${join(folder, `${kind}-${round}.db`)}`, {
        index: kind === 'with',
      })
      await append(ledger, 0, 5000)
      await sleep(kind === 'with' ? 1000 : 100)
      times[kind].push(await seconds(() => append(ledger, 5000, APPENDED)))
      await ledger.close()
    }
  const [slow, plain] = [median(times.with), median(times.without)]
  const ratios = times.with.map((time, round) => time / (times.without[round] as number))
  return { with: slow, without: plain, ratio: median(ratios) }
}
