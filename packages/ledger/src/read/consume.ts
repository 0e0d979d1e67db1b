import { checkCount, checkLimit } from '../check-options.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { createNotifier } from './follow.ts'
import { type Cursor, putCursor, readCursors, type StoredCursor } from '../store/cursors.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'
import type { Store } from '../store/store.ts'
import { type Lease, type Leases, WORKERS } from '../store/leases.ts'

/** Gets events in the order of the ledger; when it resolves they are done, when it throws they come again. */
export type ConsumeHandler = (events: readonly ClewEvent[]) => unknown

export interface ConsumeOptions {
  /** Ends it after the batch under way. */
  readonly signal?: AbortSignal | undefined
  /** Maximum number of events per batch; 100 by default. */
  readonly batch?: number | undefined
  /** Start of a new consumer: after this position, or `now`; by default at the first event. */
  readonly from?: number | 'now' | undefined
}

export interface ConsumerState {
  readonly name: string
  /** Everything up to here was handled. */
  readonly position: number
  /** Events of the ledger after it; 0 when none of this workspace waits. */
  readonly lag: number
  /** Failures since it last moved, and the last one's error, redacted. */
  readonly failures: number
  readonly lastError: string | null
  readonly movedAt: string
  /** True while a worker runs under this name. */
  readonly isWorking: boolean
}

export interface Consumers {
  consume(name: string, handler: ConsumeHandler, options?: ConsumeOptions): Promise<void>
  list(): Promise<ConsumerState[]>
  reset(name: string, position: number): Promise<void>
  /** The leases of runs, without the claims of consumers. */
  readonly runLeases: Leases
  /** Ends all of them; waits for those that are not inside their handler. */
  stop(): Promise<void>
}

interface ConsumeParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly ports: Ports
  readonly redactor: Redactor
  readonly workspace: string
  readonly assertOpen: () => void
}

const BATCH = 100
const BEAT_MS = 15_000
const CLAIM_MS = 500
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 60_000
const ERROR_CHARS = 500
/** No workspace has a space in its name, so claims never meet the leases of runs. */
const CLAIMS = ' consumers'

interface Running {
  readonly abort: AbortController
  inHandler: boolean
  ended: Promise<void>
}

