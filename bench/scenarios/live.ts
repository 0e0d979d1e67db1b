import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from 'clew'
import { EVENTS_PER_SECOND, ROOMS, SOCKETS, TOKEN, TOKENS_PER_SECOND, type Usage } from '../live-load.ts'
import { type Figure, inTempFolder } from '../measure.ts'

const SECONDS = Number(process.env['CLEW_BENCH_LIVE_SECONDS'] ?? 20)
const WARM_UP_MS = 5000

interface Heard {
  readonly heard: number
  readonly completed: number
  readonly ends: number
  readonly p50: number
  readonly p99: number
}

/** What the ledger has of a time, whatever those who wrote it say. */
interface Offered {
  readonly eventsPerSecond: number
  readonly tokensPerSecond: number
}

interface Measured extends Heard {
  readonly offered: Offered
  readonly cpuMs: number
  /** Of the server, after the warm-up and at the end. */
  readonly heap: readonly [number, number]
}

/**
 * 1,000 sockets in 100 session rooms, 500 step events and 5,000 tokens a second. Beside it, in the same run: bare
 * socket.io that tells the same messages as often. `CLEW_BENCH_LIVE_SECONDS=300` for the long form.
 */
export async function liveFigures(): Promise<Figure[]> {
  const bare = await measure('bare-server.ts', [])
  const ours = await inTempFolder((folder) => measureClew(`sqlite:${join(folder, 'live.db')}`))
  const cost = ({ cpuMs, heard }: Measured): number => (cpuMs * 1000) / heard
  const [before, after] = ours.heap
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  const { eventsPerSecond, tokensPerSecond } = ours.offered
  return [
    {
      name: 'live, load that was offered, as the ledger has it',
      ours: `${Math.round(eventsPerSecond)} step events/s, ${Math.round(tokensPerSecond).toLocaleString('en')} tokens/s`,
      beside: `meant are ${EVENTS_PER_SECOND} and ${TOKENS_PER_SECOND.toLocaleString('en')}`,
      ratio: Math.min(eventsPerSecond / EVENTS_PER_SECOND, tokensPerSecond / TOKENS_PER_SECOND),
      least: 0.9,
    },
    {
      name: `live, ${SOCKETS} sockets in ${ROOMS} rooms for ${SECONDS} s: said to heard, p99`,
      ours: `p50 ${ours.p50} ms, p99 ${ours.p99} ms, ${Math.round(ours.heard / SECONDS).toLocaleString('en')} deliveries/s`,
      beside: `bare socket.io p99 ${bare.p99} ms; promise 150 ms`,
      ratio: ours.p99,
      most: 150,
      unit: 'ms',
    },
    {
      name: 'live, CPU of the server per delivery',
      ours: `${cost(ours).toFixed(1)} µs`,
      beside: `bare socket.io ${cost(bare).toFixed(1)} µs`,
      ratio: cost(ours) / cost(bare),
      most: 1.3,
    },
    {
      name: 'live, memory of the server at the end',
      ours: mb(after),
      beside: `after the warm-up ${mb(before)}`,
      ratio: after / before,
      most: 1.15,
    },
  ]
}

async function measureClew(store: string): Promise<Measured> {
  let agents: ChildProcess | undefined
  return measure('clew-server.ts', [store], {
    begin: () => (agents = start('agents.ts', [store])),
    async end(clients, window) {
      if (!agents) throw new Error('there are no agents')
      agents.send('stop')
      const { steps } = await answerOf<{ steps: number }>(agents, 'steps')
      // Whatever was said before everybody was there counts for nobody: agents begin after the last join.
      const expected = steps * (SOCKETS / ROOMS)
      for (let tries = 0; ; tries++) {
        const { ends, completed } = await ask<Heard>(clients, 'heard', 'heard')
        if (ends === expected && completed === SOCKETS) return countOffered(store, window)
        if (tries === 100)
          throw new Error(`heard ${ends} of ${expected} ends of steps, ${completed} of sessions`)
        await sleep(100)
      }
    },
  })
}

/** Steps that began or ended in that time, and the tokens of those that ended. */
async function countOffered(store: string, { fromMs, toMs }: Window): Promise<Offered> {
  const ledger = await openLedger(store)
  let events = 0
  let letters = 0
  for await (const { eventType, payload, ledger: place } of ledger.follow({ live: false })) {
    const at = Date.parse(place.recordedAt)
    if (at < fromMs || at >= toMs || !eventType.startsWith('execution.step_')) continue
    events++
    const { content } = (payload['output'] ?? {}) as { readonly content?: unknown }
    if (typeof content === 'string') letters += content.length
  }
  await ledger.close()
  const seconds = (toMs - fromMs) / 1000
  return { eventsPerSecond: events / seconds, tokensPerSecond: letters / TOKEN.length / seconds }
}

interface Window {
  readonly fromMs: number
  readonly toMs: number
}

interface Load {
  begin(): void
  end(clients: ChildProcess, window: Window): Promise<Offered>
}

async function measure(file: string, args: readonly string[], load?: Load): Promise<Measured> {
  const server = start(file, args)
  const { url } = await answerOf<{ url: string }>(server, 'url')
  const clients = start('clients.ts', [url])
  try {
    await answerOf(clients, 'joined')
    load?.begin()
    await sleep(WARM_UP_MS)
    const { usage: warm } = await ask<{ usage: Usage }>(server, 'usage', 'usage')
    await ask(clients, 'heard', 'heard')
    const fromMs = Date.now()
    await sleep(SECONDS * 1000)
    const window = { fromMs, toMs: Date.now() }
    const { usage } = await ask<{ usage: Usage }>(server, 'usage', 'usage')
    const heard = await ask<Heard>(clients, 'heard', 'heard')
    const offered = (await load?.end(clients, window)) ?? { eventsPerSecond: 0, tokensPerSecond: 0 }
    return { ...heard, offered, cpuMs: usage.cpuMs, heap: [warm.heapBytes, usage.heapBytes] }
  } finally {
    clients.kill()
    server.kill('SIGKILL')
  }
}

const start = (file: string, args: readonly string[]): ChildProcess =>
  fork(new URL(`../live-${file}`, import.meta.url).pathname, args, {
    execArgv: ['--conditions=@clew/source', '--expose-gc'],
  })

function ask<T>(child: ChildProcess, question: string, field: string): Promise<T> {
  child.send(question)
  return answerOf(child, field)
}

async function answerOf<T>(child: ChildProcess, field: string): Promise<T> {
  const ended = new AbortController()
  const gone = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error(`a process of the scenario live has ended before it said ${field}`)
  })
  gone.catch(() => undefined)
  try {
    for (;;) {
      const [message] = (await Promise.race([once(child, 'message', { signal: ended.signal }), gone])) as [
        object,
      ]
      if (Object.hasOwn(message, field)) return message as T
    }
  } finally {
    ended.abort()
  }
}
