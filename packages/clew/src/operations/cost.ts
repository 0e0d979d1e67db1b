import { COST_GROUPS, type CostReport } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { parseSince } from './since.ts'

const count = z.int().min(0)

const group = z.object({
  key: z.string().nullable(),
  modelCalls: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  amount: z.number().nullable(),
  unpricedCalls: count,
  complete: z.boolean(),
})

const report = z.object({
  by: z.enum(COST_GROUPS),
  groups: z.array(group).readonly(),
  total: group,
  unpriced: z
    .array(
      z.object({
        model: z.string().nullable(),
        provider: z.string().nullable(),
        modelCalls: count,
        inputTokens: count,
        outputTokens: count,
      }),
    )
    .readonly(),
  otherCurrencies: z
    .array(z.object({ currency: z.string(), amount: z.number(), modelCalls: count }))
    .readonly(),
  erasedEvents: count,
}) satisfies z.ZodType<CostReport>

export const cost = answering({
  name: 'cost',
  summary: 'Add up tokens and money by model, run, agent, thread or day',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/cost', also: '/v1/cost' },
  mcp: { tool: 'cost' },
  input: z.object({
    runId: runId.optional().describe('only this run'),
    by: z
      .enum(COST_GROUPS)
      .default('model')
      .describe(`what to add up by: ${COST_GROUPS.join(', ')}`),
    agent: z.string().optional().describe('only runs of this agent'),
    threadId: z.string().optional().describe('only runs of this thread'),
    since: z.string().optional().describe('only calls made since: 15m, 1h, 7d ago, or an ISO date or time'),
  }),
  output: report,
  example: { command: 'clew cost --by day --since 7d', input: { by: 'day', since: '7d' } },
  cli: {
    group: 'Look',
    arguments: [{ word: 'run', field: 'runId', required: false, about: 'only this run; default all' }],
    options: {
      by: '--by <group>',
      agent: '--agent <name>',
      threadId: '--thread <id>',
      since: '--since <time>',
    },
  },
  run: (ledger, { since, ...filter }) =>
    ledger.cost({ ...filter, since: since === undefined ? undefined : parseSince(since, Date.now()) }),
})
