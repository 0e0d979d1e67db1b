import { z } from 'zod'
import { answering } from './operation.ts'
import { problem, prunedRange, runId, signedHeads } from './schemas.ts'

export const verify = answering({
  name: 'verify',
  summary: 'Verify that no event was changed, removed, moved or inserted',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/verify' },
  mcp: { tool: 'verify' },
  input: z.object({
    runId: runId.optional().describe('only this run'),
    heads: signedHeads.optional().describe('heads that were signed earlier and kept elsewhere'),
    publicKey: z
      .string()
      .optional()
      .describe(
        'the key the heads must be signed with, as base64; without it the key named in the file is trusted',
      ),
    projections: z
      .boolean()
      .optional()
      .describe('also compare every stored row of runs, steps, subjects and memory with the events'),
  }),
  output: z.object({
    ok: z.boolean(),
    checked: z.int().min(0),
    problems: z.array(problem).readonly(),
    pruned: z.array(prunedRange).readonly(),
  }),
  example: { command: 'clew verify --heads heads.json', input: {} },
  cli: {
    group: 'Prove',
    arguments: [{ word: 'run', field: 'runId', required: false, about: 'only this run; default all' }],
    options: { projections: '--projections', publicKey: '--public-key <key>' },
    flags: {
      '--heads <file>': 'compare with heads signed earlier',
      '--sign-heads <file>': 'if no problem is found, sign the head of every run and write it to this file',
      '--key <file>': 'Ed25519 key to sign with, made on first use; default beside the ledger',
    },
  },
  async run(ledger, { runId, heads, publicKey, projections }, { onProgress } = {}) {
    return ledger.verify(runId, { heads, publicKey, projections, onProgress })
  },
})
