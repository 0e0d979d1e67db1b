import type { Ledger } from '@clew/ledger'

/** Who waits, in this process, for the same thread or run: they are served in the order in which they came. */
type LeaseQueue = Notifier[]

interface Notifier {
  ring(): void
  /** Resolves after so long, when it is rung, or when the signal aborts; one that rang meanwhile counts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
}

const lines = new Map<string, LeaseQueue>()
const keyOf = ({ url, workspace }: Ledger, what: string): string => `${url}\n${workspace}\n${what}`
/** By a form of its name that all who wait for it know. */
const threadOf = (ledger: Ledger, threadId: string): string =>
  `thread ${ledger.identity(threadId).names.at(-1)}`
const runOf = (runId: string): string => `run ${runId}`

export interface WaiterKey {
  readonly runId: string
  readonly threadId: string | null
}

export interface LeaseWaiter {
  /** The others in the line wait until this one has left it. */
  isFirst(): boolean
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
  leave(): void
}

export function enqueueWaiter(ledger: Ledger, { runId, threadId }: WaiterKey): LeaseWaiter {
  const key = keyOf(ledger, threadId === null ? runOf(runId) : threadOf(ledger, threadId))
  const line = lines.get(key) ?? []
  const bell = createNotifier()
  line.push(bell)
  lines.set(key, line)
  return {
    isFirst: () => line[0] === bell,
    wait: bell.wait,
    leave() {
      line.splice(line.indexOf(bell), 1)
      if (line.length === 0) lines.delete(key)
      line[0]?.ring()
    },
  }
}

/** Tells the first in line that a lease became free. */
export function wakeNext(ledger: Ledger, { runId, threadId }: WaiterKey): void {
  lines.get(keyOf(ledger, runOf(runId)))?.[0]?.ring()
  if (threadId !== null) lines.get(keyOf(ledger, threadOf(ledger, threadId)))?.[0]?.ring()
}

function createNotifier(): Notifier {
  let rang = false
  let wake = (): void => {}
  return {
    ring() {
      rang = true
      wake()
    },
    async wait(ms, signal) {
      if (!rang && !signal?.aborted)
        await new Promise<void>((resolve) => {
          // Whoever waits wants the answer: this timer keeps the process alive.
          const timer = setTimeout(done, ms)
          function done(): void {
            clearTimeout(timer)
            signal?.removeEventListener('abort', done)
            resolve()
          }
          signal?.addEventListener('abort', done)
          wake = done
        })
      rang = false
    },
  }
}
