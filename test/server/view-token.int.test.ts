import { sessionRoom, streamRoom, streamRunId } from '@clew/trace'
import { createToken, revokeToken } from '@clew/server/tokens'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../live/client.ts'
import { begin } from '../live/session-writer.ts'
import { recordRun, serve, type Served } from './served.ts'

interface Document {
  readonly paths: Record<string, Record<string, { readonly 'x-scope'?: string | null }>>
}

const KEY = 'the key of these servers'

describe('A2 a view token', () => {
  let served: Served
  let application: Awaited<ReturnType<typeof createToken>>
  beforeAll(async () => {
    served = await serve({ tokens: true, signingKey: KEY }, async (ledger) => {
      for (const runId of ['run-1', 'run-2']) await recordRun(ledger, runId)
      for (const n of [1, 2]) {
        const streamId = `stream-${n}`
        await ledger.record({
          eventType: 'ui.stream_created',
          correlationId: streamRunId(streamId),
          payload: { streamId },
        })
        await ledger.record(begin(`session-${n}`, streamId))
      }
      const scopes = ['read'] as const
      application = await createToken(ledger, { name: 'app', scopes, workspace: 'default', expiresAt: null })
    })
  })
  afterAll(() => served.close())

  async function make(body: object, token = application.token): Promise<{ status: number; token: string }> {
    const answer = await served.fetch('/v1/view-tokens', {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const made = (await answer.json()) as { token?: string }
    return { status: answer.status, token: made.token ?? '' }
  }
  const status = async (path: string, token: string, method = 'GET'): Promise<number> => {
    const answer = await served.fetch(path, {
      method,
      token,
      ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
    })
    await answer.body?.cancel()
    return answer.status
  }

  it('shows its run and nothing else, at every route there is', async () => {
    const { token } = await make({ runId: 'run-1' })
    const { paths } = (await (await served.fetch('/openapi.json')).json()) as Document
    const shown: string[] = []
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        if (operation['x-scope'] === null || operation['x-scope'] === undefined) continue
        const of = (runId: string): string =>
          path
            .replace('{runId}', runId)
            .replace('{stepId}', 'plan%230')
            .replace('{workspaceId}', 'default')
            .replace(/\{sessionId\}/, 'session-1')
            .replace(/\{streamId\}/, 'stream-1')
            .replaceAll(/\{\w+\}/g, 'none')
        const one = await status(of('run-1'), token, method.toUpperCase())
        if (one === 200) shown.push(path)
        else expect([path, [403, 404].includes(one)]).toEqual([path, true])
        const other = await status(of('run-2'), token, method.toUpperCase())
        expect([path, [403, 404].includes(other)]).toEqual([path, true])
      }
    expect(shown).toContain('/v1/runs/{runId}/follow')
    expect(shown.every((path) => path.startsWith('/v1/runs/{runId}'))).toBe(true)
    expect(shown).not.toContain('/v1/runs/{runId}/diff')
  })

  it('shows its stream with its sessions, over HTTP and in rooms', async () => {
    const { token } = await make({ streamId: 'stream-1' })
    const base = '/api/workspaces/default'
    expect(await status(`${base}/streams/stream-1/messages`, token)).toBe(200)
    expect(await status(`${base}/streams/stream-2/messages`, token)).toBe(404)
    expect(await status(`${base}/streams/stream-1/messages`, token, 'POST')).toBe(403)
    expect(await status(`${base}/agent-sessions/session-1`, token)).toBe(200)
    expect(await status(`${base}/agent-sessions/session-2`, token)).toBe(404)
    expect(await status('/v1/runs/session-1/transcript', token)).toBe(200)
    expect(await status('/v1/runs/run-1', token)).toBe(404)
    expect(await status('/v1/runs', token)).toBe(404)
    const { join, close } = await connect(served.server.url, { token })
    onTestFinished(close)
    expect(await join(streamRoom('default', 'stream-1'))).toEqual({ ok: true })
    expect(await join(sessionRoom('default', 'session-1'))).toEqual({ ok: true })
    for (const room of [
      streamRoom('default', 'stream-2'),
      sessionRoom('default', 'session-2'),
      sessionRoom('default', 'none'),
      streamRoom('other', 'stream-1'),
    ])
      expect(await join(room)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it('cannot be changed, made from another key, used in another workspace, or used to make others', async () => {
    const { token } = await make({ runId: 'run-1' })
    const [body = '', signature = ''] = token.replace('clewview_', '').split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
    const forged = Buffer.from(JSON.stringify({ ...claims, target: { runId: 'run-2' } })).toString(
      'base64url',
    )
    expect(await status('/v1/runs/run-2', `clewview_${forged}.${signature}`)).toBe(401)
    expect(await status('/v1/runs/run-1', `clewview_${body}.${signature.slice(1)}`)).toBe(401)
    expect(await status('/v1/runs/run-1', `clewview_${body}.`)).toBe(401)
    expect(await status('/v1/runs/run-1', 'clewview_')).toBe(401)
    expect(await status('/v1/runs/run-1?workspace=other', token)).toBe(404)
    expect((await make({ runId: 'run-2' }, token)).status).toBe(404)
    const foreign = await serve({ tokens: true, signingKey: 'another key' }, (ledger) =>
      createToken(ledger, { name: 'x', scopes: ['read'], workspace: null, expiresAt: null }),
    )
    onTestFinished(() => foreign.close())
    expect((await foreign.fetch('/v1/runs/run-1', { token })).status).toBe(401)
  })

  it('lives for an hour at most, ends by itself, and with the token that it was made with', async () => {
    expect((await make({ runId: 'run-1', seconds: 3601 })).status).toBe(400)
    expect((await make({ runId: 'run-1', streamId: 'stream-1' })).status).toBe(400)
    const short = await make({ runId: 'run-1', seconds: 1 })
    const following = await served.fetch('/v1/runs/run-1/follow', { token: short.token })
    // Ends when the token does, and not before: the stream of a run stays open.
    await following.text()
    expect(await status('/v1/runs/run-1', short.token)).toBe(401)

    const lasting = await make({ runId: 'run-1', seconds: 3600 })
    const open = await served.fetch('/v1/runs/run-1/follow', { token: lasting.token })
    await revokeToken(served.ledger, application.record.tokenId)
    await open.text()
    expect(await status('/v1/runs/run-1', lasting.token)).toBe(401)
  })
})
