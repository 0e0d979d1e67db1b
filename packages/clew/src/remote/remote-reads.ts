import {
  type ClewEvent,
  ClewError,
  createRunViews,
  foldSteps,
  type FollowOptions,
  type JsonValue,
  type Ledger,
  type ReadOptions,
  type RunFilter,
  type RunState,
  type RunSummary,
  splitLines,
  type StepSkeleton,
  type WireEvent,
} from '@clew/ledger'
import { askAgain, askServer, isPassing, type RemoteServer } from './ask-server.ts'
import { followLines } from './follow-server.ts'
import { notRemote } from './not-remote.ts'
import { toEvent } from './remote-writes.ts'

type Views = ReturnType<typeof createRunViews>
type Reads = Views &
  Pick<
    Ledger,
    | 'read'
    | 'follow'
    | 'lastPosition'
    | 'watch'
    | 'getEvent'
    | 'getRun'
    | 'listRuns'
    | 'getSteps'
    | 'getSkeleton'
    | 'getState'
    | 'causes'
    | 'effects'
    | 'cost'
    | 'diff'
    | 'explain'
    | 'search'
    | 'verify'
  >

const EVENTS = '/v1/runs/{runId}/events'
const STEPS_PAGE = 10_000

/** Reads of a server: its routes, and folds of the events that it sends. */
export function createReads(server: RemoteServer): Reads {
  const { codecs } = server
  const decode = <T>(value: T): T => codecs.decode(value as JsonValue) as T
  const get = <T>(path: string, input: object): Promise<T> =>
    askAgain<T>(server, { rest: { method: 'get', path }, input: { ...input } })
  const post = <T>(path: string, input: object): Promise<T> =>
    askAgain<T>(server, { rest: { method: 'post', path }, input: { ...input } })

  /** Null for what is not there. */
  async function find<T>(path: string, input: object): Promise<T | null> {
    try {
      return await get<T>(path, input)
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  async function* read(
    runId: string,
    { afterSeq = 0, limit, types }: ReadOptions = {},
  ): AsyncGenerator<ClewEvent> {
    let [seq, left] = [afterSeq, limit]
    let untilMs = performance.now() + server.retryMs
    while (left === undefined || left > 0) {
      try {
        const rest = { method: 'get', path: EVENTS } as const
        const headers = { accept: 'application/x-ndjson' }
        const input = { runId, afterSeq: seq, limit: left, types: types?.join(',') }
        const { body } = await askServer(server, { rest, input, headers })
        for await (const line of body ? splitLines(body) : []) {
          const event = toEvent(codecs, JSON.parse(line) as WireEvent)
          seq = event.ledger.seq
          if (left !== undefined) left--
          yield event
          untilMs = performance.now() + server.retryMs
        }
        return
      } catch (error) {
        if (isMissing(error)) return
        // What broke off goes on behind the last event that came.
        if (!isPassing(error) || server.closed.aborted || performance.now() + PAUSE_MS > untilMs) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  /** The first message of a stream that begins now is the place where it begins. */
  async function lastPosition(): Promise<number> {
    const rest = { method: 'get', path: '/v1/follow' } as const
    for await (const { place } of followLines(server, { rest, input: {} })) return place
    throw new ClewError('closed', `The server ${server.url} ended the stream`, 'Try again.')
  }

  function watch(wake: () => void): () => void {
    const stop = new AbortController()
    const rest = { method: 'get', path: '/v1/follow' } as const
    const look = async (): Promise<void> => {
      for await (const _ of followLines(server, { rest, input: {}, signal: stop.signal })) wake()
    }
    // The caller learns from its next read why there are no more notifications.
    look().catch(wake)
    return () => stop.abort()
  }

  async function* followLedger({
    afterPosition = 0,
    types,
    signal,
    live,
  }: FollowOptions): AsyncGenerator<ClewEvent> {
    const end = live === false ? await lastPosition() : Number.POSITIVE_INFINITY
    if (afterPosition >= end) return
    const rest = { method: 'get', path: '/v1/follow' } as const
    const input = { afterPosition, types: types?.join(',') }
    for await (const { place, event } of followLines(server, { rest, input, signal })) {
      if (event && place <= end) yield toEvent(codecs, event)
      if (place >= end) return
    }
  }

  async function* followRun(runId: string, options: FollowOptions): AsyncGenerator<ClewEvent> {
    const { afterPosition = 0, types, signal } = options
    const from = await lastPosition()
    const rest = { method: 'get', path: '/v1/runs/{runId}/follow' } as const
    try {
      for await (const { event } of followLines(server, {
        rest,
        input: { runId, types: types?.join(',') },
        signal,
      }))
        if (event && event.ledger.position > afterPosition) yield toEvent(codecs, event)
    } catch (error) {
      if (!isMissing(error)) throw error
      // A run that is not there yet begins with an event behind this place.
      for await (const event of followLedger({ ...options, afterPosition: Math.max(from, afterPosition) }))
        if (event.correlationId === runId) yield event
    }
  }

  async function getEvent(eventId: string): Promise<ClewEvent | null> {
    const found = await find<WireEvent>('/v1/events/{eventId}', { eventId })
    return found && toEvent(codecs, found)
  }

  async function* ancestors(eventId: string): AsyncGenerator<ClewEvent> {
    const seen = new Set<string>()
    for (let id = (await getEvent(eventId))?.causationId; id != null && !seen.has(id); ) {
      seen.add(id)
      const cause = await getEvent(id)
      if (!cause) return
      yield cause
      id = cause.causationId
    }
  }

  const views = createRunViews({
    read: (runId) => read(runId),
    readTypes: () => Promise.reject(notRemote('The compliance log', server.url)),
  })

  return {
    ...views,
    compliance: ({ since, ...filter } = {}) => get('/v1/compliance', { ...filter, since: isoOf(since) }),
    read,
    lastPosition,
    watch,
    follow(options = {}) {
      const { runId, live, afterPosition = 0, types } = options
      if (runId === undefined) return followLedger(options)
      return live === false ? behind(read(runId, { types }), afterPosition) : followRun(runId, options)
    },
    getEvent,
    getRun: (async (runId: string, { values = false }: { readonly values?: boolean } = {}) => {
      const found = await find<{ run: RunSummary; values: object | null }>('/v1/runs/{runId}', {
        runId,
        steps: 0,
        values,
      })
      return found && decode(values ? { ...found.run, ...found.values } : found.run)
    }) as Ledger['getRun'],
    async listRuns({ limit = 50, since, systemRun, threadId, tags, scores, ...filter }: RunFilter = {}) {
      if (systemRun !== undefined) throw notRemote('A list of system runs', server.url)
      if (typeof threadId === 'object') throw notRemote('A list of the runs of several threads', server.url)
      const more = {
        tags: tags && Object.entries(tags).map(([name, value]) => `${name}=${value}`),
        scores: scores?.map(({ name, op, value }) => `${name}${op}${String(value)}`),
      }
      return decode(await get('/v1/runs', { ...filter, ...more, threadId, limit, since: isoOf(since) }))
    },
    async getSteps(runId) {
      return foldSteps(await Array.fromAsync(read(runId)))
    },
    async getSkeleton(runId, range) {
      if (range) throw notRemote('Reading a range of steps', server.url)
      const forkedAt =
        (await find<{ run: RunSummary }>('/v1/runs/{runId}', { runId, steps: 0 }))?.run.forkedFrom?.seq ?? 0
      const steps: StepSkeleton[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const input = { runId, limit: STEPS_PAGE, cursor }
        const page = await find<{ steps: StepSkeleton[]; nextCursor: string | null }>(
          '/v1/runs/{runId}/steps',
          input,
        )
        steps.push(...(page?.steps ?? []))
        cursor = page?.nextCursor ?? null
      }
      return decode(steps.filter(({ startedSeq }) => startedSeq > forkedAt))
    },
    async getState(runId, { superstep } = {}) {
      const found = await find<
        Omit<RunState, 'versions'> & { channels: readonly { name: string; version: number }[] }
      >('/v1/runs/{runId}/state', { runId, superstep, full: true })
      if (!found) return null
      const { state, next, createdAt, checkpointId, channels } = found
      const versions = Object.fromEntries(channels.map(({ name, version }) => [name, version]))
      return { state: decode(state), versions, superstep: found.superstep, next, createdAt, checkpointId }
    },
    causes: (eventId) => Array.fromAsync(ancestors(eventId)),
    async effects(eventId) {
      const input = { eventId, limit: STEPS_PAGE }
      const found = await find<{ events: { eventId: string }[] }>('/v1/events/{eventId}/effects', input)
      const events: ClewEvent[] = []
      for (const each of found?.events ?? []) {
        const event = await getEvent(each.eventId)
        if (event) events.push(event)
      }
      return events
    },
    cost: ({ since, runId, ...filter } = {}) =>
      get(runId === undefined ? '/v1/cost' : '/v1/runs/{runId}/cost', {
        ...filter,
        runId,
        since: isoOf(since),
      }),
    async diff(runId, otherRunId) {
      return decode(await get('/v1/runs/{runId}/diff', { runId, otherRunId, full: true }))
    },
    async explain(runId) {
      return decode(await post('/v1/runs/{runId}/explain', { runId }))
    },
    async search(query, { limit = 20, cursor, catchUpMs } = {}) {
      return decode(await get('/v1/search', { query, limit, cursor, waitMs: catchUpMs }))
    },
    verify: (runId, { heads, publicKey, projections } = {}) =>
      post('/v1/verify', { runId, heads, publicKey, projections }),
  }
}

const PAUSE_MS = 500

/** A run or an event that is not there, other than a workspace that the token does not open. */
const isMissing = (error: unknown): boolean =>
  error instanceof ClewError &&
  error.code === 'not_found' &&
  ('runId' in error.fields || 'eventId' in error.fields)

const isoOf = (since: string | Date | undefined): string | undefined =>
  since instanceof Date ? since.toISOString() : since

async function* behind(events: AsyncIterable<ClewEvent>, position: number): AsyncGenerator<ClewEvent> {
  for await (const event of events) if (event.ledger.position > position) yield event
}
