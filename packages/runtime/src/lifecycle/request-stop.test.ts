import type { ClewEvent, EventInput, Ledger } from '@clew/ledger'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld, type MemoryWorld } from '../../test/memory-ledger.ts'
import { type RunLease, leaseRun } from './lease-run.ts'
import { requestStop } from './request-stop.ts'

const QUICK = { beatMs: 1000, pollMs: 5 }
let world: MemoryWorld
let ledger: Ledger
let other: Ledger

const event = (runId: string, eventType: string, payload: Record<string, unknown> = {}): EventInput => ({
  eventType,
  correlationId: runId,
  payload,
})
const started = (runId: string, payload: Record<string, unknown> = {}): EventInput =>
  event(runId, 'system.workflow_started', { agent: 'a', ...payload })
const stepStarted = (runId: string, stepId: string, payload: Record<string, unknown> = {}): EventInput =>
  event(runId, 'execution.step_started', { stepId, name: 's', attempt: 1, ...payload })

async function read(runId: string): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const each of ledger.read(runId)) events.push(each)
  return events
}
const types = async (runId: string): Promise<string[]> =>
  (await read(runId)).map(({ eventType }) => eventType)

/** What an owner does: ends the run when it is asked to. */
async function workUntilStopped(held: RunLease): Promise<void> {
  await new Promise((resolve) => held.signal.addEventListener('abort', resolve))
  await ledger.append([event(held.runId, 'system.workflow_stopped', { reason: 'asked' })], {
    epoch: held.epoch,
  })
  await held.release()
}

beforeEach(() => {
  world = createMemoryWorld()
  ledger = world.open()
  other = world.open()
})

