import { createHmac, timingSafeEqual } from 'node:crypto'
import { ClewError } from '@clew/ledger'

/** Target of a view token: one run, or one stream with its sessions. */
export type ViewTarget =
  | { readonly runId: string; readonly streamId?: undefined }
  | { readonly streamId: string; readonly runId?: undefined }

export interface ViewClaims {
  readonly workspace: string
  readonly target: ViewTarget
  readonly expiresAtMs: number
  /** Id of the token it was made with, which must still be valid; `local` for the application that mounts the server. */
  readonly issuer: string
}

export interface ViewToken {
  readonly token: string
  readonly expiresAt: string
}

export const DEFAULT_VIEW_SECONDS = 600
export const MAX_VIEW_SECONDS = 3600
const PREFIX = 'clewview_'
/** Longer ids would not fit into a header together with their signature. */
const MAX_ID_CHARS = 512

/** Signs claims. Nothing is stored: a view token ends by time, or with the token that it was made with. */
export function signViewToken(key: string, claims: ViewClaims): ViewToken {
  const id = claims.target.runId ?? claims.target.streamId ?? ''
  if (id === '' || id.length > MAX_ID_CHARS)
    throw new ClewError(
      'bad_option',
      'A view token names no run or stream, or one with a longer id than 512 characters',
      'Name a runId or a streamId.',
      {},
    )
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return {
    token: `${PREFIX}${body}.${signatureOf(key, body)}`,
    expiresAt: new Date(claims.expiresAtMs).toISOString(),
  }
}

/** The claims of a view token with a valid signature; undefined for any other text. */
export function readViewToken(key: string, token: string): ViewClaims | undefined {
  if (!token.startsWith(PREFIX)) return undefined
  const [body = '', signature = ''] = token.slice(PREFIX.length).split('.')
  const [expected, found] = [Buffer.from(signatureOf(key, body)), Buffer.from(signature)]
  if (expected.length !== found.length || !timingSafeEqual(expected, found)) return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as ViewClaims
}

const signatureOf = (key: string, body: string): string =>
  createHmac('sha256', key).update(`clew view token\n${body}`).digest('base64url')
