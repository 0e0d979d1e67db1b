import type { StopRequest } from '@clew/ledger'
import type { TracePort } from './port.ts'
import type { TracePorts } from './trace-ports.ts'

export interface StopWatch {
  /** Gives back how to look no more. */
  add(sessionId: string, onStop: (request: StopRequest) => void): () => void
}

/** A look at one session takes 10 to 50 µs; at this distance they take less than a hundredth of the time. */
const LOOK_MS_PER_SESSION = 5

/** Polls for stop requests, for all sessions of a workspace in one call and only while there are any. */
export function watchStops(port: TracePort, { after }: Pick<TracePorts, 'after'>): StopWatch {
  const watched = new Map<string, (request: StopRequest) => void>()
  let callOff: (() => void) | undefined
  let isLooking = false

  function lookLater(): void {
    const ms = Math.max(port.lookMs, watched.size * LOOK_MS_PER_SESSION)
    if (watched.size > 0 && !isLooking) callOff ??= after(ms, () => void look())
  }

  async function look(): Promise<void> {
    callOff = undefined
    isLooking = true
    try {
      for (const { sessionId, reason, by } of await port.findStops([...watched.keys()])) {
        const onStop = watched.get(sessionId)
        watched.delete(sessionId)
        onStop?.({ reason, by })
      }
    } catch {
      // A store or server that does not answer may do so the next time; the heartbeat reports when it is down.
    }
    isLooking = false
    lookLater()
  }

  return {
    add(sessionId, onStop) {
      watched.set(sessionId, onStop)
      lookLater()
      return () => {
        watched.delete(sessionId)
        if (watched.size > 0) return
        callOff?.()
        callOff = undefined
      }
    },
  }
}
