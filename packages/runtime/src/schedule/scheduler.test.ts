import { type Ledger, systemRunId } from '@clew/ledger'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent } from '../run/agent.ts'
import { startWorker } from '../worker/start-worker.ts'
import { decideOccurrences } from './decide-occurrences.ts'
import { listSchedules, nextOccurrences, readSchedule } from './read-schedule.ts'
import { changeSchedule, schedule } from './schedule.ts'
import type { ScheduleOptions } from './schedule-definition.ts'
import { createStoreClock } from './store-clock.ts'
import { createScheduleCheck, startScheduler } from './start-scheduler.ts'

const HOUR = 3_600_000
const rethrow = (error: unknown): never => {
  throw error
}

/** A ledger with an hourly schedule, and checks of it at so many milliseconds after the last whole hour. */
async function open(options: Partial<ScheduleOptions> = {}) {
  const world = createMemoryWorld()
  const ledger = world.open()
  await schedule(ledger, 'owl', { id: 'hourly', every: '1h', input: { n: 1 }, ...options })
  const { setAt = '' } = (await readSchedule(ledger, 'hourly')) ?? {}
  const hourMs = Math.floor(Date.parse(setAt) / HOUR) * HOUR
  const checkOf = (its: Ledger) => {
    const check = createScheduleCheck(its)
    return (hours: number) => check(async () => hourMs + hours * HOUR, rethrow)
  }
  const runs = async () => (await ledger.listRuns({ q: 'schedule:hourly sort:started', limit: 1000 })).runs
  const idAt = (hours: number): string =>
    `hourly-${new Date(hourMs + hours * HOUR).toISOString().replaceAll(/[-:]/g, '').replace('.000', '')}`
  const ids = async () => (await runs()).map(({ runId }) => runId).toSorted()
  return { world, ledger, checkOf, check: checkOf(ledger), runs, ids, idAt, hourMs }
}

const end = (ledger: Ledger, correlationId: string) =>
  ledger.append([{ eventType: 'system.workflow_completed', correlationId, payload: {} }])

