import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openLedger } from 'clew'
import { decodeOtlpTraces, encodeTracesProtobuf } from 'clew/otel'
import { expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../postgres/database.ts'

const SPANS = 10
const EVENTS = 10

interface Killable {
  /** Where it listens now; waits while there is none. */
  url(): Promise<string>
  /** SIGKILL, and another one in its place. */
  kill(): Promise<void>
}

async function startKillable(store: string): Promise<Killable> {
  let child: ChildProcess
  let listening: Promise<string>
  function start(): void {
    const args = [new URL('server-process.ts', import.meta.url).pathname, store]
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    listening = once(lines, 'line').then(([line]) => line as string)
  }
  start()
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    url: () => listening,
    async kill() {
      await listening
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
      start()
    },
  }
}

const hex = (n: number, digits: number): string => (n + 1).toString(16).padStart(digits, '0')
const uuid = (n: number): string => `00000000-0000-7000-8000-${hex(n, 12)}`

interface Delivery {
  readonly path: string
  readonly type: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** A trace of which the children come first, in a delivery of their own. */
function traceDeliveries(n: number): Delivery[] {
  const traceId = hex(n, 32)
  const span = (at: number) => ({
    traceId,
    spanId: hex(n * 100 + at, 16),
    ...(at > 0 && { parentSpanId: hex(n * 100, 16) }),
    name: `span ${at}`,
    startTimeUnixNano: String(1_763_190_000_000_000_000 + at),
    endTimeUnixNano: String(1_763_190_001_000_000_000 + at),
  })
  const bodyOf = (spans: object[]) => {
    const traces = decodeOtlpTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    return new Uint8Array(encodeTracesProtobuf(traces))
  }
  const children = Array.from({ length: SPANS - 1 }, (_, at) => span(at + 1))
  const shared = { path: '/v1/traces', type: 'application/x-protobuf' }
  return [
    { ...shared, body: bodyOf(children) },
    { ...shared, body: bodyOf([span(0)]) },
  ]
}

function eventDelivery(n: number, isLines: boolean): Delivery {
  const events = Array.from({ length: EVENTS }, (_, at) => ({
    event_id: uuid(n * 100 + at),
    event_type: 'execution.note',
    correlation_id: `run-${n % 3}`,
    payload: { n, at },
  }))
  return isLines
    ? {
        path: '/v1/events',
        type: 'application/x-ndjson',
        body: events.map((each) => JSON.stringify(each)).join('\n'),
      }
    : { path: '/v1/events', type: 'application/json', body: JSON.stringify(events) }
}

async function ingestWhileKilled(store: string, deliveries: number, kills: number): Promise<void> {
  const server = await startKillable(store)
  let answered = 0
  let retried = 0
  const waiting: { at: number; go: () => void }[] = []
  const reached = (at: number): Promise<void> =>
    answered >= at ? Promise.resolve() : new Promise((go) => void waiting.push({ at, go }))

  async function deliver({ path, type, body }: Delivery): Promise<void> {
    for (;;) {
      try {
        const url = (await server.url()) + path
        const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
        const text = await answer.text()
        if (answer.status === 200) break
        if (answer.status !== 503) throw new RangeError(`answered with ${answer.status}: ${text}`)
      } catch (error) {
        if (error instanceof RangeError) throw error
        retried++
        // The next server is about to come; there is nobody to ask until then.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    answered++
    for (const { at, go } of waiting) if (answered >= at) go()
  }

  const clients = [
    async () => {
      for (let n = 0; n < deliveries; n++) for (const each of traceDeliveries(n)) await deliver(each)
    },
    async () => {
      for (let n = 0; n < deliveries; n++) await deliver(eventDelivery(n, false))
    },
    async () => {
      for (let n = 0; n < deliveries; n++) await deliver(eventDelivery(deliveries + n, true))
    },
  ]
  const total = deliveries * 4
  const killing = (async () => {
    for (let nth = 1; nth <= kills; nth++) {
      await reached(Math.floor((total * nth) / (kills + 1)))
      await server.kill()
    }
  })()
  await Promise.all([...clients.map((client) => client()), killing])
  await server.kill()
  expect(retried).toBeGreaterThan(0)

  const ledger = await openLedger(store)
  onTestFinished(() => ledger.close())
  for (let n = 0; n < deliveries; n++) {
    const run = await ledger.getRun(hex(n, 32))
    expect(run).toMatchObject({ status: 'completed', steps: SPANS })
  }
  const found: string[] = []
  for (const runId of ['run-0', 'run-1', 'run-2'])
    for await (const event of ledger.read(runId)) found.push(event.eventId)
  const sent = Array.from({ length: deliveries * 2 }, (_, n) =>
    Array.from({ length: EVENTS }, (_unused, at) => uuid(n * 100 + at)),
  ).flat()
  expect(found.toSorted()).toEqual(sent.toSorted())
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
}

it('A3 L5 what a killed server had answered is there, what it had not is sent again, and nothing is there twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-ingest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await ingestWhileKilled(`sqlite:${join(folder, 'ledger.db')}`, 40, 4)
})

it('A3 L5 the same on PostgreSQL', async () => {
  const database = await createDatabase()
  onTestFinished(() => database.drop())
  await ingestWhileKilled(database.url, 12, 2)
})
