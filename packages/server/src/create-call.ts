import { ClewError } from '@clew/ledger'
import { mayEnter, type Principal } from './principal.ts'
import { readBody } from './read-body.ts'
import type { Call, Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

/** A request and the parameters of its path. */
export interface RoutedRequest {
  readonly raw: Request
  readonly params: Readonly<Record<string, string>>
}

/** Parts of the server that a call uses. */
export type CallParts = Pick<ServerParts, 'ledgerOf' | 'workspace' | 'limits' | 'turns'>

/** `signal` aborts when the caller may no longer call or has gone; `cut` destroys its connection. */
export function createCall(
  { raw, params }: RoutedRequest,
  route: Route,
  principal: Principal,
  parts: CallParts,
  signal: AbortSignal,
  cut: () => void,
): Call {
  const { limits } = parts
  const query = new URL(raw.url).searchParams
  const workspace =
    params['workspaceId'] ??
    query.get('workspace') ??
    raw.headers.get('clew-workspace') ??
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
  const mostBytes = route.isIngest === true ? Number.POSITIVE_INFINITY : limits.jsonBytes
  async function bytes(): Promise<Uint8Array> {
    const late = setTimeout(cut, limits.requestTimeoutMs)
    try {
      const sentBytes = Math.min(limits.bodyBytes, mostBytes)
      const unpackedBytes = Math.min(limits.unpackedBytes, mostBytes)
      const body = await readBody(raw, { sentBytes, unpackedBytes }, signal)
      await parts.turns(body.byteLength)
      return body
    } finally {
      clearTimeout(late)
    }
  }
  return {
    request: raw,
    params,
    query,
    principal,
    workspace,
    ledger: parts.ledgerOf(workspace),
    signal,
    turns: parts.turns,
    cut,
    bytes,
    async json() {
      const type = raw.headers.get('content-type') ?? ''
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
