import type { ClewEvent, Lease, Ledger } from '@clew/ledger'
import { createMortal, type Kill } from '../catalogue/mortal.ts'

export type { Kill } from '../catalogue/mortal.ts'

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

/** Of what a dead process was about nobody hears: its leases fall silent later, while other tests run. */
export const unheard = (work: Promise<unknown>): void => void work.catch(() => undefined)

/** One life of a process: from its death on, nothing it awaits from the ledger ever settles. */
export function createLife(inner: Ledger, kill?: Kill, fault?: Fault): Life {
  const life = createMortal(inner, kill)
  const held = new Map<string, Lease>()
  const underway = new Set<Promise<unknown>>()
  const onItsWay = <T>(work: Promise<T>): Promise<T> => {
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }
  const died = life.died.then(async (died) => {
    // As after SIGKILL: an owner that is provably dead is replaced at once (R9), also in what was on its way.
    await Promise.allSettled(underway)
    for (const lease of held.values()) await inner.leases.release(lease)
    return died
  })
  const mortal = <T>(work: () => Promise<T>): Promise<T> =>
    life.isDead ? never : work().then((value) => (life.isDead ? never : value))

  async function* read(...args: Parameters<Ledger['read']>): AsyncGenerator<ClewEvent> {
    const events: ClewEvent[] = []
    for await (const event of inner.read(...args)) events.push(event)
    for (const event of plant(events, fault)) yield life.isDead ? await never : event
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
        const take = async (): Promise<Lease> => {
          const lease = await inner.leases.acquire(key, threadId)
          held.set(lease.runId, lease)
          return lease
        }
        return onItsWay(take())
      }),
    renew: (lease) => mortal(() => inner.leases.renew(lease)),
    release: (lease) =>
      mortal(async () => {
        held.delete(lease.runId)
        await onItsWay(inner.leases.release(lease))
      }),
  }
  return {
    ledger: { ...inner, ...methods, leases, append: life.ledger.append, read },
    died,
    get isDead() {
      return life.isDead
    },
    get appends() {
      return life.appends
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