describe('W5 a scheduler', () => {
  it('W5 submits the run of each occurrence with what the schedule says, and a worker does it', async () => {
    const { ledger, check, runs, idAt, hourMs } = await open({
      queue: 'nightly',
      tags: { team: 'red' },
      subjects: ['s'],
    })
    expect(await check(0.001)).toBe(hourMs + HOUR)
    expect(await runs()).toEqual([])
    await check(1)
    await check(1.001)
    expect(await runs()).toMatchObject([
      {
        runId: idAt(1),
        agent: 'owl',
        status: 'pending',
        tags: { team: 'red', schedule: 'hourly' },
        subjects: ['s'],
      },
    ])
    const seen: unknown[] = []
    const owl = agent('owl', async (_, input: unknown) => void seen.push(input))
    const worker = await startWorker({ ledger, agents: [owl], sweepMs: 50 })
    await vi.waitFor(async () => expect((await ledger.getRun(idAt(1)))?.status).toBe('completed'), 60_000)
    await worker.stop()
    expect(seen).toEqual([{ n: 1 }])
    const [submission] = await Array.fromAsync(ledger.read(idAt(1)))
    expect((await ledger.causes(submission?.eventId ?? ''))[0]?.eventType).toBe('system.schedule_fired')
    expect((await ledger.listRuns()).runs.map(({ runId }) => runId)).toEqual([idAt(1)])
  })

  it('W5 two schedulers, or ten, make one run of each occurrence', async () => {
    const { world, ledger, checkOf, ids, idAt } = await open({ catchUp: 'all' })
    const checks = Array.from({ length: 10 }, () => checkOf(world.open()))
    for (const hours of [1, 2, 3, 4.5]) await Promise.all(checks.map((check) => check(hours)))
    expect(await ids()).toEqual([1, 2, 3, 4].map(idAt))
    const types: string[] = []
    for await (const { eventType } of ledger.read(systemRunId('schedule', 'hourly'))) types.push(eventType)
    expect(types).toEqual(['system.schedule_set', ...Array(4).fill('system.schedule_fired')])
  })

  it('W5 one that died between an occurrence and its run is made good for by the next', async () => {
    const { world, ledger, checkOf, ids, idAt } = await open()
    const dying: Ledger = {
      ...ledger,
      append: async (events, options) => {
        if (events[0]?.eventType === 'system.workflow_submitted') throw new Error('killed')
        return ledger.append(events, options)
      },
    }
    await expect(checkOf(dying)(1)).rejects.toThrow('killed')
    expect([await ids(), (await readSchedule(ledger, 'hourly'))?.lastFired?.runId]).toEqual([[], idAt(1)])
    await checkOf(world.open())(1.001)
    expect(await ids()).toEqual([idAt(1)])
  })

  it('W5 one whose answer was lost after the submission makes no second run', async () => {
    const { world, ledger, checkOf, ids, idAt } = await open()
    const deaf: Ledger = {
      ...ledger,
      append: async (events, options) => {
        const done = await ledger.append(events, options)
        if (events[0]?.eventType === 'system.workflow_submitted') throw new Error('killed')
        return done
      },
    }
    await expect(checkOf(deaf)(1)).rejects.toThrow('killed')
    await checkOf(world.open())(1.001)
    expect(await ids()).toEqual([idAt(1)])
    expect((await ledger.getRun(idAt(1)))?.events).toBe(1)
  })

  it.each([
    ['skip', [4], { reason: 'late', count: 3 }],
    ['one', [4], { reason: 'late', count: 3 }],
    ['all', [1, 2, 3, 4], null],
  ] as const)('W5 catch-up %s, where one occurrence is on time', async (catchUp, fired, skipped) => {
    const { ledger, check, ids, idAt } = await open({ catchUp })
    await check(4)
    expect(await ids()).toEqual(fired.map(idAt))
    const { lastSkipped = null } = (await readSchedule(ledger, 'hourly')) ?? {}
    if (skipped) expect(lastSkipped).toMatchObject(skipped)
    else expect(lastSkipped).toBeNull()
  })

  it.each([
    ['skip', [], 4],
    ['one', [4], 3],
  ] as const)('W5 catch-up %s, where all are late', async (catchUp, fired, skipped) => {
    const { ledger, check, ids, idAt } = await open({ catchUp })
    await check(4.5)
    expect(await ids()).toEqual(fired.map(idAt))
    expect((await readSchedule(ledger, 'hourly'))?.lastSkipped).toMatchObject({
      reason: 'late',
      count: skipped,
    })
    await check(4.6)
    expect(await ids()).toEqual(fired.map(idAt))
  })

  it('W5 catch-up of all is capped at 100, and the others are on record', async () => {
    const { ledger, check, ids, idAt } = await open({ catchUp: 'all' })
    await check(250.5)
    expect((await ids()).length).toBe(100)
    expect((await ids())[0]).toBe(idAt(151))
    expect((await readSchedule(ledger, 'hourly'))?.lastSkipped).toMatchObject({ reason: 'late', count: 150 })
  })

  it('W5 overlap skip leaves an occurrence out while an earlier run goes on, and says so', async () => {
    const { ledger, check, ids, idAt } = await open({ overlap: 'skip' })
    await check(1)
    await check(2)
    expect(await ids()).toEqual([idAt(1)])
    expect((await readSchedule(ledger, 'hourly'))?.lastSkipped).toMatchObject({ reason: 'overlap', count: 1 })
    await end(ledger, idAt(1))
    await check(3)
    expect(await ids()).toEqual([1, 3].map(idAt))
  })

  it('W5 overlap queue has its runs wait on one thread, overlap allow does not', async () => {
    for (const [overlap, threads] of [
      ['queue', 1],
      ['allow', 2],
    ] as const) {
      const { ledger, check, runs } = await open({ overlap })
      await check(1)
      await check(2)
      expect(await runs()).toHaveLength(2)
      expect(new Set((await runs()).map(({ threadId, runId }) => threadId ?? runId)).size).toBe(threads)
      const claimed = await ledger.leases.claim({
        workspace: 'default',
        agents: ['owl'],
        nowMs: Date.now(),
        limit: 9,
      })
      expect(claimed.leases).toHaveLength(threads)
    }
  })

  it('W5 a clock that jumps forward is caught up with, and one that jumps back fires nothing twice', async () => {
    const { check, ids, idAt } = await open({ catchUp: 'one' })
    await check(1)
    await check(48.5)
    await check(2)
    await check(40)
    expect(await ids()).toEqual([1, 48].map(idAt))
    await check(49)
    expect(await ids()).toEqual([1, 48, 49].map(idAt))
  })

  it('W5 the clock is that of the store, whatever this machine has', async () => {
    const world = createMemoryWorld()
    world.turnClock(7 * 86_400_000)
    const clock = createStoreClock(world.open())
    expect(Math.abs((await clock()) - (Date.now() + 7 * 86_400_000))).toBeLessThan(86_400_000)
  })

  it('W5 a schedule that changes counts from then on, and runs that wait stay', async () => {
    const { ledger, check, runs, ids, idAt, hourMs } = await open()
    await check(1)
    await schedule(ledger, 'owl', { id: 'hourly', every: '2h', input: { n: 2 } })
    for (const hours of [2, 3, 4]) await check(hours)
    const even = [2, 3, 4].filter((hours) => (hourMs / HOUR + hours) % 2 === 0)
    expect(await ids()).toEqual([1, ...even].map(idAt))
    const inputs = await Promise.all((await runs()).map(({ runId }) => Array.fromAsync(ledger.read(runId))))
    expect(inputs.map(([first]) => first?.payload['input'])).toEqual([
      { n: 1 },
      ...even.map(() => ({ n: 2 })),
    ])
  })

  it('W5 a paused schedule fires nothing, nor what was due meanwhile; a removed one is gone until it is set again', async () => {
    const { world, ledger, check, ids, idAt, hourMs } = await open({ catchUp: 'all' })
    await check(1)
    await changeSchedule(ledger, 'hourly', 'paused', { by: 'ann' })
    await check(3)
    // The same definition again, as at the start of a program, leaves it paused.
    expect(
      (await schedule(ledger, 'owl', { id: 'hourly', every: '1h', input: { n: 1 }, catchUp: 'all' })).state,
    ).toBe('paused')
    world.turnClock(3.5 * HOUR)
    await changeSchedule(ledger, 'hourly', 'active')
    const resumed = (Date.parse((await readSchedule(ledger, 'hourly'))?.decidedUpTo ?? '') - hourMs) / HOUR
    await check(Math.floor(resumed) + 1)
    expect(await ids()).toEqual([1, Math.floor(resumed) + 1].map(idAt))
    await changeSchedule(ledger, 'hourly', 'removed')
    await check(9)
    expect([await ids(), await listSchedules(ledger)]).toMatchObject([{ length: 2 }, []])
    await expect(changeSchedule(ledger, 'hourly', 'active')).rejects.toMatchObject({ code: 'not_found' })
    await expect(changeSchedule(ledger, 'none', 'paused')).rejects.toMatchObject({ code: 'not_found' })
    expect((await schedule(ledger, 'owl', { id: 'hourly', every: '1h' })).state).toBe('active')
  })

  it('W5 one broken schedule keeps no other from being due', async () => {
    const { ledger, checkOf, idAt, hourMs } = await open()
    await ledger.append([
      {
        eventType: 'system.schedule_set',
        correlationId: systemRunId('schedule', 'broken'),
        payload: { agent: 'owl', cron: '0 0 30 2 *' },
      },
    ])
    const errors: unknown[] = []
    const check = createScheduleCheck(ledger)
    const at = hourMs + HOUR
    await check(
      async () => at,
      (error, id) => errors.push([id, error]),
    )
    expect(errors).toMatchObject([['broken', { code: 'bad_option' }]])
    expect(await ledger.getRun(idAt(1))).not.toBeNull()
    await expect(checkOf(ledger)(2)).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('W5 runs by itself until it is stopped', async () => {
    const ledger = createMemoryWorld().open()
    await schedule(ledger, 'owl', { id: 'often', every: '1s' })
    const submitted: string[] = []
    const scheduler = startScheduler(ledger, { pollMs: 50, onSubmit: ({ runId }) => submitted.push(runId) })
    await vi.waitFor(() => expect(submitted.length).toBeGreaterThan(1), { timeout: 60_000, interval: 50 })
    await scheduler.stop()
    const count = submitted.length
    expect((await ledger.listRuns({ q: 'schedule:often' })).runs).toHaveLength(count)
  })
})

describe('W5 a schedule', () => {
  it('W5 is recorded once for one definition, also by many at once', async () => {
    const world = createMemoryWorld()
    const set = (n: number) =>
      schedule(world.open(), { name: 'owl' }, { id: 'x', cron: '0 9 * * *', input: { n } })
    await Promise.all([1, 1, 1, 1].map(set))
    expect((await world.open().getRun(systemRunId('schedule', 'x')))?.events).toBe(1)
    await Promise.all([2, 3].map(set))
    expect((await world.open().getRun(systemRunId('schedule', 'x')))?.events).toBe(3)
    const state = await readSchedule(world.open(), 'x')
    expect(state).toMatchObject({ id: 'x', state: 'active', definition: { agent: 'owl', cron: '0 9 * * *' } })
    const after = new Date('2030-01-01T10:00:00Z')
    expect(state && nextOccurrences(state, { after, count: 1 })).toEqual([new Date('2030-01-02T09:00:00Z')])
  })

  it.each<[string, Partial<ScheduleOptions>]>([
    ['id', { id: 'a/b', every: '1h' }],
    ['cron', {}],
    ['cron', { cron: '0 0 30 2 *' }],
    ['every', { every: '1y' }],
    ['every', { every: 1 }],
    ['at', { at: '2020-01-01T00:00:00Z' }],
    ['at', { at: new Date(Number.NaN) }],
    ['timeZone', { cron: '@daily', timeZone: 'Berlin' }],
    ['catchUp', { every: '1h', catchUp: 'some' as 'all' }],
    ['overlap', { every: '1h', overlap: 'never' as 'skip' }],
  ])('W5 one with a wrong %s is refused, and nothing is written', async (option, options) => {
    const ledger = createMemoryWorld().open()
    await expect(schedule(ledger, 'owl', { id: 'x', ...options })).rejects.toMatchObject({
      code: 'bad_option',
      fields: { option },
    })
    expect((await ledger.stats()).events).toBe(0)
  })

  it('W5 a long record is folded from what defines it and from its end', async () => {
    const { ledger, checkOf, idAt } = await open({ catchUp: 'all' })
    const check = checkOf(ledger)
    for (let hours = 50; hours <= 400; hours += 50) await check(hours)
    const whole = await readSchedule(ledger, 'hourly')
    expect(whole?.seq).toBe(401)
    expect(whole).toMatchObject({ definition: { everyMs: HOUR }, lastFired: { runId: idAt(400) } })
  })

  it('W5 overlap skip fires one of several that are due at once', () => {
    const due = { times: [1, 2, 3], dropped: null }
    expect(decideOccurrences({ catchUp: 'all', overlap: 'skip' }, due, 100_000, false)).toMatchObject({
      fired: [1],
      skipped: [{ reason: 'overlap', count: 2 }],
    })
  })
})
