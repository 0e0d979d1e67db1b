import type { WorkspacePolicy } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { retentionPolicy } from './retention-policy.ts'

const rule = z.object({
  kind: z.string(),
  key: z.string().optional(),
  path: z.string().optional(),
  pattern: z.string().optional(),
})
const workspacePolicy = z.object({
  redact: z
    .object({
      policies: z
        .array(z.enum(['secrets', 'personal']))
        .readonly()
        .optional(),
      rules: z.array(rule).readonly().optional(),
    })
    .optional(),
  auditReads: z.boolean().optional(),
  retention: retentionPolicy.optional(),
  agentMemory: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('namespaces of memory in which agents may write over MCP'),
})

export const policy = answering({
  name: 'policy',
  summary: 'Show or replace the workspace policy: redaction, audit of reads, retention',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/policy' },
  input: z.object({
    set: workspacePolicy
      .extend({ retention: z.record(z.string(), z.unknown()).optional() })
      .optional()
      .describe('the new policy, as a JSON object with redact, auditReads, retention and agentMemory'),
    by: z.string().min(1).max(200).optional().describe('who changes it'),
    reason: z.string().min(1).max(2000).optional().describe('why, for the compliance log'),
  }),
  output: z.object({ policy: workspacePolicy, changed: z.boolean() }),
  example: {
    command: `clew policy --set '{"redact":{"policies":["personal"]},"auditReads":true}' --by dpo`,
    input: { set: { redact: { policies: ['personal'] }, auditReads: true }, by: 'dpo' },
  },
  cli: {
    group: 'Control',
    options: { set: '--set <json>', by: '--by <who>', reason: '--reason <text>' },
  },
  async run(ledger, { set, by, reason }) {
    if (set) await ledger.setPolicy(set as WorkspacePolicy, { by, reason })
    return { policy: await ledger.policy(), changed: set !== undefined }
  },
})
