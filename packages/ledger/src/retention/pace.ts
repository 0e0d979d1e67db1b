import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'

export interface BatchThrottle {
  /** Somebody else was seen to append a moment ago. */
  readonly isShared: boolean
  /** How long one transaction may take now, in ms. */
  readonly batchMs: number
  /** Comes between two transactions: `tookMs` is what the last one took, `events` how many it appended. */
  rest(tookMs: number, events: number): Promise<void>
}

/** Whoever begins to write then waits once for so long. */
const ALONE_MS = 5
/** Nobody else has appended for so long. */
const QUIET_MS = 300
const MIN_REST_MS = 1
const MAX_REST_MS = 50

/**
 * Beside others short transactions, and long rests between them; at full speed where nobody else appends. Positions
 * tell: where they have gone on by more than our own events, somebody has.
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
