import type { ClewEvent, Lease, Ledger } from '@clew/ledger'

/** Where a process dies: at its n-th append (from 0), before the commit or after it but before the answer. */
export interface Kill {
  readonly append: number
  readonly committed: boolean
}

export interface Life {
  readonly ledger: Ledger
  /** Resolves when the process has died, what it had handed over is settled, and its leases are free. */
  readonly died: Promise<'died'>
  readonly isDead: boolean
  readonly appends: number
}

/** A mistake in the record keeping, planted to see that it is found. */
export type Fault = 'forgets ends' | 'ends in other order' | 'does not reserve writes'

const never = new Promise<never>(() => {})
const ASYNC = [
  'record',
  'getRun',
  'getEvent',
  'listRuns',
  'getSteps',
  'getSkeleton',
  'getState',
  'effects',
  'causes',
  'lastPosition',
] as const

/** One life of a process: from its death on, nothing it awaits from the ledger ever settles. */
export function createLife(inner: Ledger, kill?: Kill, fault?: Fault): Life {
  const pending = new Set<Promise<unknown>>()
  const held = new Map<string, Lease>()
  let appends = 0
  let dead = false
  let die = (): void => {}
  const died = new Promise<void>((resolve) => {
    die = resolve
  }).then(async () => {
    await Promise.allSettled(pending)
    // As after SIGKILL: an owner that is provably dead is replaced at once (R9).
    for (const lease of held.values()) await inner.leases.release(lease)
    return 'died' as const
  })
  const mortal = <T>(work: () => Promise<T>): Promise<T> =>
    dead ? never : work().then((value) => (dead ? never : value))

  async function append(...args: Parameters<Ledger['append']>): Promise<readonly ClewEvent[]> {
    if (dead) return never
    const last = appends++ === kill?.append
    if (last) dead = true
    if (last && !kill.committed) {
      die()
      return never
    }
    const written = inner.append(...args)
    pending.add(written)
    if (last) die()
    try {
      const events = await written
      return dead ? await never : events
    } catch (error) {
      if (dead) return never
      throw error
    } finally {
      pending.delete(written)
    }
  }

  async function* read(...args: Parameters<Ledger['read']>): AsyncGenerator<ClewEvent> {
    const events: ClewEvent[] = []
    for await (const event of inner.read(...args)) events.push(event)
    for (const event of plant(events, fault)) yield dead ? await never : event
  }

  const methods = Object.fromEntries(
    ASYNC.map((name) => {
      const method = inner[name] as (...args: unknown[]) => Promise<unknown>
      return [name, (...args: unknown[]) => mortal(() => method(...args))]
    }),
  )
  const leases: Ledger['leases'] = {
    ...inner.leases,
    acquire: (key, threadId) =>
      mortal(async () => {
        const lease = await inner.leases.acquire(key, threadId)
        held.set(lease.runId, lease)
        return lease
      }),
    renew: (lease) => mortal(() => inner.leases.renew(lease)),
    release: (lease) =>
      mortal(async () => {
        held.delete(lease.runId)
        await inner.leases.release(lease)
      }),
  }
  return {
    ledger: { ...inner, ...methods, leases, append, read },
    died,
    get isDead() {
      return dead
    },
    get appends() {
      return appends
    },
  }
}

function plant(events: readonly ClewEvent[], fault: Fault | undefined): readonly ClewEvent[] {
  const isEnd = ({ eventType }: ClewEvent): boolean => eventType === 'execution.step_completed'
  if (fault === 'forgets ends') {
    const last = events.findLastIndex(isEnd)
    return events.filter((_, index) => index !== last)
  }
  if (fault === 'ends in other order') {
    const ends = events.filter(isEnd).toReversed()
    return events.map((event) => (isEnd(event) ? (ends.shift() as ClewEvent) : event))
  }
  return events
}
