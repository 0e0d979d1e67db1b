import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Usage, ROOMS, SOCKETS } from '../live-load.ts'
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

interface Measured extends Heard {
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
  return [
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
    async end(clients) {
      if (!agents) throw new Error('there are no agents')
      agents.send('stop')
      const { steps } = await answerOf<{ steps: number }>(agents, 'steps')
      // Whatever was said before everybody was there counts for nobody: agents begin after the last join.
      const expected = steps * (SOCKETS / ROOMS)
      for (let tries = 0; ; tries++) {
        const { ends, completed } = await ask<Heard>(clients, 'heard', 'heard')
        if (ends === expected && completed === SOCKETS) return
        if (tries === 100)
          throw new Error(`heard ${ends} of ${expected} ends of steps, ${completed} of sessions`)
        await sleep(100)
      }
    },
  })
}

interface Load {
  begin(): void
  end(clients: ChildProcess): Promise<void>
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
    await sleep(SECONDS * 1000)
    const { usage } = await ask<{ usage: Usage }>(server, 'usage', 'usage')
    const heard = await ask<Heard>(clients, 'heard', 'heard')
    await load?.end(clients)
    return { ...heard, cpuMs: usage.cpuMs, heap: [warm.heapBytes, usage.heapBytes] }
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
