import { ClewError, fitsRecorded, type Redactor } from '@clew/ledger'
import type { Caller } from '../machine/machine-types.ts'
import { isPromise } from '../machine/perform.ts'
import type { Scope } from '../machine/scope.ts'
import type { CallSpec, Work } from '../machine/step.ts'
import { type EffectCall, StepError } from '../run/run.ts'
import { bodyAsRead, type BodyRecord, chunkBytes, piecesOf } from './body-record.ts'
import { fromFetchError, toFetchError } from './fetch-error.ts'
import { type BodySink, createSink, giveResponse } from './give-response.ts'
import { readBody } from './read-body.ts'
import { type Fetch, type FetchInput, type ReadRequest, readRequest } from './read-request.ts'
import { readUsage } from './read-usage.ts'
import { isSameRequest, requestDigest } from './request-digest.ts'
import { readHead, type ResponseHead, toHead } from './response-head.ts'
import type { TapedRequest, TapeRules } from './tape-options.ts'

/** Records what the code of a run fetches, and gives it back (D4). */
export interface Tape {
  readonly rules: TapeRules
  /** Nothing is sent, not even what the tape does not record. */
  readonly isReplay: boolean
  /** Maximum idle time of the code on its own timers: libraries wait before they retry. */
  readonly graceMs: number
  fetch(scope: Scope, input: FetchInput, init: RequestInit | undefined, next: Fetch): Promise<Response>
  /** A request of this code that the tape did not get to see. */
  missed(scope: Scope, origin: string): void
  /** Called with the result of a scope's code: ends and records the bodies that it left open before the result counts. */
  leave<T>(scope: Scope, result: T): T
}

/** All that a tape asks of a machine, be it live or replaying. */
export type TapeMachine = Pick<Caller, 'call' | 'cause'>

/** Longer than the default time-out of the libraries. */
const RETRY_MS = 10_000

interface ScopeState {
  /** Requests made so far: what a body is called by. */
  count: number
  /** Requests whose own body is still being read: later ones wait, so that calls are counted as the code made them. */
  reading: Promise<unknown> | undefined
  /** Bodies that have not come to their end. */
  readonly bodies: Set<Promise<void>>
  /** Aborts when the code has ended. */
  readonly left: AbortController
  missed: string | undefined
}

type TapedWork = Pick<Work & { kind: 'effect' }, 'fn' | 'pieces' | 'mayGiveAgain' | 'asGiven'>

/** One request, once it is known. */
interface Asked extends ReadRequest {
  taped: TapedRequest
  send: ReadRequest['send']
  readonly scope: Scope
  readonly key: string
  /** Call spec that the two calls of a request share. */
  effect(work: TapedWork): Omit<CallSpec, 'name'>
  readonly isRead: boolean
  /** The request was sent in this process. */
  isLive: boolean
  /** Held from the end of the first call to the beginning of the second. */
  live: Response | undefined
}

