import type { RetryPolicy } from '../run/run.ts'
import { sha256 } from './run-appender.ts'

/** The pause after the n-th failure. The lot is drawn from a text, so that a resume draws the same. */
export function delayOf(
  { delayMs = 200, factor = 2, mostMs = 30_000, jitter = 0.2 }: RetryPolicy,
  failures: number,
  lotText: string,
): number {
  const whole = Math.min(mostMs, delayMs * factor ** (failures - 1))
  const lot = Number.parseInt(sha256(lotText).slice(0, 8), 16) / 2 ** 32
  return Math.round(whole * (1 - jitter * lot))
}

export const toRetryPolicy = (retry: RetryPolicy | number | undefined): RetryPolicy | undefined =>
  typeof retry === 'number' ? { tries: retry } : retry
