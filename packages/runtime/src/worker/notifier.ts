/** What the worker waits at. A ring that comes while it is busy is kept for its next wait. */
export interface Notifier {
  readonly ring: () => void
  /** From here on only new rings count. */
  hush(): void
  /** Resolves when it rings, or after so long. Keeps the process alive: a worker that waits is at work. */
  wait(ms: number): Promise<void>
  /** Waits so long, rings or not. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

export function createNotifier(): Notifier {
  let rang = false
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
    ring() {
      rang = true
      wake()
    },
    hush() {
      rang = false
    },
    async wait(ms) {
      if (!rang) await sleep(ms, (done) => (wake = done))
      wake = () => {}
    },
    async pause(ms, signal) {
      if (ms > 0 && !signal.aborted)
        await sleep(ms, (done) => signal.addEventListener('abort', done, { once: true }))
    },
  }
}
