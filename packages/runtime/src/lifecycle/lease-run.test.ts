import { ClewError, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld, type MemoryWorld } from '../../test/memory-ledger.ts'
import { type RunLease, type RunLeaseOptions, leaseRun } from './lease-run.ts'

const QUICK = { beatMs: 5, pollMs: 5, staleMs: 60_000 }
const RUN = { runId: 'r', threadId: 't', pace: QUICK }

let world: MemoryWorld
let ledger: Ledger
let other: Ledger
let holds: RunLease[]
const hold = async (on: Ledger, options: RunLeaseOptions): Promise<RunLease> => {
  const made = await leaseRun(on, options)
  holds.push(made)
  return made
}
const step = (n: number) => ({
  eventType: 'execution.step_started',
  correlationId: 'r',
  payload: { stepId: `s#${n}`, name: 's' },
})
const aborted = ({ signal }: RunLease): Promise<ClewError> =>
  vi.waitFor(() => {
    if (!signal.aborted) throw new Error('not aborted')
    return signal.reason as ClewError
  }, 60_000)
const beats = async (): Promise<string> => (await other.leases.list())[0]?.heartbeatAt ?? ''

beforeEach(() => {
  world = createMemoryWorld()
  ledger = world.open()
  other = world.open()
  holds = []
})
afterEach(async () => {
  vi.useRealTimers()
  for (const each of holds) await each.release()
})

describe('R9 a held run', () => {
  it('R9 belongs to one owner, whose epoch its events need', async () => {
    const held = await hold(ledger, RUN)
    expect([held.runId, held.epoch, held.stopRequested, held.lost]).toEqual(['r', 1, null, null])
    await ledger.append([step(0)], { epoch: held.epoch })
    await expect(leaseRun(other, RUN)).rejects.toMatchObject({ code: 'busy', fields: { runId: 'r' } })
    await held.release()
    expect(held.signal.aborted).toBe(false)
    expect((await hold(other, RUN)).epoch).toBe(2)
    await expect(ledger.append([step(1)], { epoch: 1 })).rejects.toMatchObject({ code: 'stale_epoch' })
  })

  it('R9 keeps its thread to itself', async () => {
    await hold(ledger, RUN)
    await expect(leaseRun(other, { ...RUN, runId: 'q' })).rejects.toMatchObject({ code: 'busy' })
    await hold(other, { runId: 'q', threadId: 'u' })
    await hold(other, { runId: 'p', threadId: null })
  })

  it('R9 can be released again and again, also after another has it', async () => {
    const held = await hold(ledger, RUN)
    await Promise.all([held.release(), held.release()])
    const next = await hold(other, RUN)
    await held.release()
    held.lose(new Error('too late'))
    expect([held.lost, held.signal.aborted]).toEqual([null, false])
    await other.append([step(0)], { epoch: next.epoch })
  })

  it('R9 is released without an error when the ledger is closed already, but not when the store fails', async () => {
    const releasing = (code: 'closed' | 'store_locked'): Promise<RunLease> =>
      leaseRun(
        {
          ...ledger,
          leases: {
            ...ledger.leases,
            release: async () => {
              throw new ClewError(code, 'No', 'Try again.')
            },
          },
        },
        { runId: code, threadId: null },
      )
    await (await releasing('closed')).release()
    await expect((await releasing('store_locked')).release()).rejects.toMatchObject({ code: 'store_locked' })
  })

  it('R9 beats, so that it is never stale', async () => {
    const held = await hold(ledger, RUN)
    for (let round = 0; round < 4; round++) {
      const before = await beats()
      world.turnClock(40_000)
      await vi.waitFor(async () => expect(await beats()).not.toBe(before), 60_000)
    }
    await expect(leaseRun(other, RUN)).rejects.toMatchObject({ code: 'busy' })
    expect(held.signal.aborted).toBe(false)
  })

  it('R9 that was taken over aborts, cannot write, and leaves the new owner alone', async () => {
    const held = await hold(ledger, RUN)
    world.turnClock(61_000)
    // Asked for in the same turn, before a heartbeat can come between.
    const taken = other.leases.acquire({ workspace: 'default', runId: 'r' }, 't')
    const lease = await taken
    const reason = await aborted(held)
    expect(reason).toBeInstanceOf(ClewError)
    expect(reason).toMatchObject({ code: 'stale_epoch', fields: { runId: 'r', epoch: 1 } })
    expect(held.lost).toBe(reason)
    await expect(ledger.append([step(0)], { epoch: held.epoch })).rejects.toMatchObject({
      code: 'stale_epoch',
    })
    await held.release()
    await other.append([step(0)], { epoch: lease.epoch })
  })

  it('R9 that the machine gives up aborts with the refusal itself, and is not renewed again', async () => {
    const held = await hold(ledger, { ...RUN, pace: { beatMs: 60_000, pollMs: 60_000 } })
    const refused = await ledger.append([step(0)], { epoch: 7 }).catch((error: unknown) => error)
    held.lose(refused)
    expect(held.signal.reason).toBe(refused)
    held.lose(new Error('again'))
    expect(held.lost).toBe(refused)
  })
})

