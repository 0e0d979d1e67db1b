import { ClewError } from '@clew/ledger'
import type { Budget } from '../machine/budget.ts'
import type { CachePolicy, RetryPolicy } from '../run/run.ts'
import type { StartOptions } from '../run/run-options.ts'
import { createOptionCheck } from './known-options.ts'

/** Timers of Node take no more; a longer one would go off at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1
/** A hundred years: dates behind it are mistakes, and far from where dates end. */
const MAX_TIMEOUT_MS = 36_525 * 86_400_000
const MAX_NAME_CHARS = 200

const refuse = (what: string, hint: string, fields: Record<string, string> = {}): never => {
  throw new ClewError('bad_option', what, hint, fields)
}

const shown = (value: unknown): string =>
  typeof value === 'number' ? String(value) : value === null ? 'null' : `a ${typeof value}`

/** `what` begins a sentence: `A step`, `The agent`. */
export function checkName(name: string, what: string): string {
  if (typeof name !== 'string' || name.trim() === '')
    refuse(`${what} has no name`, 'Give it a short name that says what it does.')
  if (name.length > MAX_NAME_CHARS)
    refuse(
      `${what} has a name of ${name.length} characters: ${name.slice(0, 40)}…`,
      `Use at most ${MAX_NAME_CHARS}; what varies belongs into its input.`,
    )
  return name
}

export interface CallPolicy {
  readonly retry?: RetryPolicy | number | undefined
  readonly timeoutMs?: number | undefined
  readonly cache?: CachePolicy | boolean | undefined
}

/** Checks `retry`, `timeoutMs` and `cache` of a step, effect or node, which errors name `what`. */
export function checkPolicy({ retry, timeoutMs, cache }: CallPolicy, what: string): void {
  if (retry !== undefined) checkRetry(typeof retry === 'number' ? { tries: retry } : retry, what)
  if (timeoutMs !== undefined) checkTimeout(timeoutMs, what)
  if (typeof cache === 'object' && cache !== null) checkCacheNames(cache, `The cache of ${what}`)
  const ttlMs = typeof cache === 'object' && cache !== null ? cache.ttlMs : undefined
  if (ttlMs !== undefined && !(ttlMs >= 0))
    refuse(`The cache.ttlMs of ${what} is ${shown(ttlMs)}`, 'Give milliseconds, 0 or more, or leave it out.')
}

const checkCacheNames = createOptionCheck<CachePolicy>({ ttlMs: true })
const checkRetryNames = createOptionCheck<RetryPolicy>({
  tries: true,
  delayMs: true,
  factor: true,
  mostMs: true,
  jitter: true,
  when: true,
})
const checkBudgetNames = createOptionCheck<Budget>({ steps: true, tokens: true, cost: true, timeMs: true })

function checkRetry(retry: RetryPolicy, what: string): void {
  checkRetryNames(retry, `The retry of ${what}`)
  const { tries, delayMs, factor, mostMs, jitter } = retry
  if (!(tries >= 1) || (tries !== Number.POSITIVE_INFINITY && !Number.isInteger(tries)))
    refuse(
      `The retry of ${what} allows ${shown(tries)} tries`,
      'Give a whole number of attempts in all, 1 or more; 1 means that none is repeated.',
    )
  for (const [name, ms] of Object.entries({ delayMs, mostMs }))
    if (ms !== undefined && !(ms >= 0 && ms <= MAX_TIMER_MS))
      refuse(`The retry.${name} of ${what} is ${shown(ms)}`, `Give milliseconds from 0 to ${MAX_TIMER_MS}.`)
  if (factor !== undefined && !(factor >= 1 && Number.isFinite(factor)))
    refuse(`The retry.factor of ${what} is ${shown(factor)}`, 'Give a number of 1 or more.')
  if (jitter !== undefined && !(jitter >= 0 && jitter <= 1))
    refuse(`The retry.jitter of ${what} is ${shown(jitter)}`, 'Give a share from 0 to 1.')
}

export function checkTimeout(timeoutMs: number, what: string): void {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS))
    refuse(
      `The timeoutMs of ${what} is ${shown(timeoutMs)}`,
      `Give milliseconds from 1 to ${MAX_TIMEOUT_MS}, or leave it out for no limit.`,
    )
}

/** Infinity means no limit, 0 that nothing may be used. */
export function checkBudget(budget: Budget | undefined, what: string): void {
  checkBudgetNames(budget, `The budget of ${what}`)
  const { steps, tokens, cost, timeMs } = budget ?? {}
  for (const [name, most] of Object.entries({ steps, tokens, cost, timeMs }))
    if (most !== undefined && !(most >= 0))
      refuse(
        `The budget.${name} of ${what} is ${shown(most)}`,
        'Give a number of 0 or more, or leave it out for no limit.',
      )
}

export function checkRecursionLimit(limit: number | undefined): void {
  if (limit !== undefined && !(limit >= 1))
    refuse(
      `The recursionLimit is ${shown(limit)}`,
      'Give the number of supersteps that a run may take, 1 or more.',
    )
}

/** Whole numbers from `least` on, as far as a timer goes. */
export function checkCounts(what: string, counts: Readonly<Record<string, number>>, least: number): void {
  for (const [name, count] of Object.entries(counts))
    if (!(Number.isInteger(count) && count >= least && count <= MAX_TIMER_MS))
      refuse(`The ${name} of the ${what} is ${shown(count)}`, `Give a whole number of ${least} or more.`, {
        option: name,
      })
}

/** One running session per stream is one running run per thread (R9). */
export function threadOf({
  threadId,
  session,
}: Pick<StartOptions, 'threadId' | 'session'>): string | undefined {
  if (session && threadId !== undefined && threadId !== session.streamId)
    refuse(
      `The run has the thread ${threadId} and a session in the stream ${session.streamId}`,
      'Leave threadId out: the thread of a session is its stream.',
      { threadId, streamId: session.streamId },
    )
  return session?.streamId ?? threadId
}
