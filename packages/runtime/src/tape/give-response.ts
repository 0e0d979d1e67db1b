import type { ResponseHead } from './response-head.ts'

/** The end of a body through which the tape speaks to the code. */
export interface BodySink {
  readonly stream: ReadableStream<Uint8Array>
  /** The code gave the body up. */
  readonly isCancelled: boolean
  onCancel: () => void
  push(bytes: Uint8Array): void
  close(): void
  fail(error: unknown): void
}

export function createSink(): BodySink {
  let controller: ReadableByteStreamController | undefined
  let isCancelled = false
  let isOver = false
  const stream = new ReadableStream({
    type: 'bytes',
    start(made: ReadableByteStreamController) {
      controller = made
    },
    cancel() {
      isCancelled = true
      isOver = true
      sink.onCancel()
    },
  })
  const sink: BodySink = {
    stream,
    get isCancelled() {
      return isCancelled
    },
    onCancel: () => {},
    push(bytes) {
      // A stream of bytes takes no empty piece, and takes away the memory of those it is given.
      if (!isOver && bytes.byteLength > 0) controller?.enqueue(bytes.slice())
    },
    close() {
      if (isOver) return
      isOver = true
      controller?.close()
      controller?.byobRequest?.respond(0)
    },
    fail(error) {
      if (isOver) return
      isOver = true
      controller?.error(error)
    },
  }
  return sink
}

/** A response as `fetch` gives it, made from what is recorded: the same live as on resume. */
export function giveResponse(
  head: ResponseHead,
  requestUrl: string,
  body: ReadableStream<Uint8Array> | null,
): Response {
  const { status, statusText = '', headers, url } = head
  const response = new Response(body as ReadableStream<Uint8Array<ArrayBuffer>> | null, {
    status,
    statusText,
    headers,
  })
  return withAddress(response, url ?? requestUrl, url !== undefined)
}

/** Responses that are made know neither where they came from nor that they came from there. */
function withAddress(response: Response, url: string, redirected: boolean): Response {
  const clone = (): Response => withAddress(Response.prototype.clone.call(response), url, redirected)
  const facts = { url, redirected, type: 'basic', clone }
  for (const [name, value] of Object.entries(facts))
    Object.defineProperty(response, name, { value, configurable: true })
  return response
}
