import { ClewError } from '@clew/ledger'
import type { Caller } from './principals.ts'

/** Names that only this machine has. A page that had its own name point here would come with that name. */
const OWN_HOST = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * For callers without a token: pages of other sites in a browser on this machine are refused, whether they reach us by
 * a name of theirs (rebinding) or by ours (forged requests). Programs send neither header and are let in.
 */
export function assertSameOrigin(caller: Caller, allowedOrigin: string | undefined): void {
  const host = caller.header('host') ?? ''
  if (!OWN_HOST.test(host))
    throw foreign('The host name of the request is not a name of this machine', 'host')
  const origin = caller.header('origin')
  if (origin !== undefined) {
    if (origin === allowedOrigin || origin.toLowerCase() === `http://${host.toLowerCase()}`) return
    throw foreign('A page of another origin may not call this server', 'origin')
  }
  const site = caller.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return
  // The user followed a link to here: it changes nothing, and the other page cannot read the answer.
  const isVisit =
    caller.header('sec-fetch-mode') === 'navigate' && caller.header('sec-fetch-dest') === 'document'
  if (isVisit && caller.method === 'GET') return
  throw foreign('A page of another site may not call this server', 'sec-fetch-site')
}

const foreign = (what: string, header: string): ClewError =>
  new ClewError(
    'forbidden',
    what,
    'Open the page of this server itself, allow an origin with --origin, or use a token with --tokens.',
    { header },
  )
