/** Wakes the worker. A notification that comes while the worker is busy ends its next wait. */
export interface Notifier {
  readonly notify: () => void
  /** Drops a pending notification. */
  clear(): void
  /** Resolves when notified or after `ms`. Keeps the process alive: a waiting worker is at work. */
  wait(ms: number): Promise<void>
  /** Waits for `ms`, notified or not. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

export function createNotifier(): Notifier {
  let isNotified = false
  let wake = (): void => {}

  const sleep = (ms: number, onArm: (done: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms)
      function done(): void {
        clearTimeout(timer)
        resolve()
      }
      onArm(done)
    })

  return {
    notify() {
      isNotified = true
      wake()
    },
    clear() {
      isNotified = false
    },
    async wait(ms) {
      if (!isNotified) await sleep(ms, (done) => (wake = done))
      wake = () => {}
    },
    async pause(ms, signal) {
      if (ms > 0 && !signal.aborted)
        await sleep(ms, (done) => signal.addEventListener('abort', done, { once: true }))
    },
  }
}
