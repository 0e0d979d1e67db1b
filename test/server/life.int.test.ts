import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClewError, type Ledger } from '@clew/ledger'
import { createToken, listTokens, revokeToken } from '@clew/server/tokens'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordRun, serve, type Served } from './served.ts'

describe('tokens', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clew-server-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('A2 without a valid token nothing is listened on but this machine', async () => {
    await expect(serve({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(serve({ tokens: true })).rejects.toMatchObject({ code: 'bad_option' })
    const dead = async (ledger: Ledger): Promise<void> => {
      const { record } = await createToken(ledger, {
        name: 'x',
        scopes: ['read'],
        workspace: null,
        expiresAt: null,
      })
      await revokeToken(ledger, record.tokenId)
    }
    await expect(serve({ tokens: true }, dead)).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('A2 a token is kept only as its digest, and revoking it twice is once', async () => {
    const served = await serve()
    const { ledger } = served
    const { token, record } = await createToken(ledger, {
      name: 'laptop',
      scopes: ['read', 'write'],
      workspace: 'default',
      expiresAt: null,
    })
    let stored = ''
    for await (const line of ledger.in('clew:server').export()) stored += line
    expect(stored).toContain(record.digest)
    expect(stored).not.toContain(token)
    expect(stored).not.toContain(token.slice(10))
    const first = await revokeToken(ledger, record.tokenId)
    expect(await revokeToken(ledger, record.tokenId)).toEqual(first)
    expect(await listTokens(ledger)).toEqual([first])
    expect((await ledger.in('clew:server').verify()).ok).toBe(true)
    await expect(revokeToken(ledger, 'none')).rejects.toMatchObject({ code: 'not_found' })
    await served.close()
  })

  it('A2 what is made or revoked through one server counts at the other, also for what is open there', async () => {
    const url = `sqlite:${join(folder, 'two.db')}`
    let token = ''
    let tokenId = ''
    const one = await serve({}, (ledger) => recordRun(ledger, 'run-1'), url)
    const two = await serve(
      { tokens: true },
      async (ledger) => {
        await createToken(ledger, { name: 'first', scopes: ['read'], workspace: null, expiresAt: null })
      },
      url,
    )
    const made = await createToken(one.ledger, {
      name: 'x',
      scopes: ['read'],
      workspace: 'default',
      expiresAt: null,
    })
    token = made.token
    tokenId = made.record.tokenId
    expect((await two.fetch('/v1/runs', { token })).status).toBe(200)
    const stream = await two.fetch('/v1/runs/run-1/follow', { token })
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await revokeToken(one.ledger, tokenId)
    // The stream comes to its end by itself; nothing else would end it.
    for (let read = await reader.read(); !read.done; ) read = await reader.read()
    expect((await two.fetch('/v1/runs', { token })).status).toBe(401)
    await two.close()
    await one.close()
  })

  it('A2 a token that expires ends what it opened', async () => {
    let token = ''
    const served = await serve({ tokens: true }, async (ledger) => {
      await recordRun(ledger, 'run-1')
      const expiresAt = new Date(Date.now() + 1500)
      token = (await createToken(ledger, { name: 'x', scopes: ['read'], workspace: null, expiresAt })).token
    })
    const stream = await served.fetch('/v1/runs/run-1/follow', { token })
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    for (let read = await reader.read(); !read.done; ) read = await reader.read()
    expect((await served.fetch('/v1/runs', { token })).status).toBe(401)
    await served.close()
  })

  it('A2 who asks too often is told when to come back, and others are not', async () => {
    const tokens: string[] = []
    const served = await serve(
      {
        tokens: true,
        limits: { requestsPerSecond: 0.5, requestBurst: 3, failuresPerSecond: 0.5, failureBurst: 2 },
      },
      async (ledger) => {
        for (const name of ['a', 'b'])
          tokens.push(
            (await createToken(ledger, { name, scopes: ['read'], workspace: null, expiresAt: null })).token,
          )
      },
    )
    const ask = async (token: string | undefined) => {
      const answer = await served.fetch('/v1/runs', { token })
      return [answer.status, Number(answer.headers.get('retry-after') ?? 0)] as const
    }
    for (let i = 0; i < 3; i++) expect((await ask(tokens[0]))[0]).toBe(200)
    const [status, retryAfter] = await ask(tokens[0])
    expect(status).toBe(429)
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect((await ask(tokens[1]))[0]).toBe(200)
    expect([(await ask('wrong'))[0], (await ask('wrong'))[0], (await ask('wrong'))[0]]).toEqual([
      401, 401, 429,
    ])
    await served.close()
  })
})

describe('a store that fails', () => {
  const failing = (code: 'store_locked' | 'store_full' | 'store_unreachable' | 'closed') => {
    const fail = (): never => {
      throw new ClewError(code, 'It does not work', 'Try again.')
    }
    return (ledger: Ledger): Ledger => ({
      ...ledger,
      in: (workspace, options) => ({
        ...ledger.in(workspace, options),
        ...(workspace === 'default' && {
          listRuns: fail,
          getRun: fail,
          appendWire: fail,
          append: fail,
          lastPosition: fail,
        }),
      }),
    })
  }

  it.each(['store_locked', 'store_full', 'store_unreachable', 'closed'] as const)(
    'A2 %s is 503 with a time to come back, never a 500',
    async (code) => {
      const { ledger, server, close } = await serve()
      await server.close()
      const served = await serve({ ledger: failing(code)(ledger) })
      const asked: [string, RequestInit?][] = [
        ['/v1/runs'],
        ['/v1/runs/run-1'],
        ['/readyz'],
        [
          '/v1/events',
          {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ event_type: 'execution.message', correlation_id: 'r', payload: {} }),
          },
        ],
      ]
      for (const [path, init] of asked) {
        const answer = await served.fetch(path, init)
        expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([
          path,
          503,
          expect.stringMatching(/^\d+$/),
        ])
      }
      expect((await served.fetch('/healthz')).status).toBe(200)
      await served.close()
      await close()
    },
  )

  it('A2 an error that is none of ours says nothing of what it was about (P3)', async () => {
    const { ledger, server, close } = await serve()
    await server.close()
    const broken: Ledger = {
      ...ledger,
      in: (workspace, options) => ({
        ...ledger.in(workspace, options),
        listRuns: async () => {
          throw new Error('near "hunter2": syntax error')
        },
      }),
    }
    const served = await serve({ ledger: broken })
    const answer = await served.fetch('/v1/runs')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('hunter2')
    await served.close()
    await close()
  })
})

describe('closing', () => {
  it('L5 what was asked is answered, who follows is let go, and nobody new is let in', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let began = (): void => {}
    const begun = new Promise<void>((resolve) => (began = resolve))
    const { ledger, server, close } = await serve({}, (each) => recordRun(each, 'run-1'))
    await server.close()
    const slow: Ledger = {
      ...ledger,
      in: (workspace, options) => {
        const view = ledger.in(workspace, options)
        return {
          ...view,
          async listRuns(filter) {
            began()
            await held
            return view.listRuns(filter)
          },
        }
      },
    }
    const served: Served = await serve({ ledger: slow })
    const asked = served.fetch('/v1/runs')
    const stream = await served.fetch('/v1/runs/run-1/follow')
    await begun
    const closed = served.server.close()
    const text = await stream.text()
    expect(text).toContain('retry:')
    await expect(served.fetch('/healthz')).rejects.toThrow()
    release()
    const answer = await asked
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    expect(await answer.json()).toMatchObject({ runs: [{ runId: 'run-1' }] })
    await closed
    await close()
  })

  it('A2 a port that is taken is told as such', async () => {
    const served = await serve()
    await expect(serve({ port: served.server.port })).rejects.toMatchObject({ code: 'bad_option' })
    await served.close()
  })
})