describe('R9 a heartbeat that fails', () => {
  const withRenew = (renew: Ledger['leases']['renew']): Ledger => ({
    ...ledger,
    leases: { ...ledger.leases, renew },
  })
  const locked = new ClewError('store_locked', 'Locked', 'Try again.')

  it('R9 for a busy store is tried again', async () => {
    let failures = 0
    const flaky = withRenew(async (lease) => {
      if (failures++ < 3) throw locked
      await ledger.leases.renew(lease)
    })
    const held = await hold(flaky, RUN)
    const before = await beats()
    world.turnClock(1000)
    await vi.waitFor(async () => expect(await beats()).not.toBe(before), 60_000)
    expect(failures).toBeGreaterThan(3)
    expect(held.signal.aborted).toBe(false)
  })

  it('R9 for as long as a lease lasts ends the hold, and says why', async () => {
    const held = await hold(
      withRenew(async () => {
        throw locked
      }),
      { ...RUN, pace: { ...QUICK, staleMs: 40 } },
    )
    expect(await aborted(held)).toMatchObject({ code: 'stale_epoch', cause: locked })
  })

  it('R9 by never answering ends it too', async () => {
    const held = await hold(
      withRenew(() => new Promise(() => {})),
      { ...RUN, pace: { ...QUICK, staleMs: 40 } },
    )
    expect(await aborted(held)).toMatchObject({ code: 'stale_epoch' })
  })

  it('R9 because the ledger was closed ends it at once', async () => {
    const closed = new ClewError('closed', 'Closed', 'Open it again.')
    const held = await hold(
      withRenew(async () => {
        throw closed
      }),
      RUN,
    )
    expect(await aborted(held)).toMatchObject({ code: 'stale_epoch', cause: closed })
  })
})

describe('R9 onBusy: wait', () => {
  const waiting = (runId: string, on = ledger): Promise<RunLease> =>
    hold(on, { ...RUN, runId, onBusy: 'wait' })
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
  }

  it('R9 is woken by a release in the same process, and serves in order', async () => {
    const first = await hold(ledger, RUN)
    // No timer ever fires: only the release can wake them.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const served: string[] = []
    const work = async (runId: string, on: Ledger): Promise<void> => {
      const held = await waiting(runId, on)
      served.push(runId)
      await held.release()
    }
    const all = Promise.all([work('a', other), work('b', ledger), work('c', other)])
    await turns(5)
    expect(served).toEqual([])
    await first.release()
    await all
    expect(served).toEqual(['a', 'b', 'c'])
  })

  it('R9 nobody overtakes who waits already', async () => {
    const lease = await other.leases.acquire({ workspace: 'default', runId: 'r' }, 't')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const served: string[] = []
    const work = async (runId: string): Promise<void> => {
      const held = await waiting(runId)
      served.push(runId)
      await held.release()
    }
    const first = work('a')
    await turns(5)
    // Nobody is told of it, as if it happened in another process.
    await other.leases.release(lease)
    const second = work('b')
    await turns(5)
    expect(served).toEqual([])
    await vi.advanceTimersByTimeAsync(50)
    await Promise.all([first, second])
    expect(served).toEqual(['a', 'b'])
  })

  it('R9 finds out by itself when the owner is in another process', async () => {
    const lease = await other.leases.acquire({ workspace: 'default', runId: 'r' }, 't')
    const next = waiting('q')
    await turns(5)
    await other.leases.release(lease)
    expect((await next).runId).toBe('q')
  })

  it('R9 ends when its signal aborts, and lets the next one in line go on', async () => {
    const first = await hold(ledger, RUN)
    const abort = new AbortController()
    const gone = leaseRun(ledger, { ...RUN, runId: 'a', onBusy: 'wait', signal: abort.signal })
    const next = waiting('b')
    await turns(5)
    abort.abort(new Error('enough'))
    await expect(gone).rejects.toThrow('enough')
    await first.release()
    expect((await next).runId).toBe('b')
    await expect(
      leaseRun(ledger, { ...RUN, runId: 'c', threadId: null, signal: abort.signal }),
    ).rejects.toThrow('enough')
    expect((await ledger.leases.list()).map(({ runId }) => runId)).toEqual(['b'])
  })

  it('R9 ends as busy after its longest wait', async () => {
    await hold(ledger, RUN)
    await expect(leaseRun(ledger, { ...RUN, runId: 'q', onBusy: 'wait', waitMs: 30 })).rejects.toMatchObject({
      code: 'busy',
    })
    await expect(leaseRun(ledger, { ...RUN, runId: 'q', onBusy: 'wait', waitMs: 0 })).rejects.toMatchObject({
      code: 'busy',
    })
  })

  it('R9 does not wait for anything but a busy lease', async () => {
    const broken: Ledger = {
      ...ledger,
      leases: {
        ...ledger.leases,
        acquire: async () => {
          throw new ClewError('store_full', 'Full', 'Make room.')
        },
      },
    }
    await expect(leaseRun(broken, { ...RUN, onBusy: 'wait' })).rejects.toMatchObject({ code: 'store_full' })
  })
})

describe('R9 the ticker', () => {
  it('R9 is one timer for all runs of a ledger, and gone when none is held', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const held = await Promise.all(
      Array.from({ length: 20 }, (_, n) => hold(ledger, { runId: `r${n}`, threadId: null })),
    )
    expect(vi.getTimerCount()).toBe(1)
    for (const each of held.slice(1)) await each.release()
    expect(vi.getTimerCount()).toBe(1)
    held[0]?.lose(new Error('lost'))
    expect(vi.getTimerCount()).toBe(0)
    await hold(ledger, RUN)
    expect(vi.getTimerCount()).toBe(1)
  })
})
