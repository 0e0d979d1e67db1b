import { z } from 'zod'
import { streaming } from './operation.ts'
import { runId } from './schemas.ts'

export const exportEvents = streaming({
  name: 'export',
  summary: 'Write a run with all it stands on, or the whole workspace, as NDJSON',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({
    runId: runId
      .optional()
      .describe('only this run, with its child runs, what it was forked from and what its state continues'),
    redacted: z
      .boolean()
      .optional()
      .describe('take secrets and personal data out, as for a fixture; what that changes is hashed anew'),
  }),
  output: z.string().describe('one line of NDJSON'),
  example: {
    command: 'clew export --run demo-3f9a1c --redacted -o fixtures/demo.ndjson',
    input: { runId: 'demo-3f9a1c', redacted: true },
  },
  cli: {
    group: 'Move',
    options: { runId: '--run <id>', redacted: '--redacted' },
    flags: {
      '-o, --output <file>': 'write to this file instead of the standard output',
      '--force': 'replace the file if it is there',
    },
  },
  run: (ledger, input, { onProgress } = {}) => ledger.export({ ...input, onProgress }),
})
