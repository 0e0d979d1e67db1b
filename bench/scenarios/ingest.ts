import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { startServer } from '@clew/server'
import { type EventInput, openLedger, type Ledger } from 'clew'
import { encodeTracesProtobuf } from 'clew/otel'
import { operations } from '../../packages/clew/src/operations.ts'
import { ingestStarter } from '../../packages/clew/src/start-ingest.ts'
import type { IngestLoad } from '../ingest-client.ts'
import { type Figure, inTempFolder, median, prose, rate, seconds, sideBySide } from '../measure.ts'
import { fillRuns } from './listing.ts'
import { plainExports, SPANS } from './otlp.ts'

const EVENTS = 20_000
const GROUP = 100
const ROUNDS = 5
const ASKED = 40

/** Nothing here is about how many requests one caller may send. */
const limits = { requestsPerSecond: 1e6, requestBurst: 1e6 }

/** What comes over HTTP, from a client in another thread, answered when it is committed. */
export async function ingestFigures(runs: number): Promise<Figure[]> {
  return [...(await spans()), await events(), await firstPage(runs)]
}

async function served<T>(file: string, work: (url: string, ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(`sqlite:${file}`)
  const startIngest = ingestStarter(ledger, limits, 'warn')
  const server = await startServer({ ledger, operations, port: 0, limits, startIngest })
  try {
    return await work(server.url, ledger)
  } finally {
    await server.close()
    await ledger.close()
  }
}

/** Seconds until all bodies are answered. */
function load(data: IngestLoad): Promise<number> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../ingest-client.ts', import.meta.url), { workerData: data })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

/** Reads the list of runs again and again while `work` runs; its times in ms. */
async function beside<T>(url: string, work: () => Promise<T>): Promise<{ result: T; times: number[] }> {
  const client = new Worker(new URL('../beside-client.ts', import.meta.url), {
    workerData: { url: `${url}/v1/runs?limit=20` },
  })
  const ended = once(client, 'message') as Promise<[number[]]>
  const result = await work()
  client.postMessage('stop', [])
  const [times] = await ended
  return { result, times }
}

async function spans(): Promise<Figure[]> {
  const bodies = plainExports().map(encodeTracesProtobuf)
  const type = 'application/x-protobuf'
  const rounds = await inTempFolder(async (folder) => {
    const all: { result: number; times: number[] }[] = []
    for (let round = 0; round < ROUNDS; round++)
      all.push(
        await served(join(folder, `spans-${round}.db`), async (url) => {
          // The thread for large bodies is started by the first of them.
          await load({ url: `${url}/v1/traces`, type, bodies: bodies.slice(0, 1), atOnce: 1 })
          return beside(url, () => load({ url: `${url}/v1/traces`, type, bodies, atOnce: 4 }))
        }),
      )
    return all
  })
  const best = Math.min(...rounds.map(({ result }) => result))
  const times = rounds.flatMap((round) => round.times).sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  return [
    {
      name: 'OTLP over HTTP to SQLite, answered after the commit, spans of 1 KB in batches of 500',
      ours: rate(SPANS, best),
      beside: 'promise 12,000/s',
      ratio: SPANS / best,
      least: 12_000,
      unit: '/s',
    },
    {
      name: 'A list of 20 runs for another client meanwhile',
      ours: `p50 ${median(times).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${(times.at(-1) ?? 0).toFixed(1)} ms`,
      beside: 'promise p99 100 ms',
      ratio: p99,
      most: 100,
      unit: 'ms',
    },
  ]
}

/** About 500 bytes with its envelope. */
const payloadOf = (n: number): EventInput['payload'] => ({
  role: 'assistant',
  content: prose(300, n % 997),
  index: n,
})
const runOf = (n: number): string => `run-${Math.floor(n / GROUP) % 10}`

async function events(): Promise<Figure> {
  const groups = Array.from({ length: EVENTS / GROUP }, (_, group) =>
    Array.from({ length: GROUP }, (_unused, n) => group * GROUP + n),
  )
  const inputs = groups.map((group) =>
    group.map((n) => ({ eventType: 'execution.message', correlationId: runOf(n), payload: payloadOf(n) })),
  )
  const bodies = groups.map((group) =>
    Buffer.from(
      JSON.stringify(
        group.map((n) => ({
          event_type: 'execution.message',
          correlation_id: runOf(n),
          payload: payloadOf(n),
        })),
      ),
    ),
  )
  const { ours, floor } = await inTempFolder((folder) =>
    sideBySide(
      ROUNDS,
      (round) =>
        served(join(folder, `http-${round}.db`), (url) =>
          load({ url: `${url}/v1/events`, type: 'application/json', bodies, atOnce: 4 }),
        ),
      async (round) => {
        const ledger = await openLedger(`sqlite:${join(folder, `own-${round}.db`)}`)
        const time = await seconds(async () => {
          for (const group of inputs) await ledger.append(group)
        })
        await ledger.close()
        return time
      },
    ),
  )
  return {
    name: 'POST /v1/events, batches of 100 events of 500 bytes',
    ours: rate(EVENTS, ours),
    beside: `append in the process ${rate(EVENTS, floor)}`,
    ratio: floor / ours,
    least: 0.5,
  }
}

async function firstPage(runs: number): Promise<Figure> {
  return inTempFolder(async (folder) => {
    const file = join(folder, 'listing.db')
    const filling = await openLedger(`sqlite:${file}`, { redact: false })
    await fillRuns(filling, runs)
    await filling.close()
    return served(file, async (url) => {
      const queries = ['', '&status=failed', '&agent=agent-3', '&threadId=thread-77']
      const ask = async (query = ''): Promise<void> => {
        const answer = await fetch(`${url}/v1/runs?limit=50${query}`)
        if (!answer.ok) throw new Error(`answered with ${answer.status}`)
        await answer.json()
      }
      // What the first request costs is loading modules and opening a connection.
      await ask()
      const times: number[][] = queries.map(() => [])
      for (let n = 0; n < ASKED; n++)
        times[n % queries.length]?.push(1000 * (await seconds(() => ask(queries[n % queries.length]))))
      const slowest = Math.max(...times.map(median))
      return {
        name: `first page of ${runs.toLocaleString('en')} runs over HTTP, all filters`,
        ours: `median ${slowest.toFixed(1)} ms for the slowest filter, at most ${Math.max(...times.flat()).toFixed(1)} ms`,
        beside: 'promise 50 ms',
        ratio: slowest,
        most: 50,
        unit: 'ms',
      }
    })
  })
}
