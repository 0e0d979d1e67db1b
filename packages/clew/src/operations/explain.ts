import type { Explanation } from '@clew/ledger'
import { z } from 'zod'
import { deltas, divergence } from './diff.ts'
import { answering } from './operation.ts'
import { runId, runSummary } from './schemas.ts'

const text = z.string()
const count = z.int().min(0)
const cause = z.object({ seq: count, eventId: text, eventType: text, label: text })

export const explain = answering({
  name: 'explain',
  summary: 'Explain a run: the failed or last step, what led there, what the last good run did',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  input: z.object({ runId }),
  output: z.object({
    run: runSummary,
    place: z
      .object({
        because: z.enum(['failed', 'paused', 'running', 'last']),
        stepId: text.nullable(),
        name: text,
        kind: text,
        attempt: z.int().min(1),
        seq: count,
        eventId: text,
        input: text.nullable(),
        output: text.nullable(),
        error: text.nullable(),
      })
      .nullable(),
    causes: z.array(cause).readonly(),
    omittedCauses: count,
    origin: cause.extend({ by: z.enum(['person', 'input', 'event']) }).nullable(),
    causesRecorded: z.boolean(),
    lastGood: z
      .object({
        runId: text,
        startedAt: text,
        same: z.boolean(),
        first: divergence.nullable(),
        deltas,
      })
      .nullable(),
  }) satisfies z.ZodType<Explanation>,
  example: { command: 'clew explain demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [{ word: 'run', field: 'runId', required: true, about: 'id of the run, or how it begins' }],
  },
  run: (ledger, input) => ledger.explain(input.runId),
})
