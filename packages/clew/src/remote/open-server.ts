import { ClewError, type Ledger } from '@clew/ledger'
import type { OpenLedgerOptions } from '../open-ledger.ts'
import { openRemote } from './remote-ledger.ts'

const RETRY_MS = 60_000
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Opens the ledger of a server, without asking it for anything yet. */
export function openServer(url: string, options: OpenLedgerOptions): Ledger {
  const { workspace, codecs, token, retryMs, ...others } = options
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (other !== undefined)
    throw new ClewError(
      'bad_option',
      `The option ${other} has no meaning for a server: it opened its store itself`,
      'Leave it out, and set it where the server runs.',
      { option: other },
    )
  const { protocol, hostname } = parseUrl(url)
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    throw new ClewError(
      'bad_url',
      `The server ${hostname} is on another machine, and http:// sends token and events in the clear`,
      'Use https://, with a proxy that has a certificate in front of the server.',
    )
  return openRemote(url, {
    workspace,
    codecs,
    token: token ?? (process.env['CLEW_TOKEN'] || undefined),
    retryMs: retryMs ?? RETRY_MS,
  })
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url)
  if (parsed) return parsed
  throw new ClewError(
    'bad_url',
    'The URL of the server cannot be read',
    'Use https://HOST or http://localhost:PORT.',
  )
}
