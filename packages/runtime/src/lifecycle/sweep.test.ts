import { ClewError, type EventInput, type Ledger } from '@clew/ledger'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld, type MemoryWorld } from '../../test/memory-ledger.ts'
import { leaseRun } from './lease-run.ts'
import { startSweeper } from './start-sweeper.ts'
import { sweep } from './sweep.ts'

let world: MemoryWorld
let ledger: Ledger
let other: Ledger
const key = (runId: string) => ({ workspace: 'default', runId })
const event = (runId: string, eventType: string, payload: Record<string, unknown> = {}): EventInput => ({
  eventType,
  correlationId: runId,
  payload,
})
const begin = (runId: string, ...more: EventInput[]) =>
  ledger.append([event(runId, 'system.workflow_started', { threadId: `t-${runId}` }), ...more])
const statusOf = async (runId: string): Promise<string | undefined> => (await ledger.getRun(runId))?.status

beforeEach(() => {
  world = createMemoryWorld()
  ledger = world.open()
  other = world.open()
})

describe('R9 sweep', () => {
  it('R9 interrupts runs whose owner is silent, under a new epoch, and frees them', async () => {
    await begin('r')
    const lost = await other.leases.acquire(key('r'), 't-r')
    expect(await sweep(ledger)).toEqual([])
    world.turnClock(61_000)
    expect(await sweep(ledger)).toEqual(['r'])
    expect(await statusOf('r')).toBe('interrupted')
    expect(await ledger.leases.list()).toEqual([])
    const late = event('r', 'execution.step_started', { stepId: 's#0', name: 's' })
    await expect(other.append([late], { epoch: lost.epoch })).rejects.toMatchObject({ code: 'stale_epoch' })
    const events = []
    for await (const each of ledger.read('r')) events.push(each)
    expect(events.at(-1)).toMatchObject({
      eventType: 'system.workflow_interrupted',
      payload: { reason: 'its owner has been silent for 60 s' },
    })
    expect((await leaseRun(ledger, { runId: 'r', threadId: 't-r' })).epoch).toBe(3)
    expect(await sweep(ledger)).toEqual([])
  })

  it('R9 only frees the lease of a run that is over, waits, or never began', async () => {
    await begin('done', event('done', 'system.workflow_completed'))
    await begin(
      'paused',
      event('paused', 'ui.input_requested', { pauseId: 'p', question: '?' }),
      event('paused', 'system.workflow_paused', { pauseIds: ['p'] }),
    )
    for (const runId of ['done', 'paused', 'never'])
      await other.leases.acquire(key(runId), runId === 'never' ? 't' : `t-${runId}`)
    const before = (await ledger.stats()).events
    world.turnClock(61_000)
    expect(await sweep(ledger)).toEqual([])
    expect(await ledger.leases.list()).toEqual([])
    expect((await ledger.stats()).events).toBe(before)
    expect([await statusOf('done'), await statusOf('paused')]).toEqual(['completed', 'paused'])
  })

  it('R9 two sweepers at once do it once', async () => {
    const runIds = Array.from({ length: 10 }, (_, n) => `r${n}`)
    for (const runId of runIds) {
      await begin(runId)
      await other.leases.acquire(key(runId), `t-${runId}`)
    }
    world.turnClock(61_000)
    const swept = await Promise.all([sweep(ledger), sweep(other), sweep(world.open())])
    expect(swept.flat().sort()).toEqual(runIds)
    for (const runId of runIds) expect((await ledger.getRun(runId))?.events).toBe(2)
    expect(await ledger.leases.list()).toEqual([])
  })

  it('R9 leaves runs alone that this process holds and was only late for, and those of other workspaces', async () => {
    await begin('mine')
    const held = await leaseRun(ledger, { runId: 'mine', threadId: null, pace: { beatMs: 60_000 } })
    const elsewhere = world.open('elsewhere')
    await elsewhere.append([event('far', 'system.workflow_started')])
    await elsewhere.leases.acquire({ workspace: 'elsewhere', runId: 'far' })
    world.turnClock(61_000)
    expect([await sweep(ledger), await sweep(other)]).toEqual([[], []])
    expect(await statusOf('mine')).toBe('running')
    expect((await elsewhere.getRun('far'))?.status).toBe('running')
    expect(await sweep(elsewhere)).toEqual(['far'])
    held.lose(new Error('given up'))
    expect(await sweep(ledger)).toEqual(['mine'])
  })

  it('R9 goes on to the others when one run cannot be swept, and then says what was wrong', async () => {
    for (const runId of ['a', 'b']) {
      await begin(runId)
      await other.leases.acquire(key(runId))
    }
    world.turnClock(61_000)
    const broken: Ledger = {
      ...ledger,
      append: async (events, options) => {
        if (events[0]?.correlationId === 'a') throw new ClewError('store_full', 'Full', 'Make room.')
        return ledger.append(events, options)
      },
    }
    await expect(sweep(broken)).rejects.toMatchObject({ code: 'store_full' })
    expect([await statusOf('a'), await statusOf('b')]).toEqual(['running', 'interrupted'])
  })

  it('R9 a run that stood in the way of its thread is interrupted when the thread is taken', async () => {
    await begin('r')
    await other.leases.acquire(key('r'), 't-r')
    world.turnClock(61_000)
    const next = await leaseRun(ledger, { runId: 'next', threadId: 't-r' })
    expect(await statusOf('r')).toBe('interrupted')
    await next.release()
  })
})

