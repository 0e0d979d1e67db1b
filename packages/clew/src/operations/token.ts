import { ClewError, type Ledger } from '@clew/ledger'
import { SCOPES, stateOf, type TokenRecord } from '@clew/server/tokens'
import { z } from 'zod'
import { answering } from './operation.ts'

const listed = z.object({
  tokenId: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)).readonly(),
  workspace: z.string().nullable().describe('the only workspace it gives access to; null for all'),
  state: z.enum(['valid', 'expired', 'revoked']),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
})
export type ListedToken = z.output<typeof listed>

export const tokenCreate = answering({
  name: 'tokenCreate',
  summary: 'Create a token; it is shown only once',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({
    name: z.string().min(1).max(100).default('unnamed').describe('what it is for'),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .default(['read'])
      .describe(`what it may do, separated by commas: ${SCOPES.join(', ')}; default read`),
    allWorkspaces: z.boolean().optional().describe('for all workspaces, not only this one'),
    expires: z
      .string()
      .regex(/^[1-9]\d{0,3}[hdw]$/)
      .optional()
      .describe('time until it expires, such as 12h, 30d or 4w; default never'),
  }),
  output: z.object({ token: z.string(), record: listed }),
  example: {
    command: 'clew token create --name laptop --scope read,write --expires 30d',
    input: { name: 'laptop', scopes: ['read', 'write'], expires: '30d' },
  },
  cli: {
    group: 'Control',
    words: ['token', 'create'],
    options: {
      name: '--name <text>',
      scopes: '--scope <scopes>',
      allWorkspaces: '--all-workspaces',
      expires: '--expires <time>',
    },
  },
  async run(ledger, { name, scopes, allWorkspaces, expires }) {
    const { createToken } = await import('@clew/server/tokens')
    const { token, record } = await createToken(ledger, {
      name,
      scopes,
      workspace: allWorkspaces === true ? null : ownWorkspace(ledger),
      expiresAt: expires === undefined ? null : new Date(Date.now() + spanMs(expires)),
    })
    return { token, record: toListed(record) }
  },
})

export const tokenList = answering({
  name: 'tokenList',
  summary: 'List the tokens, including expired and revoked ones',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({ tokens: z.array(listed) }),
  example: { command: 'clew token list', input: {} },
  cli: { group: 'Control', words: ['token', 'list'] },
  async run(ledger) {
    const { listTokens } = await import('@clew/server/tokens')
    return { tokens: (await listTokens(ledger)).map(toListed) }
  },
})

export const tokenRevoke = answering({
  name: 'tokenRevoke',
  summary: 'Revoke a token and close its connections',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({ tokenId: z.string().min(1).describe('id of the token, as `clew token list` shows it') }),
  output: z.object({ record: listed }),
  example: { command: 'clew token revoke 5b0c9c1f7e2a', input: { tokenId: '5b0c9c1f7e2a' } },
  cli: {
    group: 'Control',
    words: ['token', 'revoke'],
    arguments: [{ word: 'id', field: 'tokenId', required: true, about: 'id of the token' }],
  },
  async run(ledger, { tokenId }) {
    const { revokeToken } = await import('@clew/server/tokens')
    return { record: toListed(await revokeToken(ledger, tokenId)) }
  },
})

/** The workspace of the server's own runs cannot be named. */
function ownWorkspace({ workspace }: Ledger): string {
  if (!workspace.startsWith('clew:')) return workspace
  throw new ClewError(
    'bad_option',
    `The workspace ${workspace} belongs to Clew`,
    'Name another one with --workspace. Nothing was made.',
    { option: '--workspace' },
  )
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3600e3, d: 86_400e3, w: 604_800e3 }
const spanMs = (text: string): number => Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] ?? 0)

function toListed(record: TokenRecord): ListedToken {
  const { digest: _, ...shown } = record
  return { ...shown, state: stateOf(record, Date.now()) }
}
