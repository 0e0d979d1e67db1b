export interface SseMessage {
  /** Event name of the message; null for the default one. */
  readonly event: string | null
  /** Id of the message, from which the stream can be resumed; null if it has none. */
  readonly id: string | null
  /** Null: the message only says where the stream stands. */
  readonly data: string | null
}

/** Server-sent events out of a body, whatever the pieces it arrives in. */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseMessage> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  let event: string | null = null
  let id: string | null = null
  let data: string[] = []
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      // A carriage return at the end may be one half of a line end.
      const text = rest + piece.value
      const held = text.endsWith('\r') ? 1 : 0
      const lines = text.slice(0, text.length - held).split(/\r\n|\n|\r/)
      rest = (lines.pop() ?? '') + text.slice(text.length - held)
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0 || id !== null)
            yield { event, id, data: data.length > 0 ? data.join('\n') : null }
          event = null
          id = null
          data = []
        } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
        else if (line.startsWith('id:')) id = line.slice(3).trim()
        else if (line.startsWith('event:')) event = line.slice(6).trim()
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
