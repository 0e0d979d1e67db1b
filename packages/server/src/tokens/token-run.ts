import { systemRunId, type ClewEvent, isSystemRun } from '@clew/ledger'
import { type Scope, SCOPES } from '../principal.ts'

/** Workspace of what belongs to the server and to no workspace of its users. */
export const SERVER_WORKSPACE = 'clew:server'
export const TOKEN_RUN_ID = systemRunId('tokens')

/** A token as it is known; the token itself is shown once and kept nowhere. */
export interface TokenRecord {
  readonly tokenId: string
  readonly name: string
  /** sha256 of the token, as hex. */
  readonly digest: string
  readonly scopes: readonly Scope[]
  /** Null: all workspaces. */
  readonly workspace: string | null
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

/** Folds one event of the token run into the tokens by id. An event that is no valid token admits no request. */
export function foldToken(tokens: Map<string, TokenRecord>, event: ClewEvent): void {
  const { payload, eventType, ledger } = event
  // Checked again although the ledger checks what it takes: who is let in must not depend on a changed file.
  const { tokenId } = payload
  if (typeof tokenId !== 'string' || !isSystemRun(event.correlationId)) return
  const known = tokens.get(tokenId)
  if (eventType === 'system.token_revoked' && known)
    tokens.set(tokenId, { ...known, revokedAt: known.revokedAt ?? ledger.recordedAt })
  if (eventType !== 'system.token_created' || known) return
  const { name, digest, scopes, workspace, expiresAt } = payload
  if (typeof name !== 'string' || typeof digest !== 'string' || !Array.isArray(scopes)) return
  tokens.set(tokenId, {
    tokenId,
    name,
    digest,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    workspace: typeof workspace === 'string' ? workspace : null,
    createdAt: ledger.recordedAt,
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
    revokedAt: null,
  })
}

export type TokenState = 'valid' | 'expired' | 'revoked'

/** A time that cannot be read has passed. */
export function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): TokenState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && !(Date.parse(expiresAt) > now) ? 'expired' : 'valid'
}
