import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger } from '@clew/ledger'
import { createToken, revokeToken } from '@clew/server/tokens'
import { afterEach, describe, expect, it } from 'vitest'
import { connect } from '../live/client.ts'
import { recordRun, serve, type Served } from './served.ts'

let served: Served
afterEach(() => served.close())

const makeToken = (ledger: Ledger, name: string) =>
  createToken(ledger, { name, scopes: ['admin'], workspace: null, expiresAt: null })

/** A server that asks for tokens, and one that is valid. */
async function serveWithToken(options: Parameters<typeof serve>[0] = {}) {
  let made: Awaited<ReturnType<typeof makeToken>> | undefined
  served = await serve({ tokens: true, ...options }, async (ledger) => {
    made = await makeToken(ledger, 'laptop')
    await recordRun(ledger, 'run-1')
  })
  if (!made) throw new Error('no token was made')
  return made
}

describe('A2 wrong tokens', () => {
  const limits = { failureBurst: 5, failuresPerSecond: 0.001 }

  it('are slowed down, and keep no valid token out that comes from the same address', async () => {
    const { token } = await serveWithToken({ limits })
    const statuses: number[] = []
    for (let n = 0; n < 8; n++)
      statuses.push((await served.fetch('/v1/runs', { token: `wrong-${n}` })).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
    expect((await served.fetch('/v1/runs', { token })).status).toBe(200)
    const again = await served.fetch('/v1/runs', { token: 'wrong-9' })
    expect([again.status, Number(again.headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  const ask = async (forwarded: string): Promise<number> =>
    (await served.fetch('/v1/runs', { token: 'wrong', headers: { 'x-forwarded-for': forwarded } })).status

  it('are counted by the client behind a trusted proxy, whatever the client itself wrote before', async () => {
    await serveWithToken({ limits, trustProxy: true })
    for (let n = 0; n < 5; n++) expect(await ask(`10.0.0.${n}, 192.0.2.1`)).toBe(401)
    expect(await ask('10.0.0.9, 192.0.2.1')).toBe(429)
    expect(await ask('192.0.2.2')).toBe(401)
  })

  it('are counted by the connection where no proxy is trusted', async () => {
    await serveWithToken({ limits })
    for (let n = 0; n < 5; n++) expect(await ask(`192.0.2.${n}`)).toBe(401)
    expect(await ask('192.0.2.99')).toBe(429)
  })
})

describe('A2 a token that is revoked', () => {
  it('ends an upload that is open: no further line is taken, and the client is told why', async () => {
    const { token, record } = await serveWithToken()
    let sent = 0
    let isOver = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (isOver) return controller.close()
        await sleep(5)
        const note = { event_type: 'execution.note', correlation_id: 'upload', payload: { n: sent++ } }
        controller.enqueue(Buffer.from(`${JSON.stringify(note)}\n`))
      },
    })
    const answered = fetch(`${served.server.url}/v1/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` },
      body,
      duplex: 'half',
    }).then(({ status }) => status)
    void answered.catch(() => {}).finally(() => (isOver = true))
    const count = async (): Promise<number> => (await served.ledger.getRun('upload'))?.events ?? 0
    while ((await count()) < 5) await sleep(5)
    await revokeToken(served.ledger, record.tokenId)
    // Still sending, with lines on the way: the connection may be closed before the answer is read.
    expect([401, 'cut']).toContain(await answered.catch(() => 'cut'))
    const taken = await count()
    expect((await served.fetch('/v1/runs', { token })).status).toBe(401)
    expect(await count()).toBe(taken)
  })
})

describe('A2 the actor', () => {
  it('of what is recorded over HTTP is the token; a name in the body is on whose behalf', async () => {
    const { token } = await serveWithToken()
    const post = (body: object) =>
      served.fetch('/v1/runs/run-1/scores', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'accuracy', value: 1, ...body }),
      })
    expect((await post({ by: 'the boss' })).status).toBe(200)
    expect((await post({ name: 'speed' })).status).toBe(200)
    const by: unknown[] = []
    for await (const { payload } of served.ledger.read('run-1', { types: ['system.scored'] }))
      by.push(payload['by'])
    expect(by).toEqual(['laptop, on behalf of the boss', 'laptop'])
  })

  it('of a read that is audited is the token', async () => {
    const { token } = await serveWithToken()
    await served.ledger.setPolicy({ auditReads: true }, { by: 'ann' })
    expect((await served.fetch('/v1/runs/run-1/steps', { token })).status).toBe(200)
    const { entries } = await served.ledger.compliance()
    expect(entries.map(({ action, who }) => [action, who])).toContainEqual(['read', 'laptop'])
  })
})

it('A2 a body that nothing reads does not keep the connection of /healthz open', async () => {
  served = await serve()
  for (const method of ['GET', 'POST']) {
    const socket = connectTcp(served.server.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {})
    socket.write(`${method} /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\nx`)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    // The client waits, with nearly all of its body still to be sent.
    await new Promise((resolve) => socket.once('close', resolve))
    expect(text).toMatch(/^HTTP\/1.1 (?:200|405) /)
    expect(text.toLowerCase()).toContain('connection: close')
  }
})

it('T3 a client that joins or leaves without a room is answered', async () => {
  served = await serve()
  const { socket, close } = await connect(served.server.url)
  for (const name of ['join', 'leave'])
    expect(await socket.emitWithAck(name)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  close()
})
