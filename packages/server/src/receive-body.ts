/**
 * The chunks of a body as they arrive. Throws the reason of `signal` as soon as it aborts, so that a revoked token ends an
 * upload that waits for its next chunk.
 */
export async function* receiveBody(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  if (!body) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await readOrAbort(reader, signal)
      if (done) return
      yield value
    }
  } finally {
    reader.releaseLock()
  }
}

/** A listener per chunk: racing one promise for the whole upload would keep every chunk of it in memory. */
async function readOrAbort(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): ReturnType<typeof reader.read> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([reader.read(), promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
