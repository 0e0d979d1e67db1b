import { Writable } from 'node:stream'
import type { Ledger } from '@clew/ledger'
import { createToken } from '@clew/server/tokens'
import { expect, it } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { serve } from './served.ts'

it('P3 logs tell who asked for which route and what came of it, and nothing of what it was about', async () => {
  let written = ''
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      written += chunk.toString()
      done()
    },
  })
  let token = ''
  const { ledger, server, close } = await serve({}, async (each) => {
    token = (await createToken(each, { name: 'x', scopes: ['admin'], workspace: null, expiresAt: null }))
      .token
  })
  await server.close()
  const broken: Ledger = {
    ...ledger,
    in: (workspace, options) => ({
      ...ledger.in(workspace, options),
      search: async () => {
        throw new Error('near "hunter2": syntax error', { cause: new Error('hunter2') })
      },
    }),
  }
  const served = await serve({ ledger: broken, log: createLog('debug', sink) })
  await served.fetch('/v1/search?query=hunter2', { token })
  await served.fetch('/v1/runs/hunter2?steps=3', { token })
  await served.fetch('/v1/runs', { token: `hunter2${token}` })
  await served.fetch('/v1/events', {
    token,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event_type: 'hunter2', correlation_id: 'hunter2', payload: { a: 'hunter2' } }),
  })
  await served.close()
  await close()
  const lines = written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(
    lines.filter(({ route }) => route !== undefined).map(({ route, status }) => [route, status]),
  ).toEqual([
    ['/v1/search', 500],
    ['/v1/runs/{runId}', 404],
    ['/v1/runs', 401],
    ['/v1/events', expect.any(Number)],
  ])
  // Where it went wrong is there; what was said is not.
  expect(lines.find(({ msg }) => msg === 'a request failed')).toMatchObject({
    err: { type: 'Error', cause: { type: 'Error' } },
  })
  expect(written).not.toContain('hunter2')
  expect(written).not.toContain(token)
})
