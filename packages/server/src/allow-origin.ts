/** CORS headers for the allowed origin; none for others, which browsers treat as a refusal. */
export function allowOrigin(
  request: Request,
  allowed: string | undefined,
): { readonly headers: Record<string, string>; readonly answer?: Response } | undefined {
  if (allowed === undefined || request.headers.get('origin') !== allowed) return undefined
  const headers = {
    'access-control-allow-origin': allowed,
    'access-control-expose-headers': 'etag, retry-after',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  }
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method'))
    return { headers }
  const answer = new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, content-encoding, clew-workspace, last-event-id',
      'access-control-max-age': '600',
    },
  })
  return { headers, answer }
}
