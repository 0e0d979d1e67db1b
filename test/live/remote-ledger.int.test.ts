import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToken, revokeToken } from '@clew/server/tokens'
import {
  agent,
  ClewError,
  type ClewEvent,
  foreignType,
  type Ledger,
  openLedger,
  openRunHandle,
  recordAnswers,
  requestStop,
  submitRun,
} from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startLossyProxy } from './lossy-proxy.ts'
import { serve, type Served, SECRET } from './serve.ts'

let folder: string
let store: string
let served: Served
/** The same ledger, opened beside the server. */
let beside: Ledger
let remote: Ledger

/** A key that redaction takes out. */
const SECRET_KEY = ['ghp_', 'P5SdFJYIyRYZpc2h', 'UaT4OCMyiLvXmGkcYM9F'].join('')

/** With a value that JSON lacks. */
const ANSWER = { seats: new Set([4, 5]) }

const NOTE = foreignType('execution.note')

async function open(
  args: readonly string[] = [],
  prepare: () => Promise<unknown> = async () => {},
): Promise<void> {
  await prepare()
  // Whose own runs would come between two readings that are compared.
  served = await serve(store, ['--no-housekeeping', ...args])
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-remote-'))
  store = `sqlite:${join(folder, 'ledger.db')}`
  process.env['CLEW_SECRET'] = SECRET
  beside = await openLedger(store)
})
afterEach(async () => {
  delete process.env['CLEW_SECRET']
  await served.kill()
  await beside.close()
  rmSync(folder, { recursive: true, force: true })
})

const errorOf = async (work: () => Promise<unknown>): Promise<object> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof ClewError) return { ...error.toJSON() }
    throw error
  }
  throw new Error('it was not refused')
}

