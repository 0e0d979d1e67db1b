import { type ClewEvent, foreignType, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, type World } from '../test/world.ts'
import { createRelay, type Relay } from './create-relay.ts'
import type { RoomMessage } from './payloads.ts'
import { parseRoom, sessionRoom, streamRoom } from './rooms.ts'
import { createStream, deleteMessage, editMessage, postMessage, streamRunId } from './streams.ts'

const user = { type: 'user', id: 'u', name: 'Uli' } as const
const SESSION = sessionRoom('default', 's1')
const THREAD = streamRoom('default', 'thread')
const GENERAL = streamRoom('default', 'general')

let world: World
let ledger: Ledger
beforeEach(async () => {
  world = createWorld()
  ledger = world.open()
  await createStream(ledger, { streamId: 'general' })
  await postMessage(ledger, { streamId: 'general', messageId: 'm1', author: user, content: 'Owls?' })
  await createStream(ledger, { streamId: 'thread', parentStreamId: 'general', parentMessageId: 'm1' })
})
afterEach(() => world.close())

const all = async (): Promise<ClewEvent[]> => {
  const control = new AbortController()
  const last = await ledger.lastPosition()
  const events: ClewEvent[] = []
  for await (const event of ledger.follow({ signal: control.signal })) {
    events.push(event)
    if (event.ledger.position >= last) break
  }
  return events
}
const relayAll = async (
  events: readonly ClewEvent[],
  relay: Relay = createRelay(ledger),
): Promise<RoomMessage[]> => {
  const told: RoomMessage[] = []
  for (const event of events) told.push(...(await relay.event(event)))
  return told
}
const where = (told: readonly RoomMessage[]): string[] =>
  told.map(({ name, room }) => `${name} ${room.split(':').at(-1)}`)

async function answer(): Promise<void> {
  const session = await world
    .emitter(ledger)
    .forSession({ streamId: 'thread', sessionId: 's1', persona: { id: 'ada', name: 'Ada' } })
  const step = await session.startStep({ stepType: 'web_search', stepId: 'a', content: 'owls' })
  await step.complete({ content: 'found', sources: [{ type: 'web', url: 'https://owls.example' }] })
  await session.startStep({ stepType: 'thinking', stepId: 'b' })
  await session.notifyFailed('tired')
}

