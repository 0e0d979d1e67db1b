import { type Ledger, openLedger } from 'clew'
import { createLog, type RunningServer, startServer } from '@clew/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { sessionDetail, streamList, streamPage } from '../../packages/server/src/live/schemas.ts'
import { begin, end, note, stepBegins, stepEnds, writeSession } from './session-writer.ts'

const ADA = { type: 'user', id: 'ada', name: 'Ada' }

interface Message {
  messageId: string
  content: unknown
}

describe('streams and sessions over HTTP', () => {
  let ledger: Ledger
  let server: RunningServer
  beforeEach(async () => {
    ledger = await openLedger('memory:')
    server = await startServer({ ledger, operations: [], port: 0, log: createLog('silent') })
  })
  afterEach(async () => {
    await server.close()
    await ledger.close()
  })

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: never }> {
    const response = await fetch(`${server.url}/api/workspaces/default${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    })
    return { status: response.status, body: (await response.json()) as never }
  }
  /** What is answered is what OpenAPI says, no field more and none less. */
  function assertDescribed(schema: z.ZodType, given: unknown): void {
    expect(schema.parse(given)).toEqual(given)
  }

  it('T5 a stream: made, written to, edited, deleted, with a thread, page by page', async () => {
    expect(await ask('POST', '/streams', { streamId: 'general', title: 'General' })).toMatchObject({
      status: 201,
      body: { streamId: 'general', title: 'General', parentStreamId: null },
    })
    // Again is no second one.
    expect((await ask('POST', '/streams', { streamId: 'general', title: 'General' })).status).toBe(201)
    const ids: string[] = []
    for (let i = 1; i <= 7; i++) {
      const { status, body } = await ask('POST', '/streams/general/messages', {
        content: `message ${i}`,
        author: ADA,
      })
      expect(status).toBe(201)
      ids.push((body as Message).messageId)
    }
    const message = (i: number): string => `/streams/general/messages/${ids[i - 1] as string}`
    expect((await ask('PATCH', message(6), { content: 'changed' })).status).toBe(200)
    expect((await ask('DELETE', message(5))).status).toBe(200)
    const thread = await ask('POST', `${message(7)}/threads`, { streamId: 'owls' })
    expect(thread).toMatchObject({
      status: 201,
      body: { streamId: 'owls', parentStreamId: 'general', parentMessageId: ids[6] },
    })
    await ask('POST', '/streams/owls/messages', { content: 'a reply', author: ADA })
    await ledger.record(begin('s', 'general'))

    const first = await ask('GET', '/streams/general/messages?limit=3')
    assertDescribed(streamPage, first.body)
    const page = first.body as z.output<typeof streamPage>
    expect(page.messages.map(({ content }) => content)).toEqual([null, 'changed', 'message 7'])
    expect(page.messages[2]).toMatchObject({ threadStreamId: 'owls', replyCount: 1 })
    expect(page.sessions).toMatchObject([{ sessionId: 's', status: 'running', persona: { name: 'Owl' } }])
    const second = await ask('GET', `/streams/general/messages?limit=3&cursor=${page.previousCursor ?? ''}`)
    const older = second.body as z.output<typeof streamPage>
    expect(older.messages.map(({ content }) => content)).toEqual(['message 2', 'message 3', 'message 4'])
    expect(older.sessions).toEqual([])

    const listed = await ask('GET', '/streams')
    assertDescribed(streamList, listed.body)
    expect((listed.body as z.output<typeof streamList>).streams.map(({ streamId }) => streamId)).toEqual([
      'general',
    ])
  })

  it('T1 a session: its steps, its text so far, and those it belongs with', async () => {
    await writeSession(ledger, 's1', 'general', 2)
    await ledger.record(begin('s2', 'general'))
    await ledger.record(stepBegins('s2', 'thinking#1'))
    await ledger.record(stepEnds('s2', 'thinking#1', 'So.'))
    await ledger.record(stepBegins('s2', 'thinking#2'))
    await ledger.progress.put([note('s2', 'thinking#2', 4, 'Owls hunt at night, so')])
    const { status, body } = await ask('GET', '/agent-sessions/s2')
    expect(status).toBe(200)
    assertDescribed(sessionDetail, body)
    const detail = body as z.output<typeof sessionDetail>
    expect(detail.session).toMatchObject({ sessionId: 's2', status: 'running', currentStepType: 'thinking' })
    expect(detail.steps.map((step) => [step.stepNumber, step.status, step.content])).toEqual([
      [1, 'completed', 'So.'],
      [2, 'running', null],
    ])
    expect(detail.steps[1]?.progress?.version).toBe(4)
    expect(detail.persona).toMatchObject({ name: 'Owl' })
    expect(detail.relatedSessions).toMatchObject([{ sessionId: 's1' }])
    const records = await ledger.getSteps('s2')
    expect(records.map(({ stepId }) => stepId)).toEqual(detail.steps.map(({ stepId }) => stepId))
  })

  it('T1 asking for another session in the place of one tells agents, and gives the id of the new one', async () => {
    await writeSession(ledger, 's', 'general', 1)
    const { status, body } = await ask('POST', '/agent-sessions/s/rerun')
    expect(status).toBe(202)
    const { sessionId } = body as { sessionId: string }
    const [event] = await Array.fromAsync(ledger.read('clew:stream/general'))
    expect(event).toMatchObject({
      eventType: 'ui.session_requested',
      payload: { sessionId, streamId: 'general', triggerMessageId: 'm1', supersedes: 's' },
    })
    await ledger.record(end('s'))
  })

  it('A2 what is not there is not found, and what does not fit is named', async () => {
    await ask('POST', '/streams', { streamId: 'general' })
    const wrong: [string, string, unknown, number][] = [
      ['GET', '/agent-sessions/none', undefined, 404],
      ['POST', '/agent-sessions/none/rerun', undefined, 404],
      ['GET', '/streams/none/messages', undefined, 404],
      ['POST', '/streams/none/messages', { content: 'x', author: ADA }, 404],
      ['PATCH', '/streams/general/messages/none', { content: 'x' }, 404],
      ['DELETE', '/streams/general/messages/none', undefined, 404],
      ['POST', '/streams/general/messages/none/threads', {}, 404],
      ['POST', '/streams/general/messages', { content: 'x' }, 400],
      ['POST', '/streams/general/messages', { author: ADA }, 400],
      ['POST', '/streams/general/messages', { content: 'x', author: ADA, more: 1 }, 400],
      ['POST', '/streams', { streamId: 'x'.repeat(10_000) }, 400],
      ['GET', '/streams/general/messages?limit=0', undefined, 400],
      ['GET', '/streams/general/messages?cursor=abc', undefined, 400],
      ['GET', '/streams/general/messages?unknown=1', undefined, 400],
    ]
    for (const [method, path, body, status] of wrong)
      expect([method, path, (await ask(method, path, body)).status]).toEqual([method, path, status])
  })
})