describe('W9 a ledger behind a server', () => {
  beforeEach(async () => {
    await open()
    remote = await openLedger(served.url)
  })

  it('E1 L8 records, appends and reads as one that is opened itself, values that JSON lacks included', async () => {
    const at = new Date('2026-01-02T03:04:05Z')
    const recorded = await remote.record({
      eventType: NOTE,
      correlationId: 'r1',
      payload: { at, n: 1n, set: new Set([1]) },
    })
    expect(recorded.payload).toEqual({ at, n: 1n, set: new Set([1]) })
    const more = await remote.append([
      { eventType: 'execution.note', correlationId: 'r1', payload: { key: SECRET_KEY } },
      { eventType: 'execution.note', correlationId: 'r2', causationId: recorded.eventId, payload: {} },
    ])
    // Answered as stored: redacted, with place and hash.
    expect(JSON.stringify(more)).not.toContain(SECRET_KEY)
    const own = [...(await Array.fromAsync(beside.read('r1'))), ...(await Array.fromAsync(beside.read('r2')))]
    expect([recorded, ...more]).toEqual(own)
    expect([
      ...(await Array.fromAsync(remote.read('r1'))),
      ...(await Array.fromAsync(remote.read('r2'))),
    ]).toEqual(own)
    expect(await remote.getEvent(recorded.eventId)).toEqual(recorded)
    expect(await remote.effects(recorded.eventId)).toEqual([own[2]])
    expect(await remote.causes(own[2]?.eventId ?? '')).toEqual([recorded])
    expect(await Array.fromAsync(remote.read('none'))).toEqual([])
    const inside = await remote.causedBy(recorded, () =>
      remote.record({ eventType: NOTE, correlationId: 'r1', payload: {} }),
    )
    expect(inside.causationId).toBe(recorded.eventId)
    expect(await Array.fromAsync(remote.read('r1', { afterSeq: 1, limit: 1 }))).toEqual([own[1]])
    expect(await Array.fromAsync(remote.follow({ live: false }))).toEqual(
      await Array.fromAsync(beside.follow({ live: false })),
    )
    expect(await Array.fromAsync(remote.follow({ live: false, runId: 'r1', afterPosition: 1 }))).toEqual(
      await Array.fromAsync(beside.follow({ live: false, runId: 'r1', afterPosition: 1 })),
    )
  })

  it('V1 V10 gives the views that a ledger gives itself', async () => {
    const trip = agent('trip', async (run, input: { to: string }) => {
      const found = await run.step('find', { to: input.to }, async ({ to }) => [to])
      return run.interrupt({ question: `Book ${String(found[0])}?` })
    })
    await trip.start(beside, { to: 'owl barn' }, { runId: 'a', threadId: 't' })
    await trip.start(beside, { to: 'lake' }, { runId: 'b', threadId: 't2' })
    for (const each of [
      (ledger: Ledger) => ledger.getRun('a'),
      (ledger: Ledger) => ledger.getRun('a', { values: true }),
      (ledger: Ledger) => ledger.getRun('none'),
      (ledger: Ledger) => ledger.listRuns({ status: 'paused', threadId: 't' }),
      (ledger: Ledger) => ledger.listRuns({ since: new Date(0), limit: 1 }),
      (ledger: Ledger) => ledger.getSteps('a'),
      (ledger: Ledger) => ledger.getSkeleton('a'),
      (ledger: Ledger) => ledger.getState('a'),
      (ledger: Ledger) => ledger.transcript('a'),
      (ledger: Ledger) => ledger.transcript('a', { format: 'text' }),
      (ledger: Ledger) => ledger.timeline('a'),
      (ledger: Ledger) => ledger.taskGraph('a'),
      (ledger: Ledger) => ledger.audit('a'),
      (ledger: Ledger) => ledger.compliance(),
      (ledger: Ledger) => ledger.cost({ runId: 'a' }),
      (ledger: Ledger) => ledger.cost(),
      (ledger: Ledger) => ledger.diff('a', 'b'),
      (ledger: Ledger) => ledger.verify(),
      (ledger: Ledger) => ledger.lastPosition(),
    ])
      expect([String(each), await each(remote)]).toEqual([String(each), await each(beside)])
    const { hits, ...found } = await remote.search('barn')
    expect([found, hits.map(({ run, events }) => [run, events])]).toEqual([
      { lag: 0, nextCursor: null },
      (await beside.search('barn')).hits.map(({ run, events }) => [run, events]),
    ])
    expect(hits).toHaveLength(1)
    expect(await remote.explain('a')).toMatchObject(await beside.explain('a'))
  })

  it('E4 L4 its errors are the same, and nothing is written', async () => {
    const note = { eventType: 'execution.note', correlationId: 'r', payload: { n: 1 } }
    const [first] = await remote.append([note])
    const id = first?.eventId
    const position = await beside.lastPosition()
    for (const each of [
      (ledger: Ledger) => ledger.append([{ ...note, eventId: id, payload: { n: 2 } }]),
      (ledger: Ledger) => ledger.append([note], { expectedSeq: 7 }),
      (ledger: Ledger) => ledger.append([note, { ...note, eventType: 'note' }]),
      (ledger: Ledger) => ledger.append([note, { ...note, event_type: 'execution.note' } as never]),
      (ledger: Ledger) => ledger.append([{ ...note, payload: { f: () => 1 } }]),
      (ledger: Ledger) =>
        ledger.append([{ eventType: 'execution.message', correlationId: 'r', payload: { role: 7 } }]),
      (ledger: Ledger) => ledger.appendWire([{ ...note }]),
      (ledger: Ledger) => ledger.diff('none', 'r'),
    ])
      expect([String(each), await errorOf(() => each(remote))]).toMatchObject([
        String(each),
        {
          ...(await errorOf(() => each(beside))),
          ...(String(each).includes('diff') && { message: expect.anything(), hint: expect.anything() }),
        },
      ])
    expect(await beside.lastPosition()).toBe(position)
  })

  it('L3 what one client appends to a run stands in the order of the calls, awaited or not', async () => {
    const order = Array.from({ length: 60 }, (_, n) => n)
    await Promise.all(
      order.map((n) =>
        remote.append([{ eventType: 'execution.note', correlationId: `r${n % 2}`, payload: { n } }]),
      ),
    )
    expect(remote.waiting).toBe(0)
    for (const odd of [0, 1]) {
      const events = await Array.fromAsync(remote.read(`r${odd}`))
      expect(events.map(({ payload }) => payload['n'])).toEqual(order.filter((n) => n % 2 === odd))
    }
  })

  it('L4 an answer that is lost after the commit makes no duplicate: the same events are sent again', async () => {
    const proxy = await startLossyProxy(served.url)
    const far = await openLedger(proxy.url)
    proxy.loseAnswers(2)
    const [stored] = await far.append(
      [{ eventType: 'execution.note', correlationId: 'r', payload: { n: 1 } }],
      {
        expectedSeq: 0,
      },
    )
    expect(proxy.appended).toHaveLength(3)
    expect(new Set(proxy.appended).size).toBe(1)
    expect(await Array.fromAsync(beside.read('r'))).toEqual([stored])
    proxy.loseAnswers(1)
    await far.appendWire([{ event_type: 'execution.note', correlation_id: 'r', payload: { n: 2 } }])
    expect((await beside.getRun('r'))?.events).toBe(2)
    proxy.close()
  })

  it('L7 a server that is killed and comes again loses no event of an append or a follow, and doubles none', async () => {
    const stop = new AbortController()
    const followed: ClewEvent[] = []
    const ofRun: ClewEvent[] = []
    const follow = async (into: ClewEvent[], runId?: string): Promise<void> => {
      // The server has runs of its own.
      for await (const event of remote.follow({ runId, signal: stop.signal }))
        if (event.correlationId === 'r') into.push(event)
    }
    // The run is not there yet.
    const following = Promise.all([follow(followed), follow(ofRun, 'r')])
    const stored: ClewEvent[] = []
    for (let round = 0; round < 3; round++) {
      const appending = (async () => {
        for (let n = 0; n < 20; n++)
          stored.push(await remote.record({ eventType: NOTE, correlationId: 'r', payload: { round, n } }))
      })()
      while (stored.length < round * 20 + 7) await new Promise((resolve) => setTimeout(resolve, 5))
      await served.kill()
      await served.restart()
      await appending
    }
    await expect.poll(() => [followed.length, ofRun.length]).toEqual([60, 60])
    stop.abort()
    await following
    expect(followed).toEqual(stored)
    expect(ofRun).toEqual(stored)
    expect(await Array.fromAsync(remote.read('r'))).toEqual(stored)
    expect(stored.map(({ ledger }) => ledger.seq)).toEqual(stored.map((_, at) => at + 1))
  })

  it('R6 R12 answers and stops a run that waits', async () => {
    const ask = agent('ask', (run) => run.interrupt({ question: 'go?' }))
    await ask.start(beside, {}, { runId: 'a' })
    await ask.start(beside, {}, { runId: 'b' })
    expect((await recordAnswers(remote, 'a', { answer: ANSWER, by: 'ann' })).pauses).toEqual([])
    expect(await ask.resume(beside, 'a')).toMatchObject({ status: 'completed', output: ANSWER })
    expect(await requestStop(remote, 'b', { reason: 'enough' })).toMatchObject({
      runId: 'b',
      status: 'stopped',
    })
    expect(await errorOf(() => requestStop(remote, 'b'))).toEqual(
      await errorOf(() => requestStop(beside, 'b')),
    )
  })

  it('W2 waits for the result of a run that a worker ends, follows it and stops it', async () => {
    const ask = agent('ask', (run) => run.interrupt({ question: 'go?' }))
    await ask.start(beside, {}, { runId: 'a' })
    const handle = openRunHandle(remote, 'a')
    expect(await handle.result()).toMatchObject({ status: 'paused' })
    const followed = Array.fromAsync(handle.follow())
    await ask.resume(beside, 'a', { answer: ANSWER })
    expect(await handle.result()).toMatchObject({ status: 'completed', output: ANSWER })
    expect(await followed).toEqual(await Array.fromAsync(beside.read('a')))

    const id = await submitRun(beside, 'ask', {}, { runId: 'b' })
    const waiting = openRunHandle(remote, id).result()
    expect(await openRunHandle(remote, id).result({ waitMs: 1 })).toMatchObject({ status: 'pending' })
    expect(await openRunHandle(remote, id).stop()).toMatchObject({ status: 'stopped' })
    expect(await waiting).toMatchObject({ status: 'stopped' })
  })

  it('executes nothing and erases nothing: what it cannot do says so', async () => {
    const ask = agent('ask', (run) => run.interrupt({ question: 'go?' }))
    const error = await errorOf(() => ask.start(remote, {}, { runId: 'a' }))
    expect(error).toMatchObject({
      code: 'bad_option',
      message: expect.stringContaining(served.url) as string,
    })
    expect(await beside.getRun('a')).toBeNull()
    expect(() => remote.erase({ runId: 'a' })).toThrow(/`erase` cannot be done through the server/)
    await expect(openLedger(served.url, { redact: false })).rejects.toMatchObject({
      code: 'bad_option',
      fields: { option: 'redact' },
    })
    await expect(openLedger('http://clew.example')).rejects.toMatchObject({ code: 'bad_url' })
    await expect(openLedger('https://ann:secret@clew.example')).rejects.toThrow(/\*\*\*/)
  })

  it.each([
    ['/v1/events', { eventType: 'execution.note', correlation_id: 'r' }, 'eventType', 'event_type'],
    ['/v1/events', { events: [], options: { expected_seq: 0 } }, 'options.expected_seq', 'expectedSeq'],
    ['/v1/runs/r/scores', { name: 'n', value: 1, step_id: 's' }, 'step_id', 'stepId'],
    ['/v1/runs/r/stop', { wait_ms: 1 }, 'wait_ms', 'waitMs'],
  ])(
    'there is one spelling, and the error for the other names the field: %s %j',
    async (path, body, field, spelling) => {
      await remote.record({ eventType: NOTE, correlationId: 'r', payload: {} })
      const answer = await fetch(served.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const { error } = (await answer.json()) as { error: { hint: string; fields: Record<string, unknown> } }
      expect([answer.status, error.fields['option'] ?? error.fields['field']]).toEqual([400, field])
      expect(error.hint).toContain(spelling)
    },
  )

  it('that is closed waits for its appends, ends its followers, and is closed', async () => {
    const view = remote.in('other')
    const following = Array.fromAsync(remote.follow())
    const appended = remote.record({ eventType: NOTE, correlationId: 'r', payload: {} })
    await view.record({ eventType: NOTE, correlationId: 'elsewhere', payload: {} })
    await remote.close()
    expect((await appended).ledger.seq).toBe(1)
    await following
    for (const each of [
      () => remote.getRun('r'),
      () => view.getRun('r'),
      () => Array.fromAsync(remote.read('r')),
    ])
      expect(await errorOf(each)).toMatchObject({ code: 'closed' })
    expect(await beside.in('other').getRun('elsewhere')).toMatchObject({ events: 1 })
    expect(await beside.getRun('elsewhere')).toBeNull()
  })

  it('says that a site which answers with pages is no Clew server', async () => {
    const site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end('<!doctype html>')
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    const { port } = site.address() as AddressInfo
    const wrong = await openLedger(`http://127.0.0.1:${port}/shop/`, { retryMs: 0 })
    expect(await errorOf(() => wrong.listRuns())).toMatchObject({ code: 'store_refused' })
    site.close()
  })

  it('is unreachable in the end, with the events as they were', async () => {
    await served.kill()
    const brief = await openLedger(served.url, { retryMs: 300 })
    const note = { eventType: 'execution.note', correlationId: 'r', payload: {} }
    expect(await errorOf(() => brief.append([note]))).toMatchObject({ code: 'store_unreachable' })
    expect(await errorOf(() => brief.getRun('r'))).toMatchObject({ code: 'store_unreachable' })
    expect(await errorOf(() => Array.fromAsync(brief.follow()))).toMatchObject({ code: 'store_unreachable' })
  })
})

describe('W9 A2 with tokens', () => {
  it('a token opens its workspace and its scopes, and one that is revoked ends what is open', async () => {
    const make = (name: string, scopes: readonly ('read' | 'write')[], workspace: string) =>
      createToken(beside, { name, scopes, workspace, expiresAt: null })
    const [both, reader, other] = [
      await make('both', ['read', 'write'], 'default'),
      await make('reader', ['read'], 'default'),
      await make('other', ['read', 'write'], 'other'),
    ]
    await open(['--tokens'])
    const note = { eventType: 'execution.note', correlationId: 'r', payload: {} }
    const as = (token: string | undefined, workspace?: string) => openLedger(served.url, { token, workspace })
    remote = await as(both.token)
    const [stored] = await remote.append([note])
    expect(await errorOf(async () => (await as('wrong')).getRun('r'))).toMatchObject({
      code: 'unauthenticated',
    })
    expect(await errorOf(async () => (await as(undefined)).append([note]))).toMatchObject({
      code: 'unauthenticated',
    })
    expect(await errorOf(async () => (await as(reader.token)).append([note]))).toMatchObject({
      code: 'forbidden',
    })
    expect(await (await as(reader.token)).getEvent(stored?.eventId ?? '')).toEqual(stored)
    expect(await errorOf(async () => (await as(both.token, 'other')).getRun('r'))).toMatchObject({
      code: 'not_found',
    })
    expect(await (await as(other.token, 'other')).getRun('r')).toBeNull()
    expect(await errorOf(() => requestStop(remote, 'r'))).toMatchObject({ code: 'forbidden' })

    const following = errorOf(() => Array.fromAsync(remote.follow()))
    await revokeToken(beside, both.record.tokenId)
    expect(await following).toMatchObject({ code: 'unauthenticated' })
    expect(await errorOf(() => remote.append([note]))).toMatchObject({ code: 'unauthenticated' })
    expect((await beside.getRun('r'))?.events).toBe(1)
  })
})
