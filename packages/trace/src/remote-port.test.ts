import { ClewError, type ErrorCode, type EventInput, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, typesOf, type World } from '../test/world.ts'
import { findStops } from './find-stops.ts'
import type { TakeRequest } from './port.ts'
import { readSession } from './read-session.ts'
import type { ClearBody, EventsBody, Fetch, LeaseBody, ProgressBody, StopsBody } from './remote-port.ts'
import { takeSession } from './take-session.ts'
import { TraceEmitter } from './trace-emitter.ts'

/** As much of a server as the port needs, in this process; `fail` says what becomes of a request before it is served. */
function serve(ledger: Ledger, fail: (path: string) => 'lost' | 'unanswered' | number | undefined) {
  const asked: { path: string; headers: Readonly<Record<string, string>> }[] = []
  const answer = (status: number, body: unknown) => ({
    ok: status < 300,
    status,
    text: async () => JSON.stringify(body),
  })
  const routes: Record<string, (body: never) => Promise<unknown>> = {
    '/v1/events': ({ events, options }: EventsBody) =>
      ledger.append(
        events.map(
          (event): EventInput => ({
            eventId: event.event_id,
            eventType: event.event_type,
            timestamp: event.timestamp,
            source: event.source,
            correlationId: event.correlation_id,
            causationId: event.causation_id,
            payload: event.payload as Record<string, unknown>,
          }),
        ),
        options,
      ),
    '/v1/progress': ({ notes }: ProgressBody) => ledger.progress.put(notes),
    '/v1/progress/clear': ({ runId, stepId }: ClearBody) => ledger.progress.clear(runId, stepId),
    '/v1/leases': (request: TakeRequest) => takeSession(ledger, request),
    '/v1/leases/renew': ({ lease }: LeaseBody) => ledger.leases.renew(lease),
    '/v1/leases/release': ({ lease }: LeaseBody) => ledger.leases.release(lease),
    '/v1/leases/stops': async ({ sessionIds }: StopsBody) => ({ stops: await findStops(ledger, sessionIds) }),
  }
  const fetch: Fetch = async (url, { headers, body }) => {
    const path = url.replace('http://server', '')
    asked.push({ path, headers })
    const failure = fail(path)
    if (failure === 'lost') throw new TypeError('fetch failed')
    if (typeof failure === 'number') return answer(failure, null)
    try {
      const result = await routes[path]?.(JSON.parse(body) as never)
      if (failure === 'unanswered') throw new TypeError('socket hang up')
      return answer(200, result ?? { ok: true })
    } catch (error) {
      if (error instanceof ClewError) return answer(409, { error: error.toJSON() })
      throw error
    }
  }
  return { fetch, asked }
}

describe('T1 through a server', () => {
  let world: World
  let ledger: Ledger
  const failures: ('lost' | 'unanswered' | number | undefined)[] = []
  const emitter = (token?: string) => {
    const { fetch, asked } = serve(ledger, (path) => (path === '/v1/events' ? failures.shift() : undefined))
    const options = { server: 'http://server/', ...(token !== undefined && { token }), workspace: 'default' }
    return { trace: new TraceEmitter(options, world.tracePorts({ fetch })), asked }
  }
  beforeEach(() => {
    world = createWorld()
    ledger = world.open()
    failures.length = 0
  })
  afterEach(() => world.close())

  it('T1 a session is written, told and ended as in its own process', async () => {
    const { trace, asked } = emitter('secret-token')
    const session = await trace.forSession({ streamId: 'general', sessionId: 's1', persona: 'Ada' })
    const step = await session.startStep({ stepType: 'thinking' })
    step.progress({ content: 'Let me see ' })
    await world.turnClock(60)
    expect((await ledger.progress.read({ runId: 's1' })).notes).toMatchObject([{ content: 'Let me see ' }])
    await step.complete({ content: 'Seen' })
    await session.notifyCompleted()
    const { session: view, steps, persona } = await readSession(ledger, 's1')
    expect([view.status, steps[0]?.content, persona?.name]).toEqual(['completed', 'Seen', 'Ada'])
    expect((await ledger.progress.read()).notes).toEqual([])
    expect(await ledger.leases.list()).toEqual([])
    expect(new Set(asked.map(({ headers }) => headers['authorization']))).toEqual(
      new Set(['Bearer secret-token']),
    )
    expect(asked.every(({ headers }) => headers['clew-workspace'] === 'default')).toBe(true)
  })

  it('T1 an answer that is lost, and a server that restarts, cost time and no second event', async () => {
    const { trace } = emitter()
    const session = await trace.forSession({ streamId: 'general', sessionId: 's1' })
    failures.push('unanswered', 'lost', 503, 429)
    await (await session.startStep({ stepType: 'thinking' })).complete({ content: 'x' })
    await session.notifyCompleted()
    expect(await typesOf(ledger, 's1')).toEqual([
      'system.workflow_started',
      'execution.step_started',
      'execution.step_completed',
      'system.workflow_completed',
    ])
  })

  it.each<[string, ErrorCode]>([
    ['another session of the stream', 'busy'],
    ['the end of the session', 'ended'],
  ])('T1 a refusal comes back as it was: %s', async (_, code) => {
    const { trace } = emitter()
    const first = await trace.forSession({ streamId: 'general', sessionId: 's1' })
    if (code === 'ended') await first.notifyCompleted()
    const again = trace.forSession({ streamId: 'general', sessionId: code === 'busy' ? 's2' : 's1' })
    const error = await again.then(
      () => undefined,
      (thrown: unknown) => thrown as ClewError,
    )
    expect(error).toMatchObject({ code })
    expect(error?.message.split(error.hint)).toHaveLength(2)
  })

  it('T1 what is no Clew server is said to be none', async () => {
    const { trace } = emitter()
    failures.push(404)
    await expect(trace.forSession({ streamId: 'general', sessionId: 's1' })).rejects.toMatchObject({
      code: 'store_refused',
      fields: { status: 404 },
    })
    expect(await ledger.leases.list()).toEqual([])
  })
})
