import { MAX_TIMER_MS } from '../options/check-options.ts'

/** Resolves at that time, or when the signal aborts. */
export async function sleepUntil(dueAt: number, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const left = dueAt - Date.now()
    if (left <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, Math.min(left, MAX_TIMER_MS))
      function done(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      signal?.addEventListener('abort', done)
    })
  }
}
