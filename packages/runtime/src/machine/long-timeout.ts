import { MAX_TIMER_MS } from '../options/check-options.ts'

/**
 * `setTimeout` for any time: Node fires a timer of more than 24.8 days at once. `keep` is told the handle of the timer that
 * is set now, for `clearTimeout`; a long time takes several, one after the other.
 */
export function setLongTimeout(
  fn: () => void,
  ms: number,
  keep: (timer: ReturnType<typeof setTimeout>) => void,
): void {
  const isLast = ms <= MAX_TIMER_MS
  const next = (): void => setLongTimeout(fn, ms - MAX_TIMER_MS, keep)
  keep(setTimeout(isLast ? fn : next, isLast ? ms : MAX_TIMER_MS))
}
