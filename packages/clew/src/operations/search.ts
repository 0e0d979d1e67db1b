import { SEARCH_FIELDS, type SearchResult } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runSummary } from './schemas.ts'

const highlight = z.object({
  field: z.enum(SEARCH_FIELDS),
  text: z.string(),
  /** Start and end of each word that was found, in characters of `text`. */
  marks: z.array(z.tuple([z.int(), z.int()]).readonly()).readonly(),
})

const event = z.object({
  seq: z.int().min(1),
  eventId: z.string(),
  eventType: z.string(),
  timestamp: z.string(),
  highlight: highlight.nullable(),
})

const hit = z.object({
  run: runSummary,
  score: z.number(),
  found: z.int().min(0),
  events: z.array(event).readonly(),
})

export const search = answering({
  name: 'search',
  summary: 'Search runs by messages, calls, results and errors',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/search' },
  mcp: { tool: 'search' },
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(4000)
      .describe('words, "exact words", begin*, -not, status:failed, tool:search …'),
    limit: z.int().min(1).max(1000).default(20).describe('page size in runs, 1 to 1000'),
    cursor: z.string().optional().describe('cursor that the previous page returned'),
    waitMs: z
      .int()
      .min(0)
      .max(60_000)
      .default(2000)
      .describe('how long to wait for the index to take what is new, in milliseconds'),
  }),
  output: z.object({
    hits: z.array(hit).readonly(),
    nextCursor: z.string().nullable(),
    lag: z.int().min(0),
  }) satisfies z.ZodType<SearchResult>,
  example: {
    command: 'clew search status:failed tool:web_search timeout',
    input: { query: 'status:failed tool:web_search timeout' },
  },
  cli: {
    group: 'Look',
    arguments: [
      {
        word: 'query',
        field: 'query',
        required: true,
        many: true,
        about: 'what to look for; quote it for the shell',
      },
    ],
    options: { limit: '--limit <count>', cursor: '--cursor <cursor>', waitMs: '--wait <ms>' },
    flags: { '-o, --output <form>': 'ids: only the ids of runs, one per line' },
  },
  run: (ledger, { query, waitMs, ...options }) => ledger.search(query, { ...options, catchUpMs: waitMs }),
})