export function createTape(
  machine: TapeMachine,
  redactor: Redactor,
  rules: TapeRules,
  isReplay: boolean,
): Tape {
  const states = new WeakMap<Scope, ScopeState>()
  /** The last answer that was given back is a failure. */
  let isRetrying = false

  function stateOf(scope: Scope): ScopeState {
    const known = states.get(scope)
    if (known) return known
    const state: ScopeState = {
      count: 0,
      reading: undefined,
      bodies: new Set(),
      left: new AbortController(),
      missed: undefined,
    }
    states.set(scope, state)
    return state
  }

  async function fetch(...[scope, input, init, next]: Parameters<Tape['fetch']>): Promise<Response> {
    isRetrying = false
    const state = stateOf(scope)
    const read = readRequest(input, init, rules, next)
    const key = String(state.count++)
    const request = read instanceof Promise || state.reading ? await inOrder(state, read) : read
    const asked = ask(scope, key, request)
    const { url, signal } = request
    const { head, body } = readHead(await headOf(asked))
    if (!asked.isLive) isRetrying = isFailure(head)
    if (state.left.signal.aborted) {
      void asked.live?.body?.cancel()
      return new Promise(() => {})
    }
    const shown = isRetrying && rules.speed === 'at once' ? withoutWait(head) : head
    if (!head.hasBody) return giveResponse(shown, url, null)
    const sink = createSink()
    if (body) giveRest(sink, body, 0, signal)
    else {
      const ended = bodyOf(asked, head, sink).finally(() => state.bodies.delete(ended))
      state.bodies.add(ended)
    }
    return giveResponse(shown, url, sink.stream)
  }

  function ask(scope: Scope, key: string, request: ReadRequest): Asked {
    const { taped } = request
    const declared = rules.safetyOf(taped)
    const safety = declared ?? 'read'
    const isRead = safety === 'read'
    const asked: Asked = {
      ...request,
      scope,
      key,
      isRead,
      isLive: false,
      live: undefined,
      effect: (work) => specOf(asked.taped, work),
    }

    function specOf(as: TapedRequest, work: TapedWork): Omit<CallSpec, 'name'> {
      const digest = requestDigest(as, rules, redactor)
      return {
        input: as,
        isInputKept: true,
        digest: () => digest,
        isSameInput: (recorded) => isSameRequest(recorded, as, rules, redactor),
        work: { kind: 'effect', safety, declared, refresh: rules.refresh && isRead, ...work },
      }
    }

    return asked
  }

  /** A fork sends something else than the code asks for, with the headers of the code's own request. */
  function replaceRequest(asked: Asked, input: unknown): void {
    const taped = input as TapedRequest
    asked.taped = taped
    asked.send = (signal) => asked.sendAs(taped, signal)
  }

  const readingOf = (scope: Scope, { signal }: EffectCall, sink?: BodySink) => ({
    sink,
    cause: () => machine.cause,
    left: AbortSignal.any([stateOf(scope).left.signal, signal]),
    mostBytes: rules.mostBytes,
    redactor,
  })

  async function bodyIn(
    response: Response,
    scope: Scope,
    call: EffectCall,
    sink?: BodySink,
  ): Promise<BodyRecord> {
    const record = await readBody(response, readingOf(scope, call, sink))
    const used = rules.usage && readUsage(record, response.headers.get('content-type') ?? '')
    if (used) call.usage(used)
    return record
  }

  /** The first of the two calls: what the server answered. */
  async function headOf(asked: Asked): Promise<unknown> {
    const { scope, url, signal, isRead } = asked
    const headWork: TapedWork = {
      async fn(_request, call) {
        asked.isLive = true
        const response = await send(asked, call)
        const head = toHead(response, url, rules)
        if (isRead) asked.live = response
        // The outcome must not be recorded in part: after a crash it would be unknown.
        return isRead || !head.hasBody ? head : { ...head, body: await bodyIn(response, scope, call) }
      },
      mayGiveAgain: (output) => readHead(output).head.status < 400,
      asGiven(output) {
        const { head, body } = readHead(output)
        return body ? { ...head, body: bodyAsRead(body) } : head
      },
    }
    const specOf = (): CallSpec => ({ name: 'fetch', ...asked.effect(headWork) })
    const withInput = (input: unknown): CallSpec => {
      replaceRequest(asked, input)
      return specOf()
    }
    try {
      return (await machine.call(scope, { ...specOf(), withInput })).output
    } catch (error) {
      isRetrying = !asked.isLive
      throw error instanceof StepError ? fromFetchError(error, signal) : error
    }
  }

  /** The second one: what came after it, while it comes. */
  async function bodyOf(asked: Asked, head: ResponseHead, sink: BodySink): Promise<void> {
    const { scope, key, taped, signal } = asked
    let isLive = false
    let given = 0
    const work = asked.effect({
      async fn(_request, call) {
        isLive = true
        const response = asked.live ?? (await sendAgain(asked, head, call))
        asked.live = undefined
        return bodyIn(response, scope, call, sink)
      },
      pieces: (output) => {
        const record = output as BodyRecord
        return piecesOf(record, rules.speed, (at) => {
          given = at + 1
          sink.push(chunkBytes(record, record.chunks[at]?.[1] ?? ''))
        })
      },
      mayGiveAgain: (output) => (output as BodyRecord).ended === undefined,
      asGiven: (output) => ({ body: bodyAsRead(output as BodyRecord) }),
    })
    const input = { method: taped.method, url: taped.url }
    // The head was given for the whole request; what follows it has no more than its address.
    const isSameInput = (recorded: unknown): boolean => fitsRecorded(recorded, input)
    try {
      const { output } = await machine.call(scope, { name: 'fetch body', key, ...work, input, isSameInput })
      const record = output as BodyRecord
      giveRest(sink, record, isLive ? record.chunks.length : given, signal)
    } catch (error) {
      sink.fail(error instanceof StepError ? fromFetchError(error, signal) : error)
    }
  }

  return {
    rules,
    isReplay,
    get graceMs() {
      return isRetrying ? RETRY_MS : 0
    },
    fetch,
    missed(scope, origin) {
      stateOf(scope).missed ??= origin
    },
    leave(scope, result) {
      return isPromise(result) ? (leaving(scope, result) as typeof result) : result
    },
  }

  async function leaving(scope: Scope, result: Promise<unknown>): Promise<unknown> {
    try {
      return await result
    } finally {
      await close(scope)
    }
  }

  async function close(scope: Scope): Promise<void> {
    const state = states.get(scope)
    if (!state) return
    state.left.abort()
    await Promise.all(state.bodies)
    if (state.missed !== undefined) throw pastTheTape(state.missed)
  }
}