/** V9: durable cursors, at least once, one worker per name; a failed batch is retried and delays no other consumer. */
export function createConsumers(parts: ConsumeParts): Consumers {
  const { store, reader, ports, redactor, workspace, assertOpen } = parts
  const running = new Set<Running>()
  const notifiers = new Set<() => void>()

  async function find(name: string): Promise<StoredCursor | undefined> {
    return (await readCursors(store.slots, workspace)).find((cursor) => cursor.name === name)
  }

  async function begin(name: string, from: number | 'now' = 0): Promise<StoredCursor> {
    for (;;) {
      const known = await find(name)
      if (known) return known
      const position = from === 'now' ? (await store.info('lastPosition')).lastPosition : from
      const made = await put({ name, position, failures: 0, error: null, movedAt: now() }, 0)
      if (made) return made
    }
  }

  const put = (cursor: Cursor, version: number): Promise<StoredCursor | null> =>
    putCursor(store.slots, workspace, cursor, version)

  const now = (): string => new Date(ports.now()).toISOString()

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    // An aborted sleep is an end, not an error.
    await ports.sleep(ms, signal).catch(() => undefined)
  }

  /** Doubles with each failure; the jitter keeps those that failed together from coming back together. */
  function delay(failures: number): number {
    const whole = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20))
    return whole * (0.5 + Number.parseInt(ports.randomHex(4), 16) / 2 ** 33)
  }

  /** Waits until no other worker runs under this name; undefined if it was ended before. */
  async function claim(name: string, signal: AbortSignal): Promise<Lease | undefined> {
    const key = { workspace: workspace + CLAIMS, runId: name }
    while (!signal.aborted) {
      const held = (await store.leases.list()).find(
        (lease) => lease.workspace === key.workspace && lease.runId === name,
      )
      if (held?.state !== 'alive')
        try {
          return await store.leases.acquire(key)
        } catch (error) {
          if (!(error instanceof ClewError && error.code === 'busy')) throw error
        }
      await pause(CLAIM_MS, signal)
    }
    return undefined
  }

  /** Sends the heartbeat of this owner, also during a slow handler; aborts the work if the claim was lost. */
  function beat(lease: Lease, work: AbortController): () => void {
    const stop = new AbortController()
    const loop = async (): Promise<void> => {
      for (;;) {
        await pause(BEAT_MS, stop.signal)
        if (stop.signal.aborted) return
        try {
          await store.leases.renew(lease)
        } catch (error) {
          if (error instanceof ClewError && error.code.startsWith('store_')) continue
          work.abort()
          return
        }
      }
    }
    void loop()
    return () => stop.abort()
  }

  async function consume(
    name: string,
    handler: ConsumeHandler,
    options: ConsumeOptions,
    own: Running,
  ): Promise<void> {
    const { signal } = own.abort
    const lease = await claim(name, signal)
    if (!lease) return
    const work = new AbortController()
    const end = (): void => work.abort()
    signal.addEventListener('abort', end)
    // The caller may have stopped while the claim was in flight.
    if (signal.aborted) end()
    const silence = beat(lease, work)
    try {
      await workOn(name, handler, options, own, work.signal)
    } finally {
      silence()
      signal.removeEventListener('abort', end)
      await store.leases.release(lease).catch(() => undefined)
    }
  }

  async function workOn(
    name: string,
    handler: ConsumeHandler,
    { batch = BATCH, from }: ConsumeOptions,
    own: Running,
    signal: AbortSignal,
  ): Promise<void> {
    const notifier = createNotifier()
    const unwatch = store.watch(notifier.notify)
    notifiers.add(notifier.notify)
    signal.addEventListener('abort', notifier.notify)
    let tries = 0
    try {
      let cursor = await begin(name, from)
      while (!signal.aborted) {
        const notified = notifier.wait()
        const page = await store.readAll({ workspace, afterPosition: cursor.position, limit: batch })
        const last = page.at(-1)
        if (!last) {
          // The cursor was set back before `wait`, and no further notification comes for that.
          const standing = await begin(name, from)
          if (standing.version === cursor.version && !signal.aborted) await notified
          cursor = signal.aborted ? cursor : await begin(name, from)
          continue
        }
        const error = await handle(handler, page, own)
        if (error === undefined) tries = 0
        const done = error === undefined ? { position: last.position, failures: 0, error: null } : undefined
        const next = done ?? { failures: cursor.failures + 1, error: describe(error) }
        // Null if the cursor was reset in the meantime or another worker took over: then the new position counts.
        cursor =
          (await put({ ...cursor, ...next, movedAt: done ? now() : cursor.movedAt }, cursor.version)) ??
          (await begin(name, from))
        if (error === undefined) await yieldToEventLoop(ports)
        else await pause(delay(++tries), signal)
      }
    } finally {
      unwatch()
      notifiers.delete(notifier.notify)
      signal.removeEventListener('abort', notifier.notify)
    }
  }

  /** Error that the handler threw; undefined on success. */
  async function handle(
    handler: ConsumeHandler,
    page: Parameters<PayloadReader['toEvents']>[0],
    own: Running,
  ): Promise<unknown> {
    const events = await reader.toEvents(page)
    own.inHandler = true
    try {
      await handler(events)
      return undefined
    } catch (error) {
      return error ?? new Error('it threw nothing')
    } finally {
      own.inHandler = false
    }
  }

  /** Errors of handlers may quote payloads, so they are redacted like everything that is stored (P3). */
  function describe(error: unknown): string {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return redactor.text(text.slice(0, ERROR_CHARS * 4)).slice(0, ERROR_CHARS)
  }

  /** A store that is locked or full for a while is waited for, like a handler that fails. */
  async function untilAborted(own: Running, once: () => Promise<void>): Promise<void> {
    for (let failures = 0; !own.abort.signal.aborted; ) {
      try {
        await once()
        failures = 0
      } catch (error) {
        if (own.abort.signal.aborted && error instanceof ClewError && error.code === 'closed') return
        if (!(error instanceof ClewError && PASSING.has(error.code))) throw error
        await pause(delay(++failures), own.abort.signal)
      }
    }
  }

  return {
    consume(name, handler, options = {}) {
      try {
        assertOpen()
        assertName(name)
        if (options.batch !== undefined) checkLimit(options.batch)
        if (options.from !== 'now') checkCount('from', options.from)
      } catch (error) {
        return Promise.reject(error)
      }
      const own: Running = { abort: new AbortController(), inHandler: false, ended: Promise.resolve() }
      const end = (): void => own.abort.abort()
      if (options.signal?.aborted) return Promise.resolve()
      options.signal?.addEventListener('abort', end)
      running.add(own)
      own.ended = untilAborted(own, () => consume(name, handler, options, own)).finally(() => {
        running.delete(own)
        options.signal?.removeEventListener('abort', end)
      })
      return own.ended
    },
    async list() {
      assertOpen()
      const claims = await store.leases.list()
      const { newestPosition: upToPosition } = await store.info('newestPosition')
      const states: ConsumerState[] = []
      for (const { name, position, failures, error, movedAt } of await readCursors(store.slots, workspace)) {
        const [waiting] = await store.readAll({ workspace, afterPosition: position, upToPosition, limit: 1 })
        const claimed = claims.find((each) => each.workspace === workspace + CLAIMS && each.runId === name)
        const lag = waiting ? await store.countAfter(position) : 0
        const isWorking = claimed?.state === 'alive'
        states.push({ name, position, lag, failures, lastError: error, movedAt, isWorking })
      }
      return states
    },
    async reset(name, position) {
      assertOpen()
      checkCount('position', position)
      for (;;) {
        const known = await find(name)
        if (!known)
          throw new ClewError(
            'not_found',
            `There is no consumer ${name.slice(0, 80)} in this workspace`,
            'See ledger.consumers() for those that there are.',
            { consumer: name.slice(0, 80) },
          )
        const next = { ...known, position, failures: 0, error: null, movedAt: now() }
        if (await put(next, known.version)) break
      }
      for (const notify of notifiers) notify()
    },
    runLeases: {
      ...store.leases,
      async list(of = 'runs') {
        const all = await store.leases.list()
        return of === 'workers'
          ? all.filter(({ workspace: place }) => place.endsWith(WORKERS))
          : all.filter(({ workspace: place }) => !place.endsWith(CLAIMS) && !place.endsWith(WORKERS))
      },
    },
    async stop() {
      for (const own of running) own.abort.abort()
      const idle = [...running].filter((own) => !own.inHandler)
      await Promise.allSettled(idle.map((own) => own.ended))
    },
  }
}

const PASSING: ReadonlySet<string> = new Set([
  'store_unreachable',
  'store_locked',
  'store_full',
  'store_failed',
])

function assertName(name: string): void {
  if (/^[\w.:@-]{1,128}$/.test(name)) return
  throw new ClewError(
    'bad_option',
    'The name of the consumer is not usable',
    'Use 1 to 128 letters, digits and the characters . _ : @ -',
    { option: 'name' },
  )
}