describe('T2 what a stored event is told as', () => {
  it('T2 steps to the session room, life cycle to both, activity around it', async () => {
    const before = (await all()).length
    await answer()
    const told = await relayAll((await all()).slice(before))
    expect(where(told)).toEqual([
      'agent_session:started s1',
      'agent_session:started thread',
      'agent_session:activity_started thread',
      'agent_session:activity_started general',
      'message:updated general',
      'agent_session:step:started s1',
      'agent_session:progress thread',
      'agent_session:progress general',
      'message:updated general',
      'agent_session:step:completed s1',
      'agent_session:step:started s1',
      'agent_session:progress thread',
      'agent_session:progress general',
      'message:updated general',
      'agent_session:step:completed s1',
      'agent_session:failed s1',
      'agent_session:failed thread',
      'agent_session:activity_ended thread',
      'agent_session:activity_ended general',
      'message:updated general',
    ])
    expect(told.every(({ payload }) => payload.workspaceId === 'default')).toBe(true)
    expect(told.find(({ name }) => name === 'agent_session:step:started')?.payload).toMatchObject({
      stepNumber: 1,
      stepType: 'web_search',
      content: 'owls',
    })
    const [, second] = told.filter(({ name }) => name === 'agent_session:step:completed')
    expect(second?.payload).toMatchObject({ stepId: 'b', status: 'failed', stepNumber: 2, isAssumed: false })
    const ended = told.at(-1)?.payload
    expect(ended).toMatchObject({
      updateType: 'agent_activity',
      messageId: 'm1',
      activity: { sessionId: 's1', isActive: false, stepType: null, persona: { name: 'Ada' } },
    })
  })

  it('T2 a server that begins in the middle tells the same as one that saw it all', async () => {
    await answer()
    await postMessage(ledger, { streamId: 'thread', messageId: 'r1', author: user, content: 'Thanks' })
    await ledger.record({
      eventType: 'execution.step_started',
      correlationId: 'alone',
      payload: { stepId: 'x', name: 'x' },
    })
    const events = await all()
    const relay = createRelay(ledger)
    for (const event of events) {
      const seen = await relay.event(event)
      expect(await createRelay(ledger).event(event), `at ${event.eventType}`).toEqual(seen)
    }
  })

  it('T2 runs that are no sessions say nothing; one that says so late is told from then on', async () => {
    const begin = (await all()).length
    const event = (eventType: string, payload = {}) =>
      ledger.append([{ eventType, correlationId: 'late', payload }])
    await event('execution.step_completed', { stepId: 'x', name: 'thinking' })
    await event('system.workflow_started', { session: { streamId: 'general' } })
    await event('execution.step_started', { stepId: 'y', name: 'thinking' })
    const told = await relayAll((await all()).slice(begin))
    expect(where(told).slice(0, 2)).toEqual(['agent_session:started late', 'agent_session:started general'])
    expect(told.find(({ name }) => name === 'agent_session:step:started')?.payload).toMatchObject({
      stepNumber: 2,
    })
  })

  it('T7 the steps that a dead owner of a run left open are told as interrupted, though they may go on', async () => {
    const event = (eventType: string, payload = {}) =>
      ledger.append([{ eventType, correlationId: 'run', payload }])
    const begin = (await all()).length
    await event('system.workflow_started', { seed: 'x', session: { streamId: 'general' } })
    await event('execution.step_started', { stepId: 'think#0', name: 'think', kind: 'effect' })
    await event('system.workflow_interrupted', { reason: 'dead' })
    await event('system.workflow_resumed', {})
    const told = await relayAll((await all()).slice(begin))
    expect(where(told).filter((each) => each.endsWith(' run'))).toEqual([
      'agent_session:started run',
      'agent_session:step:started run',
      'agent_session:step:completed run',
      'agent_session:interrupted run',
      'agent_session:started run',
    ])
    const assumed = told.find(({ name }) => name === 'agent_session:step:completed')
    expect(assumed?.payload).toMatchObject({ status: 'interrupted', isAssumed: true, stepType: 'think' })
  })

  describe('T2 a session whose record is gone is told as deleted, to its room and its stream', () => {
    const told = ['agent_session:deleted s1', 'agent_session:deleted thread']
    const after = async (deed: () => Promise<unknown>): Promise<RoomMessage[]> => {
      await answer()
      const relay = createRelay(ledger)
      const before = await all()
      await relayAll(before, relay)
      await deed()
      return relayAll((await all()).slice(before.length), relay)
    }

    it('P5 when it was erased, and what was left of it is not told', async () => {
      const relayed = await after(() => ledger.erase({ runId: 's1' }, {}))
      expect(where(relayed)).toEqual(told)
      expect(relayed[0]?.payload).toMatchObject({
        sessionId: 's1',
        streamId: 'thread',
        status: 'deleted',
        error: null,
      })
    })

    it('P4 when it was pruned, also by a server that has not seen it', async () => {
      await answer()
      await world.turnClock(40 * 86_400_000)
      await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'young', payload: {} })
      await ledger.gc({ policy: { rules: [{ name: 'month', olderThan: '30d' }] } })
      const gone = (await all()).filter(({ eventType }) => eventType === 'system.range_pruned')
      expect(where(await relayAll(gone))).toEqual(told)
    })

    it('P5 not when one event of it was erased, nor for runs that are no sessions', async () => {
      await ledger.append([
        { eventType: 'system.workflow_started', correlationId: 'r', payload: {} },
        { eventType: 'system.workflow_completed', correlationId: 'r', payload: {} },
      ])
      const relayed = await after(async () => {
        const [, second] = await Array.fromAsync(ledger.read('s1'))
        await ledger.erase({ eventId: second?.eventId ?? '' }, {})
        await ledger.erase({ runId: 'r' }, {})
      })
      expect(relayed).toEqual([])
    })
  })

  it('T2 messages to their stream, replies to the message they are on', async () => {
    const begin = (await all()).length
    await postMessage(ledger, { streamId: 'thread', messageId: 'r1', author: user, content: 'One' })
    await editMessage(ledger, { streamId: 'thread', messageId: 'r1', content: 'One, edited' })
    await deleteMessage(ledger, { streamId: 'thread', messageId: 'r1' })
    const told = await relayAll((await all()).slice(begin))
    expect(
      told.map(({ name, room, payload }) => [name, room, 'updateType' in payload && payload.updateType]),
    ).toEqual([
      ['message:created', THREAD, false],
      ['message:updated', GENERAL, 'replies'],
      ['message:updated', THREAD, 'content'],
      ['message:updated', THREAD, 'deleted'],
      ['message:updated', GENERAL, 'replies'],
    ])
    expect([told[1]?.payload, told[4]?.payload]).toMatchObject([
      { messageId: 'm1', threadStreamId: 'thread', replyCount: 1 },
      { messageId: 'm1', threadStreamId: 'thread', replyCount: 0 },
    ])
    const [stream, message, thread, opened] = await relayAll((await all()).slice(0, begin))
    expect([stream, message, thread, opened].map((each) => [each?.name, each?.room])).toEqual([
      ['stream:created', GENERAL],
      ['message:created', GENERAL],
      ['stream:created', THREAD],
      ['message:updated', GENERAL],
    ])
  })

  it('T4 progress goes to the room of its session, and that of other runs nowhere', async () => {
    await answer()
    const note = { stepId: 'b', attempt: 1, stepType: 'thinking', version: 1, content: 'so far ', at: 'x' }
    const [told] = await createRelay(ledger).progress({ runId: 's1', ...note })
    expect(told).toMatchObject({ name: 'agent_session:step:progress', room: SESSION })
    expect(told?.payload).toMatchObject({ streamId: 'thread', sessionId: 's1', content: 'so far ' })
    expect(await createRelay(ledger).progress({ runId: 'alone', ...note })).toEqual([])
  })

  it('T2 content too large for a room is left out, and says so', async () => {
    const session = await world.emitter(ledger).forSession({ streamId: 'general', sessionId: 'big' })
    const step = await session.startStep({ stepType: 'visit_page' })
    await step.complete({ content: 'x'.repeat(70_000) })
    const told = await relayAll((await all()).slice(-1))
    expect(told[0]?.payload).toMatchObject({ content: null, isContentLeftOut: true })
  })
})

describe('A2 rooms', () => {
  it.each(['a:b', 'ws:x:stream:y', '../..', 'ü%', ' ', ':', '%3A'])(
    'A2 the id %j reaches no other room',
    (id) => {
      const room = streamRoom(id, 'x')
      expect(parseRoom(room)).toEqual({ kind: 'stream', workspaceId: id, id: 'x' })
      expect(parseRoom(sessionRoom('w', id))).toEqual({ kind: 'session', workspaceId: 'w', id })
      expect(room.split(':')).toHaveLength(4)
    },
  )
  it.each(['', 'x', 'ws:w:stream:', 'ws:w:other:x', 'ws:w:stream:a:b', 'ws:w:stream:%zz', 'ws:w:stream:%61'])(
    'A2 %j is no room',
    (text) => expect(parseRoom(text)).toBeNull(),
  )
  it('A2 a stream cannot be made to look like another stream', async () => {
    await ledger.record({
      eventType: 'ui.message_created',
      correlationId: streamRunId('other'),
      payload: { streamId: 'general', content: 'forged' },
    })
    expect(await relayAll((await all()).slice(-1))).toEqual([])
  })
})
