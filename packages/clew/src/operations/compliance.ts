import { z } from 'zod'
import { answering } from './operation.ts'
import { parseSince } from './since.ts'
import { complianceEntry } from './view-schemas.ts'

export const compliance = answering({
  name: 'compliance',
  summary: 'Show administrative actions: who changed, erased, held or exported what',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/compliance' },
  input: z.object({
    since: z
      .string()
      .optional()
      .describe('only what was recorded since: 15m, 1h, 7d ago, or an ISO date or time'),
    limit: z.int().min(1).max(1000).default(50).describe('page size, 1 to 1000'),
    cursor: z.string().optional().describe('cursor that the previous page returned'),
  }),
  output: z.object({ entries: z.array(complianceEntry), nextCursor: z.string().nullable() }),
  example: { command: 'clew compliance --since 30d', input: { since: '30d' } },
  cli: {
    group: 'Prove',
    options: { since: '--since <time>', limit: '--limit <count>', cursor: '--cursor <cursor>' },
  },
  run: (ledger, { since, ...page }) =>
    ledger.compliance({ ...page, since: since === undefined ? undefined : parseSince(since, Date.now()) }),
})
