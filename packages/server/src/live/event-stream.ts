import type { Call } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'

/** A comment is sent after so long a silence, so that those in between keep the connection. */
const HEARTBEAT_MS = 15_000
/** `retry` is the time after which a client reconnects by itself. */
const HEAD = 'retry: 1000\n\n'
const HEARTBEAT = ': still here\n\n'

/**
 * Answers with text that is made only when the client has read the text before it, so that slow clients take no memory.
 * Ends when the source ends, the client disconnects, its token ends, or the server closes.
 */
export function eventStream(
  call: Call,
  parts: Pick<ServerParts, 'principals' | 'closing' | 'metrics' | 'limits' | 'log'>,
  source: (signal: AbortSignal) => AsyncGenerator<string>,
): Response {
  const over = new AbortController()
  const end = (): void => over.abort()
  const unwatch = parts.principals.watch(call.principal, end)
  parts.closing.addEventListener('abort', end)
  call.signal.addEventListener('abort', end)
  if (parts.closing.aborted || call.signal.aborted) end()
  parts.metrics.streams.inc()

  const texts = source(over.signal)
  let next: Promise<IteratorResult<string>> | undefined
  let stalled: NodeJS.Timeout | undefined
  let isDone = false

  function finish(): void {
    if (isDone) return
    isDone = true
    clearTimeout(stalled)
    unwatch()
    parts.closing.removeEventListener('abort', end)
    call.signal.removeEventListener('abort', end)
    parts.metrics.streams.dec()
    end()
  }

  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(HEAD)),
    async pull(controller) {
      clearTimeout(stalled)
      try {
        next ??= texts.next()
        const taken = await within(next, HEARTBEAT_MS)
        // The client has disconnected in the meantime: there is nothing to close.
        if (isDone) return
        if (taken === undefined) controller.enqueue(encoder.encode(HEARTBEAT))
        else if (taken.done) {
          finish()
          controller.close()
          return
        } else {
          next = undefined
          controller.enqueue(encoder.encode(taken.value))
        }
      } catch (error) {
        // The client comes back with its last id, and by then the store may answer again.
        parts.log.warn({ err: error }, 'a stream of events ended before its time')
        finish()
        controller.close()
        return
      }
      stalled = setTimeout(() => {
        finish()
        call.cut()
      }, parts.limits.streamStallMs)
    },
    async cancel() {
      finish()
      await texts.return(undefined)
    },
  })
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies that gather answers would make live late.
    'x-accel-buffering': 'no',
    // The connection is not used again, so that it does not keep a closing server waiting.
    connection: 'close',
  }
  return new Response(body, { headers })
}

const encoder = new TextEncoder()

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
