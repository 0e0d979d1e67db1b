import { asOwn, ClewError, type Ledger, type QueueCount, type QueueLimits, systemRunId } from '@clew/ledger'
import { checkName } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { assertMode } from '../run/mode.ts'

export type QueueOptions = Omit<QueueLimits, 'queue'>

/** A queue with its limits, and how many runs of it wait and work. */
export interface QueueState extends QueueLimits, Omit<QueueCount, 'agent'> {}

const QUEUES_RUN_ID = systemRunId('queues')
const TYPES = ['system.queue_changed']

const checkQueueOptions = createOptionCheck<QueueOptions>({
  concurrency: true,
  concurrencyPerKey: true,
  rate: true,
})

/** Sets the limits of a queue for all workers (W4), in place of those it had; what is left out is not limited. */
export async function setQueue(
  ledger: Ledger,
  queue: string,
  options: QueueOptions,
  { by }: { readonly by?: string | undefined } = {},
): Promise<void> {
  checkName(queue, 'The queue')
  checkQueueOptions(options, `Queue ${queue}`)
  assertMode(ledger, 'write')
  const { concurrency, concurrencyPerKey, rate } = options
  const counts = { concurrency, concurrencyPerKey, 'rate.count': rate?.count, 'rate.perMs': rate?.perMs }
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new ClewError(
        'bad_option',
        `The ${name} of queue ${queue} is not a whole number of 1 or more`,
        'Leave it out for no limit. Nothing was changed.',
        { option: name },
      )
  await ledger.record({
    eventType: 'system.queue_changed',
    correlationId: QUEUES_RUN_ID,
    payload: {
      queue,
      ...(concurrency !== undefined && { concurrency }),
      ...(concurrencyPerKey !== undefined && { concurrencyPerKey }),
      ...(rate && { rate: { ...rate } }),
      ...(by !== undefined && { by }),
    },
  })
  followed.delete(ledger)
}

interface Followed {
  seq: number
  readAtMs: number
  readonly limits: Map<string, QueueLimits>
}

/** Upper limit on the age of cached limits: those that another process sets are in force here no later than this. */
const LIMITS_MS = 1000
const followed = new WeakMap<Ledger, Followed>()

/** Limits of all queues that have some. Reads only what has changed since the last call. */
export async function readQueueLimits(ledger: Ledger): Promise<readonly QueueLimits[]> {
  const known: Followed = followed.get(ledger) ?? {
    seq: 0,
    readAtMs: Number.NEGATIVE_INFINITY,
    limits: new Map(),
  }
  if (performance.now() - known.readAtMs >= LIMITS_MS) {
    known.readAtMs = performance.now()
    for await (const event of ledger.read(QUEUES_RUN_ID, { afterSeq: known.seq, types: TYPES })) {
      known.seq = event.ledger.seq
      const own = asOwn(event)
      if (own?.eventType !== 'system.queue_changed') continue
      const { queue, concurrency, concurrencyPerKey, rate } = own.payload
      known.limits.set(queue, {
        queue,
        ...(typeof concurrency === 'number' && { concurrency }),
        ...(typeof concurrencyPerKey === 'number' && { concurrencyPerKey }),
        ...(rate && { rate: { count: rate.count, perMs: rate.perMs } }),
      })
    }
    followed.set(ledger, known)
  }
  return [...known.limits.values()].filter((limits) => Object.keys(limits).length > 1)
}

/** All queues that have limits, or runs that wait or work. */
export async function listQueues(ledger: Ledger): Promise<readonly QueueState[]> {
  const limits = await readQueueLimits(ledger)
  const counts = await ledger.leases.queues(ledger.workspace)
  const names = [...new Set([...limits, ...counts].map(({ queue }) => queue))].toSorted()
  return names.map((queue) => {
    const own = counts.filter((count) => count.queue === queue)
    const sum = (name: 'waiting' | 'delayed' | 'running'): number =>
      own.reduce((total, count) => total + count[name], 0)
    return {
      ...limits.find((each) => each.queue === queue),
      queue,
      waiting: sum('waiting'),
      delayed: sum('delayed'),
      running: sum('running'),
    }
  })
}
