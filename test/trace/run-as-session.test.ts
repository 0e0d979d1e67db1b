import type { Ledger } from '@clew/ledger'
import { agent, append, END, fork, interrupt, last, replay, START, StateGraph } from '@clew/runtime'
import {
  createRelay,
  readSession,
  type RoomMessage,
  SESSION_COMPLETED,
  SESSION_STARTED,
  STEP_COMPLETED,
  STEP_STARTED,
} from '@clew/trace'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWorld, eventsOf, type World } from '../../packages/trace/test/world.ts'

const session = { streamId: 'general', triggerMessageId: 'm1', persona: { id: 'ada', name: 'Ada' } }
let world: World
let ledger: Ledger
beforeEach(() => {
  world = createWorld()
  ledger = world.open()
})
afterEach(() => world.close())

const search = agent('searcher', async (run, question: string) => {
  await run.step('context_received', question, (text) => text.trim())
  const found = await run.effect('web_search', { question }, () => ({
    content: 'two pages',
    sources: [{ type: 'web' }],
  }))
  return found.content
})

describe('T1 a run as a session', () => {
  it('T1 D1 a kept replay of a session is found at its own address, with what it replayed', async () => {
    await search.start(ledger, 'owls', { runId: 's1', session })
    const { runId } = await replay(search, { ledger, runId: 's1', keep: { runId: 'again' } })
    expect(runId).toBe('again')
    const [own, source] = [await readSession(ledger, 'again'), await readSession(ledger, 's1')]
    expect(own.session).toMatchObject({
      sessionId: 'again',
      streamId: 'general',
      status: 'completed',
      stepCount: 2,
      replay: { mode: 're-execute', verdict: 'identical', sourceRunId: 's1', at: null },
    })
    expect(own.steps).toEqual(source.steps)
    expect([source.session.replay, own.persona?.name]).toEqual([null, 'Ada'])
    await search.start(ledger, 'owls', { runId: 'plain' })
    await replay(search, { ledger, runId: 'plain', keep: { runId: 'no-session' } })
    await expect(readSession(ledger, 'no-session')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('T1 R7 the checkpoint of a session is the last one of its run, of a function and of a graph', async () => {
    await search.start(ledger, 'owls', { runId: 's1', session })
    const graph = new StateGraph({ found: last('') })
      .addNode('search', () => ({ found: 'two pages' }))
      .addEdge(START, 'search')
      .addEdge('search', END)
      .compile({ name: 'graph', checkpointer: ledger })
    await graph.invoke({}, { runId: 's2', session: { ...session, streamId: 'other' } })
    for (const runId of ['s1', 's2']) {
      const { checkpoint } = (await readSession(ledger, runId)).session
      const known = await Array.fromAsync(ledger.listCheckpoints(runId))
      const { checkpointId, seq, superstep, createdAt } = known.at(-1) ?? {}
      expect(checkpoint).toMatchObject({ id: checkpointId, seq, superstep, createdAt, resumable: false })
    }
  })

  it('T1 its steps are the session’s steps, and getSteps and the session endpoint give the same records', async () => {
    const result = await search.start(ledger, 'owls', { runId: 's1', session })
    expect([result.status, result.threadId]).toEqual(['completed', 'general'])
    const { session: view, steps, persona } = await readSession(ledger, 's1')
    expect(view).toMatchObject({
      streamId: 'general',
      status: 'completed',
      triggerMessageId: 'm1',
      stepCount: 2,
    })
    expect(persona?.name).toBe('Ada')
    const records = await ledger.getSteps('s1')
    expect(steps.map(({ stepId }) => stepId)).toEqual(records.map(({ stepId }) => stepId))
    expect(steps.map(({ stepType, content, sources }) => [stepType, content, sources.length])).toEqual([
      ['context_received', 'owls', 0],
      ['web_search', 'two pages', 1],
    ])
  })

  it('T1 a graph answers in a stream too; its thread is the stream, and no other can be named', async () => {
    const graph = new StateGraph({ said: append<string>(), turns: last(0) })
      .addNode('thinking', ({ turns }) => ({ said: `turn ${turns}`, turns: turns + 1 }))
      .addEdge(START, 'thinking')
      .addEdge('thinking', END)
      .compile({ checkpointer: ledger, name: 'chat' })
    await graph.invoke({}, { runId: 's1', session })
    const second = await graph.invoke({}, { runId: 's2', session })
    expect(second.state.said).toEqual(['turn 0', 'turn 1'])
    expect((await readSession(ledger, 's2')).steps.map(({ stepType }) => stepType)).toEqual(['thinking'])
    await expect(graph.invoke({}, { threadId: 'other', session })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })

  it('T1 a fork of a session is a session of its own; the room of its source hears nothing of it', async () => {
    await search.start(ledger, 'owls', { runId: 's1', session })
    const before = await eventsOf(ledger, 's1')
    await fork(search, { ledger, runId: 's1', at: { step: 'web_search' }, newRunId: 's2' })
    const { session: view, steps, relatedSessions } = await readSession(ledger, 's2')
    expect(view).toMatchObject({
      sessionId: 's2',
      streamId: 'general',
      status: 'completed',
      supersedes: null,
    })
    expect(view.position).toBeGreaterThan(before.at(-1)?.ledger.position ?? 0)
    expect(steps.map(({ stepType }) => stepType)).toEqual(['context_received', 'web_search'])
    expect(relatedSessions.map(({ sessionId }) => sessionId)).toEqual(['s1'])
    const relay = createRelay(ledger)
    const told: RoomMessage[] = []
    for await (const event of ledger.read('s2', { afterSeq: (await ledger.getRun('s2'))?.forkedFrom?.seq }))
      told.push(...(await relay.event(event)))
    expect(told.flatMap(({ payload }) => ('sessionId' in payload ? [payload.sessionId] : []))).not.toContain(
      's1',
    )
    expect(told.map(({ name }) => name)).toEqual(
      expect.arrayContaining([SESSION_STARTED, STEP_STARTED, STEP_COMPLETED, SESSION_COMPLETED]),
    )
  })

  it('T4 what a run says is its progress also when it is no session', async () => {
    const go = Promise.withResolvers<void>()
    const speaker = agent('speaker', (run) =>
      run.effect('thinking', {}, async () => {
        run.token('Let me see ')
        await go.promise
      }),
    )
    const running = speaker.start(ledger, null, { runId: 'plain' })
    const said = async () =>
      (await ledger.progress.read({ runId: 'plain' })).notes.map((note) => note.content)
    await vi.waitFor(async () => expect(await said()).toEqual(['Let me see ']), 60_000)
    go.resolve()
    await running
    await vi.waitFor(async () => expect(await said()).toEqual([]), 60_000)
  })

  it('T4 the tokens of an effect are its progress, those of a child the progress of the step that waits for it', async () => {
    const go = Promise.withResolvers<void>()
    const child = agent('child', async (run) => {
      run.token('from below ')
      await run.effect('wait', {}, () => go.promise)
    })
    const speaker = agent('speaker', async (run) => {
      const thought = run.effect('thinking', {}, async () => {
        for (const word of ['Let ', 'me ', 'see ']) run.token(word)
        await go.promise
        return 'seen'
      })
      await Promise.all([thought, run.child(child, null)])
    })
    const running = speaker.start(ledger, null, { runId: 's1', session })
    const notes = async () =>
      (await ledger.progress.read()).notes.map(({ runId, stepId, stepType, content }) => [
        runId,
        stepId,
        stepType,
        content,
      ])
    await vi.waitFor(
      async () =>
        expect(await notes()).toEqual([
          ['s1', 'thinking#0', 'thinking', 'Let me see '],
          ['s1', 'child#0', 'child', 'from below '],
        ]),
      60_000,
    )
    go.resolve()
    await running
    await vi.waitFor(async () => expect(await notes()).toEqual([]), 60_000)
  })

  it('T7 a dead run’s open steps show as interrupted, and resume finds them in flight all the same', async () => {
    let isDead = true
    const other = world.open()
    const worker = agent('worker', async (run) => {
      await run.effect('charge', {}, () => (isDead ? new Promise<never>(() => {}) : 'charged'), {
        safety: 'write',
      })
    })
    const abandoned = worker.start(ledger, null, { runId: 's1', session }).catch(() => undefined)
    await vi.waitFor(async () => expect((await ledger.getSteps('s1'))[0]?.status).toBe('running'), 60_000)
    const [lease] = await other.leases.list()
    await world.turnClock(61_000)
    const trace = world.emitter(other)
    expect(await trace.sweep()).toEqual(['s1'])
    const { session: view, steps } = await readSession(other, 's1')
    expect([view.status, steps[0]?.status, lease?.epoch]).toEqual(['interrupted', 'interrupted', 1])
    expect((await eventsOf(other, 's1')).at(-1)?.eventType).toBe('system.workflow_interrupted')
    isDead = false
    // R10: nobody knows whether the card was charged, so somebody has to say.
    const resumed = await worker.resume(other, 's1')
    expect(resumed.pause?.question).toMatchObject({ unknown: 'outcome' })
    await worker.resume(other, 's1', { answer: 'retry' })
    const done = await readSession(other, 's1')
    expect([done.session.status, done.session.generation]).toEqual(['completed', 3])
    expect(done.steps.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'interrupted'],
      [2, 'completed'],
    ])
    void abandoned
  })

  it('T1 a pause is told as one, and the session goes on with the answer', async () => {
    const asking = agent('asking', async () => interrupt('Which owl?'))
    await asking.start(ledger, null, { runId: 's1', session })
    await asking.resume(ledger, 's1', { answer: 'the tawny' })
    const relay = createRelay(ledger)
    const told: RoomMessage[] = []
    for (const event of await eventsOf(ledger, 's1')) told.push(...(await relay.event(event)))
    expect(
      told
        .filter(({ room }) => room.endsWith('session:s1'))
        .map(({ name, payload }) => `${name} ${'status' in payload ? payload.status : ''}`),
    ).toEqual([
      'agent_session:started running',
      'agent_session:step:started ',
      'agent_session:paused paused',
      'agent_session:paused pending',
      'agent_session:started running',
      'agent_session:step:completed completed',
      'agent_session:completed completed',
    ])
  })

  it('T1 a run that supersedes a session at work takes its stream', async () => {
    const stuck = agent('stuck', (run) => run.effect('thinking', {}, () => new Promise<never>(() => {})))
    const first = stuck.start(ledger, null, { runId: 's1', session })
    await vi.waitFor(async () => expect((await ledger.getRun('s1'))?.steps).toBe(1), 60_000)
    await expect(search.start(ledger, 'x', { runId: 's2', session })).rejects.toMatchObject({ code: 'busy' })
    await search.start(ledger, 'x', { runId: 's3', session: { ...session, supersedes: 's1' } })
    expect((await ledger.getRun('s1'))?.status).toBe('superseded')
    await expect(first).rejects.toMatchObject({ code: 'stale_epoch' })
  })
  it('T1 R5 a run that another unfinished one stands in the way of supersedes nothing', async () => {
    const graph = new StateGraph({ said: last('') })
      .addNode('ask', async ({ said }) => (said === 'ask' ? { said: await interrupt<string>('Well?') } : {}))
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile({ checkpointer: ledger, name: 'chat' })
    await graph.invoke({ said: 'hello' }, { runId: 's1', session })
    await graph.invoke({ said: 'ask' }, { runId: 's2', session })
    const again = (runId: string, supersedes: string) =>
      graph.invoke({ said: 'again' }, { runId, session: { ...session, supersedes } })
    await expect(again('s3', 's1')).rejects.toMatchObject({ code: 'unfinished', fields: { runId: 's2' } })
    expect((await ledger.getRun('s1'))?.status).toBe('completed')
    expect((await again('s4', 's2')).status).toBe('completed')
    expect((await ledger.getRun('s2'))?.status).toBe('superseded')
  })
})
