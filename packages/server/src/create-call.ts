import { ClewError } from '@clew/ledger'
import type { HonoRequest } from 'hono'
import { mayEnter, type Principal } from './principal.ts'
import { readBody } from './read-body.ts'
import type { Call, Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

export function createCall(
  request: HonoRequest,
  route: Route,
  principal: Principal,
  parts: ServerParts,
  cut: () => void,
): Call {
  const params = request.param() as Record<string, string>
  const query = new URL(request.url).searchParams
  const workspace =
    params['workspaceId'] ??
    query.get('workspace') ??
    request.header('clew-workspace') ??
    principal.workspace ??
    parts.workspace
  if (!mayEnter(principal, workspace))
    throw new ClewError(
      'not_found',
      'The workspace does not exist, or this token has no access to it',
      'Name another one, or use a token of that workspace.',
      {},
    )
  query.delete('workspace')
  if (route.anyQuery !== true) assertKnown(query, route)
  async function bytes(): Promise<Uint8Array> {
    const late = setTimeout(cut, parts.limits.requestTimeoutMs)
    try {
      return await readBody(request.raw, {
        sentBytes: route.bodyBytes ?? parts.limits.bodyBytes,
        unpackedBytes: Math.max(parts.limits.unpackedBytes, route.bodyBytes ?? 0),
      })
    } finally {
      clearTimeout(late)
    }
  }
  return {
    request: request.raw,
    params,
    query,
    principal,
    workspace,
    ledger: parts.ledgerOf(workspace),
    signal: request.raw.signal,
    cut,
    bytes,
    async json() {
      const type = request.header('content-type') ?? ''
      if (!/^application\/json\s*(?:;|$)/i.test(type))
        throw new ClewError(
          'wrong_media',
          'The request has no JSON content type',
          'Send it with content-type: application/json.',
          {},
        )
      return parseJson(await bytes())
    },
  }
}

function assertKnown(query: URLSearchParams, route: Route): void {
  const known = new Set(
    (route.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name),
  )
  const seen = new Set<string>()
  for (const name of query.keys()) {
    const option = name.slice(0, 80)
    if (!known.has(name))
      throw new ClewError(
        'bad_option',
        `The query has ${JSON.stringify(option)}, which this route does not know`,
        known.size === 0 ? 'Leave it out.' : `It takes ${[...known].join(', ')}, and workspace.`,
        { option },
      )
    if (seen.has(name))
      throw new ClewError('bad_option', `The query has ${option} twice`, 'Give it once.', { option })
    seen.add(name)
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ClewError(
      'bad_payload',
      'The body cannot be read as JSON',
      'Send one JSON value, in UTF-8. Nothing was done.',
      {},
    )
  }
}
