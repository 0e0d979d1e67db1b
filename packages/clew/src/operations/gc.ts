import type { RetentionPolicyInput } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'

const count = z.int().min(0)

/** Deleted ranges by rule, and matched runs that are kept: of a `gc` or of its plan. */
export const goesAndStays = z.object({
  events: count,
  runs: count.describe('runs that are deleted'),
  rules: z.array(z.object({ rule: z.string(), runs: count, events: count })).readonly(),
  ranges: z
    .array(
      z.object({ runId: z.string(), fromSeq: count, toSeq: count, deletes: z.boolean(), rule: z.string() }),
    )
    .readonly(),
  kept: z.array(z.object({ runId: z.string(), rule: z.string(), reason: z.string() })).readonly(),
})

export const gc = answering({
  name: 'gc',
  summary: 'Delete what the retention policy no longer keeps and no other run depends on',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/gc' },
  input: z.object({
    policy: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('the retention policy: rules, and what to keep; without one, that of the workspace'),
    dryRun: z.boolean().optional().describe('report what would be deleted and why, and change nothing'),
    by: z.string().min(1).max(200).optional().describe('name for the audit log'),
  }),
  output: goesAndStays.extend({
    policy: z
      .object({
        source: z.enum(['given', 'workspace', 'opened']),
        by: z.string().nullable(),
        at: z.string().nullable(),
      })
      .describe('where the policy comes from'),
    dryRun: z.boolean(),
    values: count.describe('shared values that no event references any more'),
    bytesBefore: count,
    bytesAfter: count,
  }),
  example: {
    command: 'clew gc --policy retention.json --dry-run',
    input: { policy: { rules: [{ olderThan: '90d' }] }, dryRun: true },
  },
  cli: {
    group: 'Control',
    options: { dryRun: '--dry-run', by: '--by <who>' },
    flags: { '--policy <file>': 'the retention policy as JSON; without one, that of the workspace' },
  },
  run: (ledger, { policy, dryRun, by }, { onProgress } = {}) =>
    ledger.gc({ policy: policy as RetentionPolicyInput | undefined, dryRun, by, onProgress }),
})