describe('R9 the sweeper', () => {
  const orphan = async (runId: string): Promise<void> => {
    await begin(runId)
    await other.leases.acquire(key(runId))
    world.turnClock(61_000)
  }

  it('R9 sweeps at once, then again and again, until it is stopped', async () => {
    await orphan('a')
    const told: string[] = []
    const sweeper = startSweeper(ledger, { everyMs: 5, onSwept: (runIds) => void told.push(...runIds) })
    await vi.waitFor(() => expect(told).toEqual(['a']), 60_000)
    await orphan('b')
    await vi.waitFor(() => expect(told).toEqual(['a', 'b']), 60_000)
    await sweeper.stop()
    await orphan('c')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await statusOf('c')).toBe('running')
  })

  it('R9 tells errors and goes on', async () => {
    let rounds = 0
    const flaky: Ledger = {
      ...ledger,
      leases: {
        ...ledger.leases,
        list: async () => {
          if (rounds++ === 0) throw new ClewError('store_locked', 'Locked', 'Try again.')
          return ledger.leases.list()
        },
      },
    }
    await orphan('a')
    const errors: unknown[] = []
    const sweeper = startSweeper(flaky, { everyMs: 5, onError: (error) => void errors.push(error) })
    await vi.waitFor(async () => expect(await statusOf('a')).toBe('interrupted'), 60_000)
    expect(errors).toMatchObject([{ code: 'store_locked' }])
    await sweeper.stop()
  })

  it('R9 keeps an error that nobody wanted to hear for whoever stops it', async () => {
    const broken: Ledger = {
      ...ledger,
      leases: {
        ...ledger.leases,
        list: async () => {
          throw new ClewError('store_locked', 'Locked', 'Try again.')
        },
      },
    }
    const sweeper = startSweeper(broken, { everyMs: 5 })
    await expect(sweeper.stop()).rejects.toMatchObject({ code: 'store_locked' })
    await sweeper.stop()
  })

  it('R9 ends with its ledger', async () => {
    let rounds = 0
    const closed: Ledger = {
      ...ledger,
      leases: {
        ...ledger.leases,
        list: async () => {
          rounds++
          throw new ClewError('closed', 'Closed', 'Open it again.')
        },
      },
    }
    const sweeper = startSweeper(closed, { everyMs: 1 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(rounds).toBe(1)
    await sweeper.stop()
  })
})
