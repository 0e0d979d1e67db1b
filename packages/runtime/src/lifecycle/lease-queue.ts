import type { Ledger } from '@clew/ledger'

/** Waiters of this process for the lease of one thread or run, first in, first out. */
type LeaseQueue = Notifier[]

interface Notifier {
  notify(): void
  /** Resolves after `ms`, when notified (also before the call), or when the signal aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
}

const lines = new Map<string, LeaseQueue>()
const keyOf = ({ url, workspace }: Ledger, what: string): string => `${url}\n${workspace}\n${what}`
/** Key of a thread: the form of its name that all waiters have in common. */
const threadOf = (ledger: Ledger, threadId: string): string =>
  `thread ${ledger.identity(threadId).names.at(-1)}`
const runOf = (runId: string): string => `run ${runId}`

export interface WaiterKey {
  readonly runId: string
  readonly threadId: string | null
}

export interface LeaseWaiter {
  /** The other waiters stay in the queue until this one leaves it. */
  isFirst(): boolean
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
  leave(): void
}

export function enqueueWaiter(ledger: Ledger, { runId, threadId }: WaiterKey): LeaseWaiter {
  const key = keyOf(ledger, threadId === null ? runOf(runId) : threadOf(ledger, threadId))
  const line = lines.get(key) ?? []
  const notifier = createNotifier()
  line.push(notifier)
  lines.set(key, line)
  return {
    isFirst: () => line[0] === notifier,
    wait: notifier.wait,
    leave() {
      line.splice(line.indexOf(notifier), 1)
      if (line.length === 0) lines.delete(key)
      line[0]?.notify()
    },
  }
}

/** Notifies the first waiter that a lease was released. */
export function wakeNext(ledger: Ledger, { runId, threadId }: WaiterKey): void {
  lines.get(keyOf(ledger, runOf(runId)))?.[0]?.notify()
  if (threadId !== null) lines.get(keyOf(ledger, threadOf(ledger, threadId)))?.[0]?.notify()
}

function createNotifier(): Notifier {
  let isNotified = false
  let wake = (): void => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    async wait(ms, signal) {
      if (!isNotified && !signal?.aborted)
        await new Promise<void>((resolve) => {
          // The caller waits for a result, so this timer keeps the process alive.
          const timer = setTimeout(done, ms)
          function done(): void {
            clearTimeout(timer)
            signal?.removeEventListener('abort', done)
            resolve()
          }
          signal?.addEventListener('abort', done)
          wake = done
        })
      isNotified = false
    },
  }
}