async function inOrder(state: ScopeState, read: ReadRequest | Promise<ReadRequest>): Promise<ReadRequest> {
  const before = state.reading
  const mine = (async () => {
    // The caller of the request receives the error.
    await before?.catch(() => {})
    return read
  })()
  state.reading = mine
  try {
    return await mine
  } finally {
    if (state.reading === mine) state.reading = undefined
  }
}

async function send({ signal, send: go }: Asked, { signal: over }: EffectCall): Promise<Response> {
  try {
    return await go(signal ? AbortSignal.any([signal, over]) : over)
  } catch (error) {
    throw toFetchError(error)
  }
}

/** The process that had sent it is gone: what it was answered then is on record, what follows comes from a new answer. */
async function sendAgain(asked: Asked, { status }: ResponseHead, call: EffectCall): Promise<Response> {
  const response = await send(asked, call)
  if (response.status === status) return response
  void response.body?.cancel()
  const message = `terminated: the request was sent again and answered with status ${response.status} instead of ${status}`
  throw new StepError({ name: 'TypeError', code: 'other_answer', message }, null)
}

/** Pushes the rest of a recorded body and its end. A cancelled body has no reader waiting for the end. */
function giveRest(sink: BodySink, record: BodyRecord, from: number, signal: AbortSignal | undefined): void {
  for (const [, text] of record.chunks.slice(from)) sink.push(chunkBytes(record, text))
  if (record.ended === undefined) sink.close()
  else if (record.error) sink.fail(fromFetchError(record.error, signal))
}

/** After which libraries ask again, by themselves. */
const isFailure = ({ status }: ResponseHead): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/** Shortens the wait before a retry: libraries read this header first, and the recorded wait is over. */
const withoutWait = (head: ResponseHead): ResponseHead => ({
  ...head,
  headers: { ...head.headers, 'retry-after-ms': '1' },
})

const pastTheTape = (origin: string): ClewError =>
  new ClewError(
    'bad_option',
    `A request to ${origin} went past the tape`,
    'Clients keep the fetch that they find when they are made: make this one after the agent with recordFetch, or in it. What is not to be recorded belongs into an effect, or is named by `ignore`.',
    { origin },
  )
