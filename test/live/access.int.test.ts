import { type Ledger, openLedger } from 'clew'
import { createLog, type RunningServer, SCOPES, type Scope, startServer } from '@clew/server'
import { createToken, revokeToken } from '@clew/server/tokens'
import { AUDIT_RUN_ID, recordAudit } from '@clew/ledger'
import {
  createStream,
  MESSAGE_CREATED,
  postMessage,
  SESSION_STARTED,
  STREAM_CREATED,
  streamRunId,
} from '@clew/trace'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ClientOptions, connect, sessionRoom, streamRoom, type TestClient } from './client.ts'
import { begin } from './session-writer.ts'

const log = createLog('silent')

describe('who may listen', () => {
  let ledger: Ledger
  const servers: RunningServer[] = []
  const clients: TestClient[] = []
  const serve = async (options: Partial<Parameters<typeof startServer>[0]> = {}): Promise<RunningServer> => {
    const server = await startServer({ ledger, operations: [], port: 0, log, ...options })
    servers.push(server)
    return server
  }
  const open = async (server: RunningServer, options?: ClientOptions): Promise<TestClient> => {
    const client = await connect(server.url, options)
    clients.push(client)
    return client
  }
  const refusal = async (server: RunningServer, options?: ClientOptions): Promise<string> => {
    try {
      await open(server, options)
      return 'let in'
    } catch (error) {
      return (Reflect.get(error as object, 'data') as { code: string } | undefined)?.code ?? String(error)
    }
  }
  const tokenFor = async (
    scopes: readonly Scope[],
    workspace: string | null,
    expiresAt: Date | null = null,
  ) => createToken(ledger, { name: 'a token', scopes, workspace, expiresAt })

  beforeEach(async () => {
    ledger = await openLedger('memory:')
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close()
    for (const server of servers.splice(0)) await server.close()
    await ledger.close()
  })

  it('A2 rooms: every kind of room × no token, a wrong one, each scope, each workspace', async () => {
    await tokenFor(['admin'], null)
    const server = await serve({ tokens: true })
    expect(await refusal(server)).toBe('unauthenticated')
    expect(await refusal(server, { token: 'clew_wrong' })).toBe('unauthenticated')
    const ids = ['s', 'clew:audit', 'clew:stream/s', 'clew:tokens']
    const rooms = (workspace: string): string[] =>
      ids.flatMap((id) => [sessionRoom(workspace, id), streamRoom(workspace, id)])
    for (const scope of SCOPES) {
      const { token } = await tokenFor([scope], 'default')
      if (scope === 'write') {
        expect(await refusal(server, { token })).toBe('forbidden')
        continue
      }
      const client = await open(server, { token })
      for (const room of rooms('default')) expect(await client.join(room)).toEqual({ ok: true })
      for (const room of [...rooms('other'), ...rooms('clew:server')])
        expect(await client.join(room)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    }
    const everywhere = await open(server, { token: (await tokenFor(['read'], null)).token })
    for (const room of [...rooms('default'), ...rooms('other')])
      expect(await everywhere.join(room)).toEqual({ ok: true })
    for (const room of rooms('clew:server'))
      expect(await everywhere.join(room)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it('A2 rooms: system runs have none: whoever joins by their names hears nothing of them, here and from other workspaces', async () => {
    const { token } = await tokenFor(['read'], 'default')
    const client = await open(await serve({ tokens: true }), { token })
    const systemRuns = [AUDIT_RUN_ID, streamRunId('general'), 'general']
    for (const id of systemRuns)
      for (const workspace of ['default', 'other'])
        for (const room of [sessionRoom(workspace, id), streamRoom(workspace, id)])
          expect((await client.join(room)).ok).toBe(workspace === 'default')
    const other = ledger.in('other')
    const uli = { type: 'user', id: 'u', name: 'Uli' } as const
    for (const view of [other, ledger]) {
      await recordAudit(view, 'system.policy_changed', {})
      await createStream(view, { streamId: 'general', title: view.workspace })
      await postMessage(view, { streamId: 'general', author: uli, content: view.workspace })
    }
    await client.hear(({ name }) => name === MESSAGE_CREATED)
    expect(client.heard.map(({ name }) => name)).toEqual([STREAM_CREATED, MESSAGE_CREATED])
    expect(JSON.stringify(client.heard)).not.toContain('other')
  })

  it('A2 rooms: a token in the header counts as well as one in the handshake', async () => {
    const { token } = await tokenFor(['read'], 'default')
    const server = await serve({ tokens: true })
    const client = await open(server, { headers: { authorization: `Bearer ${token}` } })
    expect(await client.join(sessionRoom('default', 's'))).toEqual({ ok: true })
  })

  it('A2 rooms: what is no room is answered, whatever it is', async () => {
    const client = await open(await serve())
    const odd: unknown[] = [
      '',
      'slow',
      client.socket.id,
      'ws:default:session:',
      'ws:default:session:a:b',
      'ws:default%2f..:session:s',
      'ws:default:secret:s',
      `ws:default:session:${'s'.repeat(10_000)}`,
      sessionRoom('de fault', 's'),
      sessionRoom('../default', 's'),
      null,
      7,
      { room: sessionRoom('default', 's') },
      ['ws:default:session:s'],
      '\u0000',
    ]
    for (const room of odd)
      expect(await client.join(room as string)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    for (const id of ['a/b', '../x', 'ümläut', '%2e%2e', 'a:b', '🦉'])
      expect(await client.join(sessionRoom('default', id))).toEqual({ ok: true })
    // Without a function to answer to, nothing happens to the server.
    client.socket.emit('join', sessionRoom('default', 's'), 'no function')
    client.socket.emit('join')
    expect(await client.join(sessionRoom('default', 's'))).toEqual({ ok: true })
  })

  it('A2 rooms: pages of other sites are not let in where no token is asked for', async () => {
    const server = await serve()
    expect(await refusal(server, { headers: { origin: 'https://evil.example' } })).toBe('forbidden')
    expect(await refusal(server, { headers: { host: 'evil.example' } })).toBe('forbidden')
    expect(await refusal(server, { headers: { origin: server.url } })).toBe('let in')
    expect(
      await refusal(server, { transports: ['polling'], headers: { origin: 'https://evil.example' } }),
    ).toBe('forbidden')
  })

  it('A2 a revoked token ends its open sockets, those through another server too, and they stay away', async () => {
    const { token, record } = await tokenFor(['read'], 'default')
    const other = await tokenFor(['read'], 'default')
    const [one, two] = [await serve({ tokens: true }), await serve({ tokens: true })]
    const sockets = [await open(one, { token }), await open(two, { token })]
    const unharmed = await open(two, { token: other.token })
    await Promise.all([...sockets, unharmed].map((client) => client.join(sessionRoom('default', 's'))))
    const gone = sockets.map(
      ({ socket }) => new Promise<string>((resolve) => socket.once('disconnect', resolve)),
    )
    await revokeToken(ledger, record.tokenId)
    expect(await Promise.all(gone)).toEqual(['io server disconnect', 'io server disconnect'])
    await ledger.record(begin('s', 'general'))
    await unharmed.hear(({ name }) => name === SESSION_STARTED)
    expect(sockets.map(({ heard }) => heard)).toEqual([[], []])
    expect(await refusal(one, { token })).toBe('unauthenticated')
  })

  it('A2 a token that expires ends its open sockets', async () => {
    const { token } = await tokenFor(['read'], 'default', new Date(Date.now() + 1500))
    const server = await serve({ tokens: true })
    const client = await open(server, { token })
    expect(await new Promise<string>((resolve) => void client.socket.once('disconnect', resolve))).toBe(
      'io server disconnect',
    )
  })

  it('A2 limits sockets of one principal and rooms of one socket, and frees both', async () => {
    const server = await serve({ limits: { socketsPerPrincipal: 2, roomsPerSocket: 2 } })
    const first = await open(server)
    const second = await open(server)
    expect(await refusal(server)).toBe('rate_limited')
    second.close()
    await vi.waitFor(async () => expect(await refusal(server)).toBe('let in'), { timeout: 60_000 })
    const [a, b, c] = ['a', 'b', 'c'].map((id) => sessionRoom('default', id)) as [string, string, string]
    expect(await first.join(a)).toEqual({ ok: true })
    expect(await first.join(b)).toEqual({ ok: true })
    expect(await first.join(b)).toEqual({ ok: true })
    expect(await first.join(c)).toMatchObject({ ok: false, error: { code: 'rate_limited' } })
    expect(await first.leave(a)).toEqual({ ok: true })
    expect(await first.join(c)).toEqual({ ok: true })
  })

  it('A2 an unexpected error while joining still answers, and the next join may succeed', async () => {
    let isBroken = true
    const shaky = (inner: Ledger): Ledger => ({
      ...inner,
      in: (...given) => shaky(inner.in(...given)),
      lastPosition: async () => {
        if (isBroken) throw new TypeError('something nobody thought of')
        return inner.lastPosition()
      },
    })
    const server = await serve({ ledger: shaky(ledger) })
    const client = await open(server)
    expect(await client.join(sessionRoom('default', 's'))).toMatchObject({
      ok: false,
      error: { code: 'unexpected' },
    })
    isBroken = false
    expect(await client.join(sessionRoom('default', 's'))).toEqual({ ok: true })
    await ledger.record(begin('s', 'general'))
    await client.hear(({ name }) => name === SESSION_STARTED)
  })

  it('A2 many who come back at once are all let in and told', async () => {
    const server = await serve()
    const many = await Promise.all(Array.from({ length: 150 }, () => open(server)))
    await Promise.all(many.map((client) => client.join(sessionRoom('default', 's'))))
    await ledger.record(begin('s', 'general'))
    await Promise.all(many.map((client) => client.hear(({ name }) => name === SESSION_STARTED)))
  })
})
