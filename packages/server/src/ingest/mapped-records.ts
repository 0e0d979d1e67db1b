import { ClewError } from '@clew/ledger'
import type { Call } from '../route.ts'
import { readLines } from './read-lines.ts'

const NDJSON = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|json-lines)\b/

export const mediaType = (call: Call): string =>
  (call.request.headers.get('content-type') ?? '').trim().toLowerCase()

export const isLines = (type: string): boolean => NDJSON.test(type)

/** The records of another framework's stream: one per line, one per server-sent event, or a list as one document. */
export async function* mappedRecords(call: Call): AsyncGenerator<readonly string[]> {
  const type = mediaType(call)
  if (isLines(type)) yield* readLines(call)
  else if (type.startsWith('text/event-stream')) yield* readSentEvents(call)
  else if (type.startsWith('application/json')) {
    const body = await call.json()
    yield (Array.isArray(body) ? body : [body]).map((record) => JSON.stringify(record))
  } else throw wrongMedia('application/x-ndjson, text/event-stream or application/json')
}

async function* readSentEvents(call: Call): AsyncGenerator<readonly string[]> {
  for await (const lines of readLines(call))
    yield lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length))
}

export const wrongMedia = (expected: string): ClewError =>
  new ClewError(
    'wrong_media',
    'This route does not accept the content type of the body',
    `Send ${expected}; nothing was written.`,
    {},
  )
