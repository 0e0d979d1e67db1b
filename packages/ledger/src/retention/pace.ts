import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'

export interface BatchThrottle {
  /** Another process appended a moment ago. */
  readonly isShared: boolean
  /** How long one transaction may take now, in ms. */
  readonly batchMs: number
  /** Comes between two transactions: `tookMs` is what the last one took, `events` how many it appended. */
  rest(tookMs: number, events: number): Promise<void>
}

/** Length of a transaction at full speed: a process that starts to write waits once for so long. */
const ALONE_MS = 5
/** After this time without appends by others, gc runs at full speed. */
const QUIET_MS = 300
const MIN_REST_MS = 1
const MAX_REST_MS = 50

/**
 * Uses short transactions and long pauses while others write, and full speed otherwise. Positions show it: if they
 * advanced by more than our own events, another process wrote.
 */
export async function createPace(
  store: Pick<Store, 'info' | 'disk'>,
  ports: Pick<Ports, 'now' | 'sleep' | 'defer'>,
): Promise<BatchThrottle> {
  const { batchMs, rest } = store.disk.pace
  let { lastPosition: position } = await store.info('lastPosition')
  let sharedMs = ports.now()
  let hasSeenOthers = false
  /** At first as if there were others. */
  const isShared = (): boolean => ports.now() - sharedMs < QUIET_MS
  return {
    get isShared() {
      return hasSeenOthers && isShared()
    },
    get batchMs() {
      return isShared() ? batchMs : Math.max(batchMs, ALONE_MS)
    },
    async rest(tookMs, events) {
      const { lastPosition: last } = await store.info('lastPosition')
      if (last > position + events) {
        sharedMs = ports.now()
        hasSeenOthers = true
      }
      position = last
      if (isShared()) await ports.sleep(Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, rest * tookMs)))
      else await yieldToEventLoop(ports)
    },
  }
}
