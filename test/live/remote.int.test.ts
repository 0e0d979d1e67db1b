import { once } from 'node:events'
import { createLedger, createInProcessStore, type Ledger } from '@clew/ledger'
import { nodePorts } from '@clew/runtime/node-ports'
import { TraceEmitter } from 'clew'
import { createLog, type RunningServer, startServer } from '@clew/server'
import { createToken } from '@clew/server/tokens'
import { readSession } from '@clew/trace'
import { createControl } from '../../packages/clew/src/control/create-control.ts'
import { operations } from '../../packages/clew/src/operations.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const log = createLog('silent')

describe('a TraceEmitter that writes through a server', () => {
  let ledger: Ledger
  let server: RunningServer
  let aheadMs: number
  beforeEach(async () => {
    aheadMs = 0
    const ports = { ...nodePorts, now: () => Date.now() + aheadMs }
    ledger = createLedger({
      store: createInProcessStore(ports),
      ports,
      secret: 'a secret for tests that is long enough',
      heads: { verify: async () => false },
    })
    server = await startServer({ ledger, operations: [], port: 0, log })
  })
  afterEach(async () => {
    await server.close()
    await ledger.close()
  })

  async function live(emitter: TraceEmitter, sessionId: string): Promise<void> {
    const session = await emitter.forSession({
      sessionId,
      streamId: sessionId,
      persona: 'Owl',
      triggerMessageId: 'm',
    })
    const thinking = await session.startStep({ stepType: 'thinking' })
    thinking.progress({ content: 'Owls hunt' })
    await thinking.complete({ content: 'Owls hunt at night.' })
    const search = await session.startStep({ stepType: 'web_search', content: 'owls' })
    await search.complete({ sources: [{ type: 'web', url: 'https://owls.example/a', title: 'Owls' }] })
    const failing = await session.startStep({ stepType: 'tool_call' })
    await failing.fail(new RangeError('too far'))
    await session.notifyCompleted()
  }

  it('T1 writes the same record as one that has the ledger itself', async () => {
    await live(new TraceEmitter({ ledger }), 'near')
    await live(new TraceEmitter({ server: server.url }), 'far')
    const shape = async (sessionId: string) => {
      const { session, steps } = await readSession(ledger, sessionId)
      const plain = steps.map(
        ({ stepId: _, startedAt: __, completedAt: ___, durationMs: ____, ...step }) => step,
      )
      return {
        status: session.status,
        persona: session.persona,
        trigger: session.triggerMessageId,
        steps: plain,
      }
    }
    expect(await shape('far')).toEqual(await shape('near'))
    expect((await ledger.verify()).ok).toBe(true)
  })

  it('R9 one session per stream, told as busy over HTTP; one that takes its place ends it', async () => {
    const emitter = new TraceEmitter({ server: server.url })
    const first = await emitter.forSession({ sessionId: 'a', streamId: 'general', persona: 'Owl' })
    await first.startStep({ stepType: 'thinking' })
    await expect(emitter.forSession({ sessionId: 'b', streamId: 'general' })).rejects.toMatchObject({
      code: 'busy',
    })
    const second = await emitter.forSession({ sessionId: 'b', streamId: 'general', supersedes: 'a' })
    await expect(first.startStep({ stepType: 'thinking' })).rejects.toMatchObject({ code: 'stale_epoch' })
    await second.notifyCompleted()
    expect((await ledger.getRun('a'))?.status).toBe('superseded')
    expect((await ledger.getRun('b'))?.status).toBe('completed')
  })

  it('R12 a stop that is asked for over HTTP reaches the agent, wherever it runs, and the answer says how it ended', async () => {
    const near = await startServer({
      ledger,
      operations,
      controlOf: (view) => createControl(view),
      port: 0,
      log,
    })
    for (const [sessionId, emitter] of [
      ['near', new TraceEmitter({ ledger })],
      ['far', new TraceEmitter({ server: server.url })],
    ] as const) {
      const session = await emitter.forSession({ sessionId, streamId: sessionId })
      const whole = session.withSession(async ({ signal }) => {
        await session.startStep({ stepType: 'thinking' })
        await once(signal, 'abort')
        signal.throwIfAborted()
      })
      const asked = fetch(`${near.url}/v1/runs/${sessionId}/stop`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'enough' }),
      })
      await expect(whole).rejects.toMatchObject({ code: 'stopped', fields: { reason: 'enough' } })
      expect(await (await asked).json()).toMatchObject({ run: { runId: sessionId, status: 'stopped' } })
    }
    await near.close()
  })

  it('A2 needs the scope write, and leases of other workspaces are not there', async () => {
    const make = async (scopes: readonly ('read' | 'write')[], workspace: string) =>
      (await createToken(ledger, { name: 't', scopes, workspace, expiresAt: null })).token
    const [reader, writer, stranger] = [
      await make(['read'], 'default'),
      await make(['write'], 'default'),
      await make(['write'], 'other'),
    ]
    const emit = (token: string, workspace?: string) =>
      new TraceEmitter({ server: server.url, token, workspace })
    const options = { sessionId: 's', streamId: 'general' }
    await expect(emit(reader).forSession(options)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(emit(stranger).forSession(options)).rejects.toMatchObject({ code: 'not_found' })
    const session = await emit(writer).forSession(options)
    const [lease] = await ledger.leases.list()
    const post = async (path: string, token: string, body: unknown): Promise<number> =>
      (
        await fetch(`${server.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).status
    const { state: _, ...held } = lease as NonNullable<typeof lease>
    expect(await post('/v1/leases/release', stranger, { lease: held })).toBe(404)
    expect(await post('/v1/leases/renew', stranger, { lease: held })).toBe(404)
    expect(await post('/v1/leases/renew', writer, { lease: { ...held, epoch: 99 } })).toBe(409)
    expect(await post('/v1/leases/renew', writer, { lease: held })).toBe(200)
    expect(await post('/v1/progress', writer, { notes: [{ runId: 's' }] })).toBe(400)
    expect(await post('/v1/progress', writer, { notes: 'many' })).toBe(400)
    await session.notifyCompleted()
  })

  it('T7 a session belongs to its agent, not to the server: it can be given up and taken up again', async () => {
    const emitter = new TraceEmitter({ server: server.url })
    const session = await emitter.forSession({ sessionId: 's', streamId: 'general' })
    const [lease] = await ledger.leases.list()
    expect(lease).toMatchObject({
      runId: 's',
      state: 'alive',
      owner: expect.stringMatching(/^remote-/) as string,
    })
    await session.notifyInterrupted('enough')
    expect((await ledger.getRun('s'))?.status).toBe('interrupted')
    const again = await emitter.forSession({ sessionId: 's', streamId: 'general' })
    await again.startStep({ stepType: 'thinking' })
    await again.notifyCompleted()
    expect((await readSession(ledger, 's')).session).toMatchObject({ status: 'completed', generation: 2 })
  })

  it('T7 a session whose agent has been silent for 60 s is interrupted by any server, and all that it left open', async () => {
    const session = await new TraceEmitter({ server: server.url }).forSession({
      sessionId: 's',
      streamId: 'general',
    })
    await session.startStep({ stepType: 'thinking' })
    aheadMs = 61_000
    // It sweeps when it starts, and then every 15 s.
    const other = await startServer({ ledger, operations: [], port: 0, log })
    await vi.waitFor(async () => expect((await ledger.getRun('s'))?.status).toBe('interrupted'), {
      timeout: 60_000,
    })
    await other.close()
    expect((await ledger.getSteps('s')).map(({ status }) => status)).toEqual(['interrupted'])
    // It was only late, and nobody else has touched it: it goes on.
    await session.startStep({ stepType: 'thinking' })
    await session.notifyCompleted()
    expect((await readSession(ledger, 's')).session).toMatchObject({ status: 'completed', generation: 2 })
  })
})
