import {
  type ClewEvent,
  createLedger,
  createInProcessStore,
  type Ledger,
  type Ports,
  type Store,
} from '@clew/ledger'
import type { Fetch } from '../src/remote-port.ts'
import { TraceEmitter } from '../src/trace-emitter.ts'
import type { TracePorts } from '../src/trace-ports.ts'
import { nodePorts } from '../../ledger/test/node-ports.ts'

/** Ledgers over one store, and emitters whose timers run when the test turns the clock. */
export interface World {
  readonly ports: Ports
  /** Another connection, as another process has it. */
  open(workspace?: string): Ledger
  emitter(ledger: Ledger): TraceEmitter
  tracePorts(given?: Partial<TracePorts>): TracePorts
  /** Moves the clock, and runs what is due by then; resolves when what that began has come to rest. */
  turnClock(ms: number): Promise<void>
  close(): Promise<void>
}

export type MakeStore = (ports: Ports) => Store

interface Timer {
  readonly dueMs: number
  readonly task: () => void
}

export function createWorld(makeStore: (ports: Ports) => () => Store = ofMemory): World {
  let offsetMs = 0
  const timers = new Set<Timer>()
  const opened: Ledger[] = []
  const ports: Ports = { ...nodePorts, now: () => Date.now() + offsetMs }
  const makeConnection = makeStore(ports)
  const tracePorts = (given: Partial<TracePorts> = {}): TracePorts => ({
    now: ports.now,
    randomHex: ports.randomHex,
    after(ms, task) {
      const timer = { dueMs: ports.now() + ms, task }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    sleep: (ms) => ports.sleep(Math.min(ms, 5)),
    fetch: noFetch,
    ...given,
  })
  return {
    ports,
    open(workspace = 'default') {
      const heads = { verify: async () => false }
      const parts = { store: makeConnection(), ports, secret: 'a secret for tests, long enough', heads }
      const ledger = createLedger(parts, { workspace })
      opened.push(ledger)
      return ledger
    },
    emitter: (ledger) => new TraceEmitter({ ledger }, tracePorts()),
    tracePorts,
    async turnClock(ms) {
      offsetMs += ms
      const due = [...timers].filter(({ dueMs }) => dueMs <= ports.now())
      for (const timer of due) {
        timers.delete(timer)
        timer.task()
      }
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    },
    async close() {
      for (const ledger of opened) await ledger.close()
    },
  }
}

const noFetch: Fetch = async () => {
  throw new Error('nothing is listening')
}

/** One store for all, which lives until the last of them lets go. */
function ofMemory(ports: Ports): () => Store {
  const store = createInProcessStore(ports)
  return () => ({ ...store, close: async () => {} })
}

export async function eventsOf(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  return Array.fromAsync(ledger.read(runId))
}
export const typesOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await eventsOf(ledger, runId)).map(({ eventType }) => eventType)