describe('R9 a stop request', () => {
  it('R9 aborts the signal of the owner in another process, who ends the run', async () => {
    await ledger.append([started('r')])
    const held = await leaseRun(ledger, { runId: 'r', threadId: null, pace: QUICK })
    const working = workUntilStopped(held)
    const summary = await requestStop(other, 'r', { reason: 'too dear', by: 'ann' })
    await working
    expect(summary.status).toBe('stopped')
    expect(held.stopRequested).toEqual({ reason: 'too dear', by: 'ann' })
    expect(held.signal.reason).toMatchObject({
      code: 'stopped',
      fields: { runId: 'r', reason: 'too dear', by: 'ann' },
    })
    expect(held.lost).toBeNull()
    expect(await types('r')).toEqual([
      'system.workflow_started',
      'system.stop_requested',
      'system.workflow_stopped',
    ])
  })

  it('R9 in the same process reaches the owner without waiting for its next look', async () => {
    await ledger.append([started('r')])
    const slow = { beatMs: 60_000, pollMs: 60_000 }
    const held = await leaseRun(ledger, { runId: 'r', threadId: null, pace: slow })
    const working = workUntilStopped(held)
    expect((await requestStop(ledger, 'r')).status).toBe('stopped')
    await working
  })

  it('R9 that its owner does not follow in time stands, and the run is given as it is', async () => {
    await ledger.append([started('r')])
    const held = await leaseRun(ledger, { runId: 'r', threadId: null, pace: QUICK })
    const summary = await requestStop(other, 'r', { waitMs: 0 })
    expect([summary.status, summary.stopRequested]).toEqual(['running', true])
    await vi.waitFor(() => expect(held.signal.aborted).toBe(true), 60_000)
    await requestStop(other, 'r', { waitMs: 0, reason: 'again' })
    expect((await types('r')).filter((type) => type === 'system.stop_requested')).toHaveLength(1)
    await held.release()
    expect((await requestStop(other, 'r')).status).toBe('stopped')
  })

  it('R9 for an unknown run or one that is over is refused, and nothing is written', async () => {
    await expect(requestStop(ledger, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    await ledger.append([started('r'), event('r', 'system.workflow_completed')])
    await expect(requestStop(ledger, 'r')).rejects.toMatchObject({
      code: 'ended',
      fields: { runId: 'r', status: 'completed' },
    })
    expect(await types('r')).toHaveLength(2)
  })
})

describe('R9 a run that nobody works on', () => {
  it('R9 is ended by the request itself, with the steps that are still open, in one append', async () => {
    await ledger.append([
      started('r', { threadId: 't' }),
      stepStarted('r', 'done#0'),
      event('r', 'execution.step_completed', { stepId: 'done#0', attempt: 1 }),
      stepStarted('r', 'open#0'),
      stepStarted('r', 'open#0/ask#0', { kind: 'interrupt' }),
      event('r', 'ui.input_requested', { stepId: 'open#0/ask#0', attempt: 1, pauseId: 'p', question: '?' }),
      event('r', 'system.workflow_paused', { pauseIds: ['p'] }),
    ])
    // Another run of its thread is at work, which is no reason to leave this one waiting.
    const rival = await leaseRun(ledger, { runId: 'q', threadId: 't' })
    const summary = await requestStop(ledger, 'r', { reason: 'too dear', by: 'ann' })
    expect(summary).toMatchObject({ status: 'stopped', pauses: [], stopRequested: false })
    const [request, ...ends] = (await read('r')).slice(7)
    expect(request).toMatchObject({
      eventType: 'system.stop_requested',
      payload: { reason: 'too dear', by: 'ann' },
    })
    expect(ends.map(({ eventType, payload }) => [eventType, payload])).toEqual([
      ['execution.step_stopped', { stepId: 'open#0', attempt: 1, reason: 'too dear' }],
      ['execution.step_stopped', { stepId: 'open#0/ask#0', attempt: 1, reason: 'too dear' }],
      ['system.workflow_stopped', { reason: 'too dear' }],
    ])
    expect(ends.every(({ causationId }) => causationId === request?.eventId)).toBe(true)
    const steps = await ledger.getSteps('r')
    expect(steps.map(({ status }) => status)).toEqual(['completed', 'stopped', 'stopped'])
    expect((await ledger.leases.list()).map(({ runId }) => runId)).toEqual(['q'])
    await rival.release()
  })

  it('R9 since its owner fell silent is taken over and ended', async () => {
    await ledger.append([started('r')])
    await ledger.leases.acquire({ workspace: 'default', runId: 'r' })
    expect((await requestStop(other, 'r', { waitMs: 0 })).status).toBe('running')
    world.turnClock(61_000)
    expect((await requestStop(other, 'r', { waitMs: 0 })).status).toBe('stopped')
  })

  it('R9 can be stopped, resumed and stopped again', async () => {
    await ledger.append([started('r')])
    await requestStop(ledger, 'r', { reason: 'one' })
    await ledger.append([event('r', 'system.workflow_resumed')])
    const held = await leaseRun(ledger, { runId: 'r', threadId: null, pace: QUICK })
    await ledger.append([event('r', 'ui.output_displayed')])
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(held.stopRequested).toBeNull()
    await held.release()
    expect((await requestStop(ledger, 'r', { reason: 'two' })).status).toBe('stopped')
    expect((await types('r')).filter((type) => type === 'system.workflow_stopped')).toHaveLength(2)
  })

  it('R9 takes its child runs with it, named by their step or found by their cause, and theirs', async () => {
    const [, child, map] = await ledger.append([
      started('r'),
      stepStarted('r', 'child#0', { kind: 'child', childRunId: 'c' }),
      stepStarted('r', 'map#0', { kind: 'node' }),
      stepStarted('r', 'unborn#0', { kind: 'child', childRunId: 'never began' }),
    ])
    const below = (runId: string, parentRunId: string, cause: ClewEvent | undefined): EventInput => ({
      ...started(runId, { parentRunId }),
      causationId: cause?.eventId ?? null,
    })
    await ledger.append([
      below('c', 'r', child),
      below('m0', 'r', map),
      below('m1', 'r', map),
      event('m1', 'system.workflow_completed'),
      // Caused by the step, and still a run of its own.
      { ...started('stranger'), causationId: map?.eventId ?? null },
    ])
    const [inner] = await ledger.append([stepStarted('c', 'deep#0', { kind: 'child', childRunId: 'd' })])
    await ledger.append([below('d', 'c', inner)])
    expect((await requestStop(ledger, 'r', { reason: 'all' })).status).toBe('stopped')
    const statuses = await Promise.all(
      ['c', 'd', 'm0', 'm1', 'stranger'].map(async (runId) => (await ledger.getRun(runId))?.status),
    )
    expect(statuses).toEqual(['stopped', 'stopped', 'stopped', 'completed', 'running'])
    expect(await ledger.leases.list()).toEqual([])
  })

  it('R9 that is a fork ends the open steps it shares with its source, which stays as it is', async () => {
    await ledger.append([started('r'), stepStarted('r', 's#0')])
    await ledger.append([event('f', 'system.workflow_forked', { sourceRunId: 'r', sourceSeq: 2 })])
    expect((await requestStop(ledger, 'f')).status).toBe('stopped')
    expect((await ledger.getSteps('f')).map(({ status }) => status)).toEqual(['stopped'])
    expect((await ledger.getSteps('r')).map(({ status }) => status)).toEqual(['running'])
    expect((await ledger.getRun('r'))?.status).toBe('running')
  })
})
