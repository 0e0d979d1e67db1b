import { createHash } from 'node:crypto'
import { pack } from './packed.ts'
import type { Call } from './route.ts'

/**
 * Answers with JSON: compressed where that pays, and with an ETag of its content, so that a client that has it already gets
 * 304 instead of the body.
 */
export async function jsonAnswer(
  call: Pick<Call, 'request'>,
  value: unknown,
  status = 200,
): Promise<Response> {
  const { headers: asked, method } = call.request
  const body = new TextEncoder().encode(JSON.stringify(value))
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Cached, but revalidated each time: the content changes.
    'cache-control': 'private, no-cache',
    vary: 'accept-encoding, authorization, clew-workspace',
  }
  if (method === 'GET' || method === 'HEAD') {
    const etag = `W/"${createHash('sha1').update(body).digest('base64url')}"`
    headers['etag'] = etag
    if (matches(asked.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  } else headers['cache-control'] = 'no-store'
  const packed = await pack(body, asked.get('accept-encoding'))
  return new Response(packed.bytes as Uint8Array<ArrayBuffer>, {
    status,
    headers: { ...headers, ...packed.headers },
  })
}

export function matches(known: string | null, etag: string): boolean {
  if (known === null) return false
  const bare = (tag: string): string => tag.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag))
}
