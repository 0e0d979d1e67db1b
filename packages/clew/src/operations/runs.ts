import { RUN_STATUSES } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runSummary } from './schemas.ts'
import { parseScoreConditions, scoreCondition } from './score.ts'
import { parseSince } from './since.ts'
import { parseTags, tagText } from './tag.ts'

export const runs = answering({
  name: 'runs',
  summary: 'List runs, newest first',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs' },
  mcp: { tool: 'list_runs' },
  input: z.object({
    q: z
      .string()
      .max(4000)
      .optional()
      .describe('a query such as customer:acme duration:>30s error:"rate limit" sort:-tokens'),
    status: z.enum(RUN_STATUSES).optional().describe('only runs with this status'),
    agent: z.string().optional().describe('only runs of this agent'),
    threadId: z.string().optional().describe('only runs of this thread'),
    since: z
      .string()
      .optional()
      .describe('only runs that began since: 15m, 1h, 7d ago, or an ISO date or time'),
    tags: z
      .array(tagText)
      .optional()
      .describe('only runs with all of these tags, as name=value, separated by commas'),
    scores: z
      .array(scoreCondition)
      .optional()
      .describe('only runs whose scores fit all of these, such as accuracy>=0.5, separated by commas'),
    limit: z.int().min(1).max(1000).default(20).describe('page size, 1 to 1000'),
    cursor: z.string().optional().describe('cursor that the previous page returned'),
  }),
  output: z.object({ runs: z.array(runSummary), nextCursor: z.string().nullable() }),
  example: {
    command: 'clew runs status:failed since:1d sort:-tokens',
    input: { q: 'status:failed since:1d sort:-tokens' },
  },
  cli: {
    group: 'Look',
    arguments: [
      {
        word: 'filter',
        field: 'q',
        required: false,
        many: true,
        about: "fields of runs: status:failed customer:acme 'duration:>30s' sort:-tokens",
      },
    ],
    options: {
      status: '--status <status>',
      agent: '--agent <name>',
      threadId: '--thread <id>',
      since: '--since <time>',
      tags: '--tag <tags>',
      scores: '--score <conditions>',
      limit: '--limit <count>',
      cursor: '--cursor <cursor>',
    },
    flags: { '-o, --output <form>': 'ids: only the ids of runs, one per line' },
  },
  run: (ledger, { since, tags, scores, ...filter }) =>
    ledger.listRuns({
      ...filter,
      since: since === undefined ? undefined : parseSince(since, Date.now()),
      tags: tags && parseTags(tags),
      scores: scores && parseScoreConditions(scores),
    }),
})
