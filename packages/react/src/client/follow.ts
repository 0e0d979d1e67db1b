import { type ClewEvent, fromWire, type ProgressNote, type WireEvent } from '@clew/ledger'
import type { Client, Query } from './client.ts'
import { readSse } from './read-sse.ts'

export interface FollowRequest {
  /** `/v1/follow`, or that of one run. */
  readonly path: string
  readonly query?: Query | undefined
  /** The id of the last line that is known: seq for a run, position for the ledger; null: from the next one on. */
  readonly after: number | null
  /** How a line is counted: by seq in a run, by position in the ledger. */
  readonly by: 'seq' | 'position'
  onEvents(events: readonly ClewEvent[]): void
  /** Receives the text so far of running steps, which is not stored; for runs only. */
  onProgress?: ((notes: readonly Omit<ProgressNote, 'runId'>[]) => void) | undefined
  onState?: ((state: LinkState) => void) | undefined
}

export type LinkState = 'connecting' | 'live' | 'broken'

const RETRY_MS = { least: 250, most: 5000 }
/** Events are passed on in batches of this duration: rendering costs more than waiting. */
const GATHER_MS = 50

/** Follows without a gap or a repeat, through dead connections and servers that come back; gives back how to end it. */
export function follow(client: Client, request: FollowRequest): () => void {
  const ended = new AbortController()
  let after = request.after
  let gathered: ClewEvent[] = []
  let notes: Omit<ProgressNote, 'runId'>[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    timer = undefined
    const events = gathered
    const told = notes
    gathered = []
    notes = []
    if (ended.signal.aborted) return
    if (events.length > 0) request.onEvents(events)
    if (told.length > 0) request.onProgress?.(told)
  }

  function take(data: string): void {
    const event = fromWire(JSON.parse(data) as WireEvent)
    const at = event.ledger[request.by]
    // A restarted server may send events again.
    if (after !== null && at <= after) return
    after = at
    gathered.push(event)
    timer ??= setTimeout(flush, GATHER_MS)
  }

  async function listen(signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (after !== null) headers['last-event-id'] = String(after)
    const query = { ...request.query, ...(request.onProgress && { progress: true }) }
    const response = await client.open(request.path, query, headers, signal)
    if (!response.body) throw new Error('The server answered without a stream')
    request.onState?.('live')
    for await (const { event, id, data } of readSse(response.body)) {
      if (data !== null && event === 'progress') {
        notes.push(JSON.parse(data) as Omit<ProgressNote, 'runId'>)
        timer ??= setTimeout(flush, GATHER_MS)
      } else if (data !== null) take(data)
      else if (id !== null && Number(id) > (after ?? -1)) after = Number(id)
    }
  }

  async function keepListening(): Promise<void> {
    for (let waitMs = RETRY_MS.least; !ended.signal.aborted; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
      const begunMs = performance.now()
      try {
        await listen(ended.signal)
      } catch (error) {
        if (ended.signal.aborted) return
        if (isFinal(error)) return request.onState?.('broken')
      }
      if (ended.signal.aborted) return
      request.onState?.('broken')
      if (performance.now() - begunMs > RETRY_MS.most) waitMs = RETRY_MS.least
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  request.onState?.('connecting')
  void keepListening()
  return () => {
    ended.abort()
    clearTimeout(timer)
  }
}

/** Errors that a retry cannot mend: the client may not read, or the run does not exist. */
function isFinal(error: unknown): boolean {
  const status: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined
  return status === 401 || status === 403 || status === 404
}
