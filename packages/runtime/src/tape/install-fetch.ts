import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { outsidePlaces } from '../machine/current-run.ts'
import { currentCall } from '../machine/call-context.ts'
import type { Fetch } from './read-request.ts'

/** Original function of each installed one. */
const fronts = new WeakMap<Fetch, Fetch>()

/** Diagnostics channel for each request of Node's fetch, also by code that kept the function from before the replacement. */
const LEAVING = 'undici:request:create'

/**
 * Puts the tape in front of the global `fetch`, whatever that is by now: a run without a tape, an effect and code outside
 * of runs do not notice. Once; again only when somebody else has replaced it since.
 */
export function installFetch(): void {
  const next = globalThis.fetch
  if (fronts.has(next)) return
  const front: Fetch = (input, init) => {
    const place = currentCall()
    const tape = place?.effect === undefined ? place?.scope.tape : undefined
    if (!place || !tape) return next(input, init)
    if (!tape.rules.isIgnored(...addressOf(input, init))) return tape.fetch(place.scope, input, init, next)
    return tape.isReplay ? Promise.reject(notSent()) : outsidePlaces(() => next(input, init))
  }
  Object.defineProperty(front, 'name', { value: 'fetch' })
  fronts.set(front, next)
  globalThis.fetch = front
  unsubscribe(LEAVING, watch)
  subscribe(LEAVING, watch)
}

/** Removes the tape, unless another program has wrapped it; running runs record no more requests. */
export function restoreFetch(): void {
  const next = fronts.get(globalThis.fetch)
  if (!next) return
  globalThis.fetch = next
  unsubscribe(LEAVING, watch)
}

const notSent = (): TypeError =>
  new TypeError('fetch failed', { cause: new Error('a replay sends no requests') })

function watch(message: unknown): void {
  const place = currentCall()
  const tape = place?.effect === undefined ? place?.scope.tape : undefined
  if (!place || !tape) return
  const { origin, method, path } = (message as { request: Record<string, unknown> }).request
  if (!tape.rules.isIgnored(String(method), `${String(origin)}${String(path)}`))
    tape.missed(place.scope, String(origin))
}

function addressOf(
  input: Parameters<Fetch>[0],
  init: RequestInit | undefined,
): [method: string, url: string] {
  const [method, url] = input instanceof Request ? [input.method, input.url] : ['GET', String(input)]
  return [(init?.method ?? method).toUpperCase(), url]
}
