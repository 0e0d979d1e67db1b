import { createHash, randomBytes } from 'node:crypto'
import { ClewError, type Ledger } from '@clew/ledger'
import type { Scope } from '../principal.ts'
import { foldToken, SERVER_WORKSPACE, TOKEN_RUN_ID, type TokenRecord } from './token-run.ts'

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Null: all workspaces. */
  readonly workspace: string | null
  readonly expiresAt: Date | null
  readonly by?: string | undefined
}

export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** All tokens that ever were, in the order of their making. */
export async function listTokens(ledger: Ledger): Promise<TokenRecord[]> {
  const tokens = new Map<string, TokenRecord>()
  for await (const event of ledger.in(SERVER_WORKSPACE).read(TOKEN_RUN_ID)) foldToken(tokens, event)
  return [...tokens.values()]
}

/** Makes a token and gives it away, this once; what is kept is its sha256. */
export async function createToken(
  ledger: Ledger,
  { name, scopes, workspace, expiresAt, by }: NewToken,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const token = `clew_${randomBytes(32).toString('base64url')}`
  const tokenId = randomBytes(6).toString('hex')
  const payload = {
    tokenId,
    name,
    digest: digestOf(token),
    scopes,
    ...(workspace !== null && { workspace }),
    ...(expiresAt !== null && { expiresAt: expiresAt.toISOString() }),
    ...(by !== undefined && { by }),
  }
  await tokenLedger(ledger).record({ ...FIELDS, eventType: 'system.token_created', payload })
  return { token, record: await findToken(ledger, tokenId) }
}

/** Revokes a token: new requests are rejected, open connections closed. Idempotent; the first revocation is kept. */
export async function revokeToken(ledger: Ledger, tokenId: string, by?: string): Promise<TokenRecord> {
  const found = await findToken(ledger, tokenId)
  if (found.revokedAt !== null) return found
  const payload = { tokenId, ...(by !== undefined && { by }) }
  await tokenLedger(ledger).record({ ...FIELDS, eventType: 'system.token_revoked', payload })
  return findToken(ledger, tokenId)
}

async function findToken(ledger: Ledger, tokenId: string): Promise<TokenRecord> {
  const found = (await listTokens(ledger)).find((token) => token.tokenId === tokenId)
  if (found) return found
  throw new ClewError('not_found', `There is no token ${tokenId.slice(0, 40)}`, 'See `clew token list`.', {
    tokenId: tokenId.slice(0, 40),
  })
}

const tokenLedger = (ledger: Ledger): Ledger => ledger.in(SERVER_WORKSPACE)
const FIELDS = { correlationId: TOKEN_RUN_ID, source: { origin: 'system', runtime: 'clew' } } as const
