import { type Ledger, systemRunId } from '@clew/ledger'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { HOUSEKEEPING_RUN_ID, housekeepingRound, readLastHousekeeping } from './housekeeping-round.ts'
import { startHousekeeping } from './start-housekeeping.ts'

const HOUR = 3_600_000
const POLICY = { retention: { rules: [{ name: 'old', olderThan: '1d' }] } }

function open() {
  const world = createMemoryWorld()
  let offsetMs = 0
  return {
    world,
    ledger: world.open(),
    other: world.open(),
    now: () => Date.now() + offsetMs,
    later(ms: number) {
      offsetMs += ms
      world.turnClock(ms)
    },
  }
}

async function addRun(ledger: Ledger, correlationId: string): Promise<void> {
  await ledger.append([
    { eventType: 'system.workflow_started', correlationId, payload: { agent: 'a' } },
    { eventType: 'system.workflow_completed', correlationId, payload: {} },
  ])
}

describe('W8 a round of housekeeping', () => {
  it('W8 deletes by the policy, keeps what a hold keeps, interrupts orphans, indexes, and says so', async () => {
    const { world, ledger, other, now, later } = open()
    for (const runId of ['old', 'held']) await addRun(ledger, runId)
    await ledger.hold({ runId: 'held' }, { reason: 'case 12' })
    await ledger.setPolicy(POLICY, { by: 'ann' })
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId: 'orphan', payload: { agent: 'a' } },
    ])
    await other.leases.acquire({ workspace: 'default', runId: 'orphan' })
    later(48 * HOUR)
    const round = await housekeepingRound(ledger, HOUR, now)
    expect(round).toMatchObject({
      policy: { source: 'workspace', by: 'ann' },
      events: 2,
      runs: 1,
      kept: 1,
      interrupted: 1,
    })
    expect(round?.indexed).toBeGreaterThan(0)
    expect(round?.errors).toBeUndefined()
    expect([(await ledger.getRun('old'))?.status, (await ledger.getRun('held'))?.status]).toEqual([
      'deleted',
      'completed',
    ])
    expect((await ledger.getRun('orphan'))?.status).toBe('interrupted')
    expect(await readLastHousekeeping(other)).toEqual(round)
    expect((await world.open().listRuns({ q: 'run:clew*' })).runs).toEqual([])
  })

  it('W8 is not done again before it is due, by whichever process', async () => {
    const { ledger, other, now, later } = open()
    expect(await housekeepingRound(ledger, HOUR, now)).not.toBeNull()
    expect(await housekeepingRound(other, HOUR, now)).toBeNull()
    later(HOUR)
    expect(await housekeepingRound(other, HOUR, now)).toMatchObject({ interrupted: 0 })
    later(-3 * HOUR)
    expect(await housekeepingRound(ledger, HOUR, now)).not.toBeNull()
  })

  it('W8 is done once by many that try at once', async () => {
    const { world, now } = open()
    const ledgers = Array.from({ length: 8 }, () => world.open())
    const rounds = await Promise.all(ledgers.map((ledger) => housekeepingRound(ledger, HOUR, now)))
    expect(rounds.filter((round) => round !== null)).toHaveLength(1)
    expect((await world.open().getRun(HOUSEKEEPING_RUN_ID))?.events).toBe(1)
  })

  it('W8 one that died in the middle is done again once its lease is free, and not before', async () => {
    const { ledger, other, now, later } = open()
    await addRun(ledger, 'old')
    await ledger.setPolicy(POLICY)
    later(48 * HOUR)
    // As a process leaves it that was killed: a lease, and no event.
    await other.leases.acquire({ workspace: 'default', runId: HOUSEKEEPING_RUN_ID })
    expect(await housekeepingRound(ledger, HOUR, now)).toBeNull()
    expect((await ledger.getRun('old'))?.status).toBe('completed')
    later(61_000)
    expect(await housekeepingRound(ledger, HOUR, now)).toMatchObject({ runs: 1 })
  })

  it('W8 who lost the lease in the middle records nothing', async () => {
    const { ledger, other, now, later } = open()
    const robbed: Ledger = {
      ...ledger,
      append: async (events, options) => {
        later(61_000)
        await other.leases.acquire({ workspace: 'default', runId: HOUSEKEEPING_RUN_ID })
        return ledger.append(events, options)
      },
    }
    await expect(housekeepingRound(robbed, HOUR, now)).rejects.toMatchObject({ code: 'stale_epoch' })
    expect(await readLastHousekeeping(ledger)).toBeNull()
  })

  it('W8 a task that fails keeps no other from being done, and is on record', async () => {
    const { ledger, now } = open()
    await ledger.append([
      {
        eventType: 'system.policy_changed',
        correlationId: systemRunId('audit'),
        payload: { policy: { retention: { rules: 'all' } } },
      },
    ])
    const round = await housekeepingRound(ledger, HOUR, now)
    expect(round?.errors).toMatchObject([{ task: 'retention', code: 'bad_option' }])
    expect(round).toMatchObject({ interrupted: 0, indexed: 1 })
  })
})

it('W8 housekeeping goes on until it is stopped, and tells of errors', async () => {
  const { ledger } = open()
  const rounds: unknown[] = []
  const running = startHousekeeping(ledger, { everyMs: 1, pollMs: 1, onRound: (round) => rounds.push(round) })
  await vi.waitFor(() => expect(rounds.length).toBeGreaterThan(2), 60_000)
  await running.stop()
  const errors: unknown[] = []
  const broken: Ledger = { ...ledger, getRun: () => Promise.reject(new Error('away')) }
  const failing = startHousekeeping(broken, { pollMs: 1, onError: (error) => errors.push(error) })
  await vi.waitFor(() => expect(errors.length).toBeGreaterThan(1), 60_000)
  await failing.stop()
  await expect(startHousekeeping(broken).stop()).rejects.toThrow('away')
})
