import { ClewError, type ErrorCode } from '@clew/ledger'

type ErrorText = readonly [ErrorCode, string, string]

const GONE: ErrorText = [
  'store_unreachable',
  'cannot be reached: the connection was lost or refused',
  'Check that the server runs and that host and port are right; what was acknowledged is committed.',
]
const RESTARTING: ErrorText = [
  'store_unreachable',
  'is starting, stopping or recovering',
  'Try again in a moment; what was acknowledged is committed.',
]
const NO_LOGIN: ErrorText = [
  'store_refused',
  'does not let this user in',
  'Check user name and password in the URL, and the entries of pg_hba.conf for this address.',
]
const READ_ONLY: ErrorText = [
  'store_readonly',
  'can only be read: the server is a standby, or is set to read-only',
  'Use the URL of the primary to write, or only read here.',
]

/** Errors by SQLSTATE or by its first two characters. */
const STATES: Readonly<Record<string, ErrorText>> = {
  '08': GONE,
  '28': NO_LOGIN,
  '3D000': [
    'store_missing',
    'is not on this server: the database does not exist',
    'Create it first (CREATE DATABASE … ENCODING UTF8), or correct the name at the end of the URL.',
  ],
  '42501': [
    'store_readonly',
    'does not allow this to its user',
    'Grant the rights that docs/guide/operations.md lists, or use the URL of a user that has them.',
  ],
  '42P01': [
    'not_a_store',
    'lacks tables of a Clew ledger',
    'Check the name of the database and the search_path; open it once with the right to create tables.',
  ],
  '25006': READ_ONLY,
  '53100': [
    'store_full',
    'has no room left on its disk',
    'Free some disk space and append again; nothing of this group was written.',
  ],
  '53200': [
    'store_failed',
    'has no memory left for this',
    'Lower work_mem or the number of connections; nothing of this group was written.',
  ],
  '53300': [
    'store_unreachable',
    'has no connection left for another client',
    'Raise max_connections, lower the pool of each process, or put a pooler before it.',
  ],
  '55P03': [
    'store_locked',
    'is locked by another transaction',
    'Try again when that is done; pg_blocking_pids tells who it is.',
  ],
  '57014': [
    'store_failed',
    'gave up a statement that took longer than its statement_timeout allows',
    'Try again; raise statement_timeout for this user if it happens often. Nothing of the statement was written.',
  ],
  '57P': RESTARTING,
  '57P05': GONE,
  '58': ['store_failed', 'met a disk error', 'Look at the server’s disk and log.'],
  XX001: ['store_corrupt', 'is damaged', 'Restore it from a backup, or export what can still be read.'],
  XX002: ['store_corrupt', 'has a damaged index', 'REINDEX the index that the server’s log names.'],
}

const NETWORK: ReadonlySet<string> = new Set(
  `ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH EHOSTDOWN ENOTFOUND EAI_AGAIN ENOENT
    EADDRNOTAVAIL`.split(/\s+/),
)
/** Errors of the driver that have no code. */
const LOST =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client )/
const NO_PASSWORD = /^SASL: |client password must be a string/
const NO_TLS = /does not support SSL|certificate|self.signed/i

const codeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** SQLSTATE of an error that the server sent; empty for any other. */
export const stateOf = (error: unknown): string => {
  const code = codeOf(error instanceof ClewError ? error.cause : error)
  return /^[0-9CFHPX][0-9A-Z]{4}$/.test(code) ? code : ''
}

/** The unique index or constraint that refused a row. */
export function refusedBy(error: unknown): string | undefined {
  if (stateOf(error) !== '23505') return undefined
  return String(Reflect.get((error instanceof ClewError ? error.cause : error) as Error, 'constraint'))
}

/** Two transactions met, and this one has to be done again. */
export const isCollision = (error: unknown): boolean => ['40001', '40P01'].includes(stateOf(error))

/** The connection was lost, so it is not known whether the last statement was committed. */
export const isLost = (error: unknown): boolean =>
  error instanceof ClewError ? error.code === 'store_unreachable' : toldOf(error)?.[0] === 'store_unreachable'

function toldOf(error: unknown): ErrorText | undefined {
  const state = stateOf(error)
  if (state !== '')
    return STATES[state] ?? STATES[state.slice(0, 3)] ?? STATES[state.slice(0, 2)] ?? otherwise(state)
  if (!(error instanceof Error)) return undefined
  if (NETWORK.has(codeOf(error)) || LOST.test(error.message)) return GONE
  if (NO_PASSWORD.test(error.message)) return NO_LOGIN
  return NO_TLS.test(error.message) ? noTls : undefined
}

const noTls: ErrorText = [
  'store_unreachable',
  'cannot be reached over TLS',
  'Set sslmode in the URL as the server wants it, and name its certificate with sslrootcert.',
]
const otherwise = (state: string): ErrorText => [
  'store_failed',
  `could not be used (SQLSTATE ${state})`,
  'See the cause, and the server’s log, for details.',
]

/** One clear sentence for what went wrong with the server; other errors pass through. */
export function storeError(url: string, error: unknown): unknown {
  if (error instanceof ClewError) return error
  const told = toldOf(error)
  if (!told) return error
  const [code, what, hint] = told
  const state = stateOf(error) || codeOf(error)
  return new ClewError(
    code,
    `The ledger ${url} ${what}`,
    hint,
    { url, postgres: state },
    bare(error as Error),
  )
}

/** Without the server's details, for they may show the row that was refused (P3). */
function bare(error: Error): Error {
  const { message, stack } = error
  const constraint: unknown = Reflect.get(error, 'constraint')
  const told = Object.assign(new Error(message), { code: codeOf(error), constraint })
  if (stack !== undefined) told.stack = stack
  return told
}

/** Printable form of a URL, without password and parameters, which may contain one. */
export function shownUrl(url: string): string {
  const { protocol, username, host, pathname } = parseUrl(url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}

/** Checked before the driver sees it, whose own complaint would quote it whole. */
function parseUrl(url: string): URL {
  const parsed = /^postgres(?:ql)?:\/\//.test(url) ? URL.parse(url) : null
  if (parsed) return parsed
  throw new ClewError(
    'bad_url',
    'The store URL is not one of a PostgreSQL database',
    'Use postgres://USER:PASSWORD@HOST:PORT/DATABASE; signs like @ : / # in a password are written as %40 %3A %2F %23.',
  )
}

export function wrongEncoding(url: string, encoding: string): ClewError {
  return new ClewError(
    'not_a_store',
    `The database ${url} keeps text as ${encoding}, and a ledger needs UTF8`,
    "Create it anew with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
    { url, encoding },
  )
}

export function serverTooOld(url: string, found: string, needed: number): ClewError {
  return new ClewError(
    'not_a_store',
    `The server of ${url} is PostgreSQL ${found}, and a ledger needs ${needed} or newer`,
    'Update the server, or use another one.',
    { url, found, needed },
  )
}
