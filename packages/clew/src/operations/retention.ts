import { z } from 'zod'
import { goesAndStays } from './gc.ts'
import { answering } from './operation.ts'
import { listedHold } from './hold.ts'
import { retentionPolicy } from './retention-policy.ts'

const count = z.int().min(0)

const outlook = goesAndStays.extend({ moreRanges: count, moreKept: count })

const rate = z.object({
  days: z.number(),
  eventsPerDay: z.number(),
  runsPerDay: z.number(),
  bytesPerDay: count,
})

export const retentionReport = z.object({
  workspace: z.string(),
  takenAt: z.string(),
  size: z.object({
    bytes: count,
    parts: z.array(z.object({ name: z.string(), bytes: count })).readonly(),
    isShared: z.boolean(),
  }),
  runs: count,
  systemRuns: count,
  events: count,
  oldest: z.object({ runId: z.string(), recordedAt: z.string() }).nullable(),
  growth: z.object({
    days: z.array(z.object({ from: z.string(), events: count, runs: count })).readonly(),
    week: rate.nullable(),
    month: rate.nullable(),
    bytesIn30Days: count.nullable(),
    isExact: z.boolean(),
  }),
  policy: z
    .object({
      source: z.enum(['given', 'workspace', 'opened']),
      policy: retentionPolicy,
      by: z.string().nullable(),
      at: z.string().nullable(),
      problem: z.string().nullable(),
    })
    .nullable(),
  goes: outlook.nullable(),
  holds: z.array(listedHold.extend({ runs: count })).readonly(),
  lastGc: z
    .object({
      startedAt: z.string(),
      endedAt: z.string(),
      by: z.string().nullable(),
      events: count,
      runs: count,
      rules: z.array(z.string()).readonly(),
      isWhole: z.boolean(),
    })
    .nullable(),
  proposal: z
    .object({
      policy: retentionPolicy,
      adds: z.array(z.object({ name: z.string(), why: z.string() })).readonly(),
      goes: outlook.nullable(),
    })
    .nullable(),
  isWhole: z.boolean(),
})

export const retention = answering({
  name: 'retention',
  summary: 'Show size, growth, what retention would delete and keep, and a suggested policy',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/retention' },
  input: z.object({}),
  output: retentionReport,
  example: { command: 'clew retention --save retention.json', input: {} },
  cli: {
    group: 'Control',
    flags: { '--save <file>': 'write the suggested policy to a new file' },
  },
  run: (ledger) => ledger.retentionReport(),
})
