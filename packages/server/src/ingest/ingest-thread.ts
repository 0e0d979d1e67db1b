import type { Worker } from 'node:worker_threads'
import { ClewError } from '@clew/ledger'
import type { Metrics } from '../metrics.ts'
import { receiveBody } from '../receive-body.ts'
import type { Call } from '../route.ts'
import type { FromThread, SentError, ToThread } from './thread-messages.ts'

/** Answers ingest calls in another thread, so that decoding, mapping, redaction and commit do not block the event loop. */
export interface IngestThread {
  answer(call: Call, routeId: string, isStream: boolean): Promise<Response>
  close(): Promise<void>
}

export interface IngestThreadOptions {
  /** Starts the thread, with a program that calls `serveIngest`. */
  readonly start: () => Worker
  /** Whole bodies in hand at most; streams of lines are read in batches and do not count. */
  readonly maxBodies: number
  readonly metrics: Pick<Metrics, 'appended' | 'errors'>
}

/** Size of the parts in which a body is sent to the thread; a body has at least one part. */
const PART_BYTES = 1024 * 1024

interface Job {
  readonly call: Call
  readonly chunks: AsyncGenerator<Uint8Array, undefined>
  readonly isStream: boolean
  readonly settle: (response: Response) => void
  readonly fail: (error: unknown) => void
  /** Why the body could not be read; takes the place of what the thread reports then. */
  error?: unknown
}

/** The thread is started by the first call, and again after it ended by an error such as too little memory. */
export function createIngestThread({ start, maxBodies, metrics }: IngestThreadOptions): IngestThread {
  const jobs = new Map<number, Job>()
  let thread: Worker | undefined
  let nextId = 0
  let bodies = 0

  function open(): Worker {
    if (thread) return thread
    const opened = start()
    thread = opened
    opened.unref()
    opened.on('message', (message: FromThread) => receive(opened, message))
    // `exit` follows, and ends the jobs.
    opened.on('error', () => {})
    opened.once('exit', () => {
      if (thread === opened) thread = undefined
      for (const job of jobs.values()) job.fail(threadEnded())
      jobs.clear()
    })
    return opened
  }

  function receive(from: Worker, message: FromThread): void {
    const job = jobs.get(message.id)
    if (!job) return
    if (message.type === 'pull') void pull(from, message.id, job)
    else if (message.type === 'cut') job.call.cut()
    else {
      jobs.delete(message.id)
      if (message.type === 'failed') return job.fail(job.error ?? toError(message.error))
      const { status, headers, body, appended, errors } = message
      metrics.appended.inc(appended)
      for (const code of errors) metrics.errors.inc({ code })
      job.settle(
        new Response(body as Uint8Array<ArrayBuffer>, { status, headers: headers.map(([k, v]) => [k, v]) }),
      )
    }
  }

  async function pull(to: Worker, id: number, job: Job): Promise<void> {
    const parts: Uint8Array[] = []
    let size = 0
    let isLast = false
    try {
      // Lines are passed on as they arrive. Of a whole body much is sent at a time: each message waits for its turn.
      do {
        const { done, value } = await job.chunks.next()
        isLast = done === true
        if (value) parts.push(value)
        size += value?.byteLength ?? 0
      } while (!isLast && !job.isStream && size < PART_BYTES)
      // A copy: a chunk may be a part of a buffer that is used further.
      const bytes = new Uint8Array(Buffer.concat(parts, size))
      send(to, { type: 'chunk', id, bytes, isLast }, [bytes.buffer])
    } catch (error) {
      end(id, error)
    }
  }

  function end(id: number, error: unknown): void {
    const job = jobs.get(id)
    if (!job || !thread || job.error !== undefined) return
    job.error = error
    send(thread, { type: 'abort', id, error: toSent(error) })
  }

  return {
    async answer(call, routeId, isStream) {
      if (!isStream && bodies >= maxBodies) throw tooManyBodies(bodies)
      if (!isStream) bodies++
      const { request, params, principal, signal } = call
      const id = nextId++
      const abort = (): void => end(id, signal.reason)
      signal.addEventListener('abort', abort)
      try {
        return await new Promise<Response>((settle, fail) => {
          jobs.set(id, { call, chunks: receiveBody(request.body, signal), isStream, settle, fail })
          const headers = [...request.headers]
          send(open(), { type: 'call', id, routeId, url: request.url, headers, params, principal })
        })
      } finally {
        signal.removeEventListener('abort', abort)
        if (!isStream) bodies--
      }
    },
    async close() {
      await thread?.terminate()
    },
  }
}

const send = (to: Worker, message: ToThread, transfer: readonly ArrayBuffer[] = []): void =>
  to.postMessage(message, transfer)

export const toSent = (error: unknown): SentError => (error instanceof ClewError ? error.toJSON() : null)

export function toError(sent: SentError): Error {
  if (sent === null) return new Error('the ingest thread failed; its log entry has the error')
  const { code, message, hint, fields } = sent
  // `message` of a ClewError ends with its hint.
  return new ClewError(code, message.slice(0, -`. ${hint}`.length), hint, fields)
}

const tooManyBodies = (bodies: number): ClewError =>
  new ClewError(
    'rate_limited',
    `${bodies} large bodies are being read`,
    'Send it again a little later. Nothing was written.',
    { retryAfter: 2 },
  )

const threadEnded = (): ClewError =>
  new ClewError(
    'overloaded',
    'The thread that read the body ended',
    'Send all of it again: what was committed is stored once. Smaller bodies take less memory.',
    {},
  )
