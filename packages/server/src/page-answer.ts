import { jsonAnswer } from './json-answer.ts'
import type { Call } from './route.ts'
import type { RestPlace, ServedContext, ServedOperation } from './served-operation.ts'

const USUAL = 100
export const MAX_ITEMS = 1000
/** A page ends with the item that makes it larger than this. */
const PAGE_CHARS = 4 * 1024 * 1024

type Streaming = Extract<ServedOperation, { kind: 'stream' }>

/** A stream in pages; or, for who takes `application/x-ndjson`, as one line per item until its end. */
export async function pageAnswer(
  call: Call,
  operation: Streaming,
  rest: RestPlace,
  input: Readonly<Record<string, unknown>>,
  context: ServedContext,
): Promise<Response> {
  const { page } = rest
  if (!page || call.request.headers.get('accept')?.includes('application/x-ndjson') === true)
    return lines(operation.run(call.ledger, input, context))
  const limit = Math.min(Number(input['limit'] ?? USUAL), MAX_ITEMS)
  const items: unknown[] = []
  let chars = 0
  let nextCursor: number | null = null
  // One more is read than is returned, to know whether there are more.
  for await (const item of operation.run(call.ledger, { ...input, limit: limit + 1 }, context)) {
    if (items.length === limit || chars > PAGE_CHARS) {
      nextCursor = page.at(items.at(-1))
      break
    }
    items.push(item)
    chars += JSON.stringify(item).length
  }
  return jsonAnswer(call, {
    [page.items]: items,
    nextCursor: nextCursor === null ? null : String(nextCursor),
  })
}

function lines(items: AsyncIterable<unknown>): Response {
  async function* texts(): AsyncGenerator<Uint8Array> {
    for await (const item of items)
      yield encoder.encode(`${typeof item === 'string' ? item : JSON.stringify(item)}\n`)
  }
  return new Response(ReadableStream.from(texts()), {
    headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' },
  })
}

const encoder = new TextEncoder()
