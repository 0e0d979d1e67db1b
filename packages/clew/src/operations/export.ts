import { z } from 'zod'
import { streaming } from './operation.ts'
import { runId } from './schemas.ts'

export const exportEvents = streaming({
  name: 'export',
  summary: 'Export a run with the runs it depends on, or the whole workspace, as NDJSON',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({
    runId: runId
      .optional()
      .describe('only this run, with the runs it depends on: child runs, sources of forks, earlier turns'),
    redacted: z
      .boolean()
      .optional()
      .describe('remove secrets and personal data, as for a fixture; changed events get new hashes'),
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
      '--force': 'replace the file if it exists',
    },
  },
  run: (ledger, input, { onProgress } = {}) => ledger.export({ ...input, onProgress }),
})
