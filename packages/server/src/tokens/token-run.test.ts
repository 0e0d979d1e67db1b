import type { ClewEvent } from '@clew/ledger'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldToken, stateOf, type TokenRecord } from './token-run.ts'

const event = (eventType: string, payload: Record<string, unknown>, seq = 1): ClewEvent =>
  ({
    eventId: `e-${seq}`,
    eventType,
    correlationId: 'clew:tokens',
    payload,
    ledger: { seq, recordedAt: new Date(seq).toISOString() },
  }) as unknown as ClewEvent

const made = (tokenId: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  tokenId,
  name: 'x',
  digest: `digest of ${tokenId}`,
  scopes: ['read'],
  ...more,
})

it('A2 whatever else the token run holds, a token that was revoked stays so, and its digest is never taken over', () => {
  const ids = fc.constantFrom('a', 'b', 'c')
  const step = fc.record({ id: ids, revoke: fc.boolean(), digest: fc.string() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const tokens = new Map<string, TokenRecord>()
      const first = new Map<string, string>()
      const revoked = new Set<string>()
      for (const [at, { id, revoke, digest }] of steps.entries()) {
        if (revoke && first.has(id)) revoked.add(id)
        if (!revoke && !first.has(id)) first.set(id, digest)
        const type = revoke ? 'system.token_revoked' : 'system.token_created'
        foldToken(tokens, event(type, revoke ? { tokenId: id } : made(id, { digest }), at + 1))
      }
      for (const token of tokens.values()) {
        expect(token.digest).toBe(first.get(token.tokenId))
        expect(stateOf(token, 0) === 'revoked').toBe(revoked.has(token.tokenId))
      }
    }),
    { numRuns: 200 },
  )
})

it('A2 what cannot be read as a token lets nobody in', () => {
  const tokens = new Map<string, TokenRecord>()
  for (const payload of [
    {},
    made('a', { digest: 1 }),
    made('b', { name: null }),
    made('c', { scopes: 'admin' }),
  ])
    foldToken(tokens, event('system.token_created', payload))
  foldToken(tokens, { ...event('system.token_created', made('d')), correlationId: 'a-run' })
  expect(tokens.size).toBe(0)
  foldToken(tokens, event('system.token_created', made('e', { scopes: ['read', 'everything'] })))
  expect(tokens.get('e')?.scopes).toEqual(['read'])
})

it('A2 a time that has passed, or that cannot be read, ends a token', () => {
  const token = (expiresAt: string | null): TokenRecord => ({
    tokenId: 'a',
    name: 'x',
    digest: '',
    scopes: [],
    workspace: null,
    createdAt: '',
    expiresAt,
    revokedAt: null,
  })
  expect(stateOf(token(null), 5)).toBe('valid')
  expect(stateOf(token(new Date(6).toISOString()), 5)).toBe('valid')
  expect(stateOf(token(new Date(5).toISOString()), 5)).toBe('expired')
  expect(stateOf(token('soon'), 5)).toBe('expired')
})
