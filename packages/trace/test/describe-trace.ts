import { ClewError, type Ledger, recordStopRequest } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStream, postMessage } from '../src/streams.ts'
import { readSession } from '../src/read-session.ts'
import { readStream } from '../src/read-stream.ts'
import type { TraceEmitter } from '../src/trace-emitter.ts'
import { eventsOf, typesOf, type World } from './world.ts'

const ADA = { id: 'ada', name: 'Ada' }
const STALE_MS = 61_000

/** T1, T4, T7 over any store. */
export function describeTrace(name: string, makeWorld: () => World): void {
  describe(`traces of sessions on ${name}`, () => {
    let world: World
    let ledger: Ledger
    let trace: TraceEmitter
    const begin = (sessionId = 's1', more: object = {}, by = trace) =>
      by.forSession({ streamId: 'general', sessionId, persona: ADA, triggerMessageId: 'm1', ...more })

    beforeEach(() => {
      world = makeWorld()
      ledger = world.open()
      trace = world.emitter(ledger)
    })
    afterEach(() => world.close())

    it('T1 a session is read page by page from its newest step on, as it is read at once', async () => {
      const session = { streamId: 'general', persona: ADA, triggerMessageId: 'm1', supersedes: null }
      const event = (eventType: string, payload: Record<string, unknown>) => ({
        eventType,
        correlationId: 'long',
        payload,
      })
      const step = (end: string, stepId: string, more: Record<string, unknown> = {}) =>
        event(`execution.step_${end}`, { stepId, name: stepId.split('#')[0], kind: 'thinking', ...more })
      const inner = Array.from({ length: 700 }, (_, at) => [
        step('started', `think#${at}`),
        at % 50 === 7
          ? step('failed', `think#${at}`, { error: { name: 'Error', message: 'no' } })
          : step('completed', `think#${at}`, { output: { content: `thought ${at}`, messageId: `m${at}` } }),
      ])
      await ledger.append([
        event('system.workflow_started', { agent: 'a', threadId: 'general', session }),
        // Around all the others: its end lies far from its beginning.
        step('started', 'around'),
        ...inner.flat(),
        step('completed', 'around', { output: { content: 'all of it' } }),
        step('started', 'open'),
      ])
      const whole = await readSession(ledger, 'long')
      expect(whole.steps).toHaveLength(702)
      expect(whole.previousCursor).toBeNull()
      for (const limit of [1000, 702, 701, 300]) {
        let page = await readSession(ledger, 'long', { limit })
        const steps = [...page.steps]
        while (page.previousCursor !== null) {
          page = await readSession(ledger, 'long', { limit, before: page.previousCursor })
          expect(page.steps.length).toBeLessThanOrEqual(limit)
          steps.unshift(...page.steps)
        }
        expect(steps).toEqual(whole.steps)
      }
      const wrong = readSession(ledger, 'long', { limit: 5, before: 'yesterday' })
      await expect(wrong).rejects.toMatchObject({ code: 'bad_option' })
    })

    it('T1 persists a start at once, a completion with content, sources and message', async () => {
      const session = await begin()
      const step = await session.startStep({ stepType: 'web_search', content: { query: 'owls' } })
      const started = await readSession(world.open(), 's1')
      expect(started.session).toMatchObject({
        status: 'running',
        currentStepType: 'web_search',
        stepCount: 1,
      })
      expect(started.steps).toMatchObject([
        { stepId: step.stepId, stepNumber: 1, stepType: 'web_search', status: 'running', completedAt: null },
      ])
      await step.complete({
        content: 'Two pages',
        sources: [{ type: 'web', title: 'Owls', url: 'https://owls.example/day' }],
        messageId: 'm2',
      })
      await session.notifyCompleted()
      const { session: done, steps, persona } = await readSession(ledger, 's1')
      expect(done).toMatchObject({ status: 'completed', currentStepType: null, triggerMessageId: 'm1' })
      expect(persona).toEqual({ id: 'ada', name: 'Ada', avatarUrl: null })
      expect(steps[0]).toMatchObject({
        status: 'completed',
        content: 'Two pages',
        sources: [
          {
            type: 'web',
            title: 'Owls',
            url: 'https://owls.example/day',
            domain: 'owls.example',
            snippet: null,
          },
        ],
        messageId: 'm2',
      })
      expect((await ledger.getSteps('s1')).map(({ stepId, kind }) => [stepId, kind])).toEqual([
        [step.stepId, 'web_search'],
      ])
      expect(await ledger.leases.list()).toEqual([])
    })

    it('T1 Persist the row when a tool starts, or a refresh shows a gap', async () => {
      const session = await begin()
      const started = session.startStep({ stepType: 'tool_call', stepId: 'call-1' })
      await started
      expect((await readSession(world.open(), 's1')).steps.map(({ stepId }) => stepId)).toEqual(['call-1'])
    })

    it('T4 batches progress, carries the text so far, and drops it at the end and after it', async () => {
      const session = await begin()
      const step = await session.startStep({ stepType: 'thinking' })
      for (const text of ['Let ', 'Let me ', 'Let me see ']) step.progress({ content: text })
      expect((await ledger.progress.read()).notes).toEqual([])
      await world.turnClock(60)
      await vi.waitFor(
        async () =>
          expect((await world.open().progress.read({ runId: 's1' })).notes).toMatchObject([
            { stepId: step.stepId, stepType: 'thinking', content: 'Let me see ' },
          ]),
        20_000,
      )
      expect((await readSession(ledger, 's1')).steps[0]?.progress?.content).toBe('Let me see ')
      step.progress({ content: 'never told ' })
      await step.complete({ content: 'I see' })
      step.progress({ content: 'late ' })
      await world.turnClock(1000)
      expect((await ledger.progress.read()).notes).toEqual([])
      expect((await readSession(ledger, 's1')).steps[0]).toMatchObject({ content: 'I see', progress: null })
      expect(JSON.stringify(await eventsOf(ledger, 's1'))).not.toContain('Let me see')
    })

    it('T7 beats every 15 s, so that it is not stale while a model thinks', async () => {
      const session = await begin()
      for (let round = 0; round < 6; round++) {
        await world.turnClock(15_100)
        await vi.waitFor(async () => {
          const [lease] = await ledger.leases.list()
          expect(world.ports.now() - Date.parse(lease?.heartbeatAt ?? '')).toBeLessThan(15_000)
        }, 20_000)
      }
      await expect(begin('s2', {}, world.emitter(world.open()))).rejects.toMatchObject({ code: 'busy' })
      await (await session.startStep({ stepType: 'thinking' })).complete({ content: 'still here' })
    })

    it('T7 An orphan sweep that only flips the row leaves pages spinning: emit the whole failed life cycle', async () => {
      const session = await begin()
      await session.startStep({ stepType: 'thinking', stepId: 'a' })
      await (await session.startStep({ stepType: 'web_search', stepId: 'b' })).complete({ content: 'found' })
      await begin('elsewhere', { streamId: 'other' })
      vi.spyOn(ledger.leases, 'renew').mockRejectedValue(new ClewError('store_locked', 'Locked', 'Wait.'))
      await world.turnClock(STALE_MS)
      const other = world.emitter(world.open())
      expect((await other.sweep()).toSorted()).toEqual(['elsewhere', 's1'])
      const { session: dead, steps } = await readSession(ledger, 's1')
      expect([dead.status, dead.currentStepType]).toEqual(['interrupted', null])
      expect(steps.map(({ stepId, status }) => [stepId, status])).toEqual([
        ['a', 'interrupted'],
        ['b', 'completed'],
      ])
      expect((await typesOf(ledger, 's1')).slice(-2)).toEqual([
        'execution.step_interrupted',
        'system.workflow_interrupted',
      ])
      expect((await ledger.getSteps('s1'))[0]?.status).toBe('interrupted')
      expect(await other.sweep()).toEqual([])
    })

    it('T7 a session that was taken for dead goes on, if nobody has touched it but the sweep', async () => {
      const session = await begin()
      const step = await session.startStep({ stepType: 'thinking', stepId: 'a' })
      const renew = vi.spyOn(ledger.leases, 'renew')
      renew.mockRejectedValue(new ClewError('store_unreachable', 'Away', 'Wait.'))
      await world.turnClock(STALE_MS)
      expect(await world.emitter(world.open()).sweep()).toEqual(['s1'])
      renew.mockRestore()
      await step.complete({ content: 'after all' })
      await world.turnClock(15_100)
      await (await session.startStep({ stepType: 'thinking', stepId: 'b' })).complete({ content: 'and on' })
      await session.notifyCompleted()
      const { session: view, steps } = await readSession(ledger, 's1')
      expect([view.status, view.generation, session.signal.aborted]).toEqual(['completed', 2, false])
      expect(steps.map(({ status, content }) => [status, content])).toEqual([
        ['completed', 'after all'],
        ['completed', 'and on'],
      ])
      expect(await ledger.leases.list()).toEqual([])
    })

    it('T7 Retried sessions restarted step numbers at 0 and erased the first attempt: identify steps by client-made ids and check an execution generation (the lease epoch) inside the write transaction', async () => {
      const first = await begin()
      await (await first.startStep({ stepType: 'thinking', stepId: 'one' })).complete({ content: 'first' })
      const open = await first.startStep({ stepType: 'tool_call', stepId: 'two' })
      vi.spyOn(ledger.leases, 'renew').mockRejectedValue(new ClewError('store_locked', 'Locked', 'Wait.'))
      await world.turnClock(STALE_MS)
      const again = world.open()
      const second = await begin('s1', {}, world.emitter(again))
      await expect(open.complete({ content: 'too late' })).rejects.toMatchObject({ code: 'stale_epoch' })
      expect(first.signal.aborted).toBe(true)
      await expect(first.startStep({ stepType: 'thinking' })).rejects.toMatchObject({ code: 'stale_epoch' })
      await (await second.startStep({ stepType: 'tool_call', stepId: 'two' })).complete({ content: 'second' })
      await second.notifyCompleted()
      const { session, steps } = await readSession(again, 's1')
      expect(session).toMatchObject({ status: 'completed', generation: 2, stepCount: 3 })
      expect(
        steps.map(({ stepNumber, stepId, status, content }) => [stepNumber, stepId, status, content]),
      ).toEqual([
        [1, 'one', 'completed', 'first'],
        [2, 'two', 'interrupted', null],
        [3, 'two', 'completed', 'second'],
      ])
    })

    it('T7 Stopping one tool gracefully (partial result, session goes on) differs from killing the session', async () => {
      const session = await begin()
      await (await session.startStep({ stepType: 'web_search', stepId: 'slow' })).stop({ content: 'half' })
      const next = await session.startStep({ stepType: 'thinking', stepId: 'next' })
      expect((await ledger.getSteps('s1'))[0]).toMatchObject({ status: 'completed', partial: true })
      await session.notifyStopped('ann said so')
      const { session: killed, steps } = await readSession(ledger, 's1')
      expect(killed.status).toBe('stopped')
      expect(steps.map(({ status, content }) => [status, content])).toEqual([
        ['completed', 'half'],
        ['stopped', null],
      ])
      await expect(next.complete()).rejects.toMatchObject({ code: 'ended' })
      await expect(session.notifyCompleted()).rejects.toMatchObject({ code: 'ended' })
    })

    it('T4 One content contract: double-encoded JSON crashed the page', async () => {
      const session = await begin()
      const content = { rows: [{ text: '{"not":"parsed"}' }] }
      await (await session.startStep({ stepType: 'tool_call' })).complete({ content })
      await (await session.startStep({ stepType: 'tool_call' })).complete({ content: '{"a":1}' })
      const { steps } = await readSession(ledger, 's1')
      expect(steps.map((step) => step.content)).toEqual([content, '{"a":1}'])
    })

    it('T1 withSession completes, fails with its open steps, and frees the stream in any case', async () => {
      const value = await (await begin()).withSession(async (session) => {
        await (await session.startStep({ stepType: 'thinking' })).complete({ content: 'ok' })
        return 7
      })
      expect(value).toBe(7)
      const failing = await begin('s2')
      const work = failing.withSession(async (session) => {
        await session.startStep({ stepType: 'tool_call', stepId: 'x' })
        throw Object.assign(new Error('no wax'), { code: 'melted' })
      })
      await expect(work).rejects.toThrow('no wax')
      const { session, steps } = await readSession(ledger, 's2')
      expect(session).toMatchObject({ status: 'failed', error: { code: 'melted', message: 'no wax' } })
      expect(steps[0]).toMatchObject({ status: 'failed', error: { message: 'no wax' } })
      const stopped = await begin('s3')
      await stopped.withSession((inner) => inner.notifyStopped())
      expect((await ledger.getRun('s3'))?.status).toBe('stopped')
      expect(await ledger.leases.list()).toEqual([])
    })

    it('T1 a failed or interrupted session goes on under its id, a completed one does not', async () => {
      await (await begin()).notifyFailed('once')
      await (await begin()).notifyInterrupted()
      const last = await begin()
      expect((await ledger.getRun('s1'))?.status).toBe('running')
      await last.notifyCompleted()
      await expect(begin()).rejects.toMatchObject({ code: 'ended', fields: { status: 'completed' } })
      expect(await ledger.leases.list()).toEqual([])
      await ledger.record({
        eventType: 'system.workflow_started',
        correlationId: 'own',
        payload: { seed: 'x' },
      })
      await expect(begin('own')).rejects.toMatchObject({ code: 'conflict' })
      expect(await ledger.leases.list()).toEqual([])
    })

    it('T1 one running session per stream; one that supersedes it takes its place, and its owner is told', async () => {
      const first = await begin()
      const step = await first.startStep({ stepType: 'thinking', stepId: 'a' })
      await expect(begin('s2')).rejects.toMatchObject({ code: 'busy' })
      const second = await begin('s2', { supersedes: 's1' }, world.emitter(world.open()))
      await expect(step.complete({ content: 'x' })).rejects.toMatchObject({ code: 'stale_epoch' })
      expect(first.signal.aborted).toBe(true)
      await second.notifyCompleted()
      const old = await readSession(ledger, 's1')
      expect([old.session.status, old.steps[0]?.status]).toEqual(['superseded', 'interrupted'])
      // A completed one can be re-run as well.
      await (await begin('s3', { supersedes: 's2' })).notifyCompleted()
      const { session, relatedSessions } = await readSession(ledger, 's3')
      expect(session.supersedes).toBe('s2')
      expect(relatedSessions.map(({ sessionId, status }) => [sessionId, status])).toEqual([
        ['s2', 'superseded'],
        ['s1', 'superseded'],
      ])
      await expect(begin('s4', { supersedes: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
    })

    it('R12 a request to stop reaches the code: its signal aborts, no step is begun, and what is open can be ended', async () => {
      const session = await begin()
      const step = await session.startStep({ stepType: 'thinking' })
      await recordStopRequest(world.open(), 's1', { reason: 'enough', by: 'bob' })
      expect(session.signal.aborted).toBe(false)
      await world.turnClock(200)
      expect(session.signal.reason).toMatchObject({
        code: 'stopped',
        fields: { reason: 'enough', by: 'bob' },
      })
      await expect(session.startStep({ stepType: 'thinking' })).rejects.toBe(session.signal.reason)
      await step.stop({ content: 'so far' })
      // As those do who pass on what they caught.
      await session.notifyFailed(session.signal.reason as Error)
      expect((await eventsOf(ledger, 's1')).at(-1)).toMatchObject({
        eventType: 'system.workflow_stopped',
        payload: { reason: 'enough' },
      })
      expect(await readSession(ledger, 's1')).toMatchObject({
        session: { status: 'stopped' },
        steps: [{ status: 'completed', content: 'so far' }],
      })
      expect(await ledger.leases.list()).toEqual([])
    })

    it.each([
      ['returns', () => 'early'],
      [
        'throws',
        () => {
          throw new Error('aborted')
        },
      ],
    ])('R12 withSession ends as stopped when it was asked to, whether the code %s', async (_, leave) => {
      const session = await begin()
      const whole = session.withSession(async ({ signal, startStep }) => {
        await startStep({ stepType: 'thinking' })
        await recordStopRequest(ledger, 's1', { reason: null, by: null })
        await world.turnClock(200)
        expect(signal.aborted).toBe(true)
        return leave()
      })
      await whole.catch(() => undefined)
      const { session: view, steps } = await readSession(ledger, 's1')
      expect([view.status, steps[0]?.status]).toEqual(['stopped', 'stopped'])
    })

    it('R12 T7 a session that was taken for dead meanwhile is told all the same, and ends as stopped', async () => {
      const session = await begin()
      await recordStopRequest(ledger, 's1', { reason: 'enough', by: null })
      await world.turnClock(200)
      const renew = vi.spyOn(ledger.leases, 'renew')
      renew.mockRejectedValue(new ClewError('store_unreachable', 'Away', 'Wait.'))
      await world.turnClock(STALE_MS)
      expect(await world.emitter(world.open()).sweep()).toEqual(['s1'])
      renew.mockRestore()
      await session.notifyStopped()
      expect((await readSession(ledger, 's1')).session.status).toBe('stopped')
      // Going on with it settles the request.
      const again = await begin()
      await world.turnClock(200)
      expect(again.signal.aborted).toBe(false)
      await again.notifyCompleted()
    })

    it('A2 a session lives in the workspace it names, and nowhere else', async () => {
      const session = await begin('s1', { workspaceId: 'team' })
      await (await session.startStep({ stepType: 'thinking' })).complete({ content: 'x' })
      expect(await ledger.getRun('s1')).toBeNull()
      expect((await readSession(world.open('team'), 's1')).session.workspaceId).toBe('team')
      await expect(readSession(ledger, 's1')).rejects.toMatchObject({ code: 'not_found' })
    })

    it('T5 the first load of a stream has messages, cards between them, threads, activity and progress', async () => {
      await createStream(ledger, { streamId: 'general', title: 'General' })
      const user = { type: 'user', id: 'u1', name: 'Uli' } as const
      await postMessage(ledger, {
        streamId: 'general',
        messageId: 'm1',
        author: user,
        content: 'Which owls?',
      })
      const session = await begin()
      await session.notifyCompleted()
      await postMessage(ledger, {
        streamId: 'general',
        messageId: 'm2',
        author: { type: 'persona', id: 'ada', name: 'Ada' },
        content: 'Two',
        sessionId: 's1',
      })
      await createStream(ledger, { streamId: 't', parentStreamId: 'general', parentMessageId: 'm2' })
      await postMessage(ledger, { streamId: 't', messageId: 'r1', author: user, content: 'Names?' })
      const inThread = await begin('s2', { streamId: 't', triggerMessageId: 'r1' })
      const step = await inThread.startStep({ stepType: 'thinking' })
      step.progress({ content: 'The tawny ' })
      await world.turnClock(60)
      await vi.waitFor(async () => {
        const page = await readStream(world.open(), 'general')
        expect(page.progress).toMatchObject([{ sessionId: 's2', content: 'The tawny ' }])
        const order = [...page.messages, ...page.sessions].toSorted((a, b) => a.position - b.position)
        expect(order.map((each) => ('messageId' in each ? each.messageId : each.sessionId))).toEqual([
          'm1',
          's1',
          'm2',
        ])
        expect(page.messages[1]).toMatchObject({ sessionId: 's1', threadStreamId: 't', replyCount: 1 })
        expect(page.activities).toMatchObject([{ messageId: 'm2', sessionId: 's2', stepType: 'thinking' }])
      }, 20_000)
      await step.complete()
      await inThread.notifyCompleted()
      const after = await readStream(ledger, 'general')
      expect([after.activities, after.progress]).toEqual([[], []])
    })
  })
}
