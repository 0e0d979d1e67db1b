import { type Ledger, openLedger, toWire } from 'clew'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog, type RunningServer, startServer } from '@clew/server'
import { createToken, revokeToken } from '@clew/server/tokens'
import { openUnread, readSse, take } from './read-sse.ts'

const log = createLog('silent')
const say = (ledger: Ledger, runId: string, payload: Record<string, unknown> = {}) =>
  ledger.record({ eventType: 'execution.message', correlationId: runId, payload })

describe('following over HTTP', () => {
  let ledger: Ledger
  let server: RunningServer
  beforeEach(async () => {
    ledger = await openLedger('memory:')
    server = await startServer({ ledger, operations: [], port: 0, log })
  })
  afterEach(async () => {
    await server.close()
    await ledger.close()
  })

  const streams = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^clew_streams (\d+)$/m.exec(text)?.[1])
  }

  it('L7 gives the lines of a run as they are stored, history first, then live, from the last id on', async () => {
    const first = await say(ledger, 'r', { text: 'one\n\ntwo', when: new Date(0) })
    await say(ledger, 'other')
    const response = await fetch(`${server.url}/v1/runs/r/follow`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const taking = take(response, 3)
    const second = await say(ledger, 'r')
    await say(ledger, 'other')
    const third = await say(ledger, 'r')
    const messages = await taking
    expect(messages.map(({ id }) => id)).toEqual(['1', '2', '3'])
    const lines = messages.map(({ data }) => JSON.parse(data as string) as unknown)
    expect(lines.slice(1)).toEqual([toWire(second), toWire(third)])
    // A rich value travels as its tag.
    expect(lines[0]).toMatchObject({
      event_id: first.eventId,
      payload: { text: 'one\n\ntwo', when: { $clew: 'date' } },
    })
    const again = await fetch(`${server.url}/v1/runs/r/follow?afterSeq=1`, {
      headers: { 'last-event-id': '2' },
    })
    expect((await take(again, 1)).map(({ id }) => id)).toEqual(['3'])
  })

  it('T4 tells the text so far of a run to whoever asks for it: where it stands, then as it grows, between the lines', async () => {
    await say(ledger, 'r')
    const note = (content: string, version: number) => ({
      runId: 'r',
      stepId: 'think',
      attempt: 1,
      stepType: 'thinking',
      version,
      content,
      at: new Date(0).toISOString(),
    })
    await ledger.progress.put([note('Let me ', 1), { ...note('not mine ', 1), runId: 'other' }])
    const plain = take(await fetch(`${server.url}/v1/runs/r/follow`), 2)
    const messages = readSse(await fetch(`${server.url}/v1/runs/r/follow?progress=true`))
    const next = async (): Promise<unknown> => {
      const { value } = (await messages.next()) as IteratorYieldResult<{ id: string | null; data: string }>
      const { content, event_type: type } = JSON.parse(value.data) as Record<string, unknown>
      return [value.id, content ?? type]
    }
    const first = [await next(), await next()]
    expect(first).toEqual(
      expect.arrayContaining([
        [null, 'Let me '],
        ['1', 'execution.message'],
      ]),
    )
    await ledger.progress.put([note('Let me see ', 2), { ...note('not mine either ', 2), runId: 'other' }])
    expect(await next()).toEqual([null, 'Let me see '])
    await say(ledger, 'r')
    expect(await next()).toEqual(['2', 'execution.message'])
    await messages.return(undefined)
    expect((await plain).map(({ id }) => id)).toEqual(['1', '2'])
    await vi.waitFor(async () => expect(await streams()).toBe(0), 60_000)
  })

  it('L7 refuses a place that is none, and a run that is not there', async () => {
    await say(ledger, 'r')
    const statuses = await Promise.all(
      [
        '/v1/runs/r/follow?afterSeq=x',
        '/v1/runs/r/follow?untilEnd=7',
        '/v1/runs/none/follow',
        '/v1/follow?afterPosition=-1',
      ].map(async (path) => (await fetch(server.url + path)).status),
    )
    expect(statuses).toEqual([400, 400, 404, 400])
  })

  it('L7 ends with the run when asked to, and then says that there is nothing to come back for', async () => {
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'r', payload: {} })
    const response = await fetch(`${server.url}/v1/runs/r/follow?untilEnd=true`)
    const all = Array.fromAsync(readSse(response))
    await ledger.record({ eventType: 'system.workflow_completed', correlationId: 'r', payload: {} })
    expect((await all).map(({ id }) => id)).toEqual(['1', '2'])
    const again = await fetch(`${server.url}/v1/runs/r/follow?untilEnd=true`, {
      headers: { 'last-event-id': '2' },
    })
    expect(again.status).toBe(204)
  })

  it('L7 follows a workspace from now on by position, says at once where that is, and only the types that were asked for', async () => {
    await say(ledger, 'r')
    const response = await fetch(`${server.url}/v1/follow?types=execution.reasoning`)
    const messages = readSse(response)
    expect((await messages.next()).value).toEqual({ id: '1', data: null })
    await say(ledger, 'r')
    // Nothing that was asked for, but its place is: who comes back does not go through it again.
    expect((await messages.next()).value).toEqual({ id: '2', data: null })
    await ledger.in('elsewhere').record({ eventType: 'execution.reasoning', correlationId: 'r', payload: {} })
    await ledger.record({ eventType: 'execution.reasoning', correlationId: 'q', payload: {} })
    expect((await messages.next()).value).toMatchObject({ id: '4' })
    await messages.return(undefined)
    const past = await fetch(`${server.url}/v1/follow?afterPosition=0`)
    expect((await take(past, 3)).map(({ id }) => id)).toEqual(['1', '2', '4'])
  })

  it('L7 cuts a client that stops reading, and slows nobody else', async () => {
    await server.close()
    // Long enough for the other client, which shares this process with the server and the writer on a busy machine.
    server = await startServer({ ledger, operations: [], port: 0, log, limits: { streamStallMs: 5000 } })
    await say(ledger, 'r')
    const stuck = await openUnread(`${server.url}/v1/runs/r/follow`)
    const reading = await fetch(`${server.url}/v1/runs/r/follow`)
    const text = 'x'.repeat(256 * 1024)
    const taking = take(reading, 61)
    for (let i = 0; i < 60; i++) await say(ledger, 'r', { text })
    expect((await taking).at(-1)?.id).toBe('61')
    // It does not read, so it does not see its end either; the server does.
    await vi.waitFor(async () => expect(await streams()).toBe(0), { timeout: 60_000, interval: 100 })
    stuck.destroy()
  })

  it('A2 ends the stream of a token that is revoked, and lets nobody follow another workspace', async () => {
    const { token, record } = await createToken(ledger, {
      name: 'reader',
      scopes: ['read'],
      workspace: 'default',
      expiresAt: null,
    })
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${server.url}/v1/follow?workspace=other`, { headers })).status).toBe(404)
    const response = await fetch(`${server.url}/v1/follow`, { headers })
    const all = Array.fromAsync(readSse(response))
    await say(ledger, 'r')
    await revokeToken(ledger, record.tokenId)
    expect((await all).length).toBeGreaterThan(0)
    expect((await fetch(`${server.url}/v1/follow`, { headers })).status).toBe(401)
  })

  it('A2 lets go of streams when it closes, with all that was committed before', async () => {
    const response = await fetch(`${server.url}/v1/follow?afterPosition=0`)
    const messages = readSse(response)
    await messages.next()
    await say(ledger, 'r')
    expect((await messages.next()).value).toMatchObject({ id: '1' })
    const rest = Array.fromAsync(messages)
    await server.close()
    expect(await rest).toEqual([])
  })
})
