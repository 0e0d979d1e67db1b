import { z } from 'zod'
import { streaming } from './operation.ts'
import { runId } from './schemas.ts'

export const exportEvents = streaming({
  name: 'export',
  summary: 'Write a run or the whole workspace as NDJSON, hashes included',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({ runId: runId.optional().describe('only this run') }),
  output: z.string().describe('one line of NDJSON'),
  example: { command: 'clew export --run demo-3f9a1c -o run.ndjson', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Move',
    options: { runId: '--run <id>' },
    flags: {
      '-o, --output <file>': 'write to this file instead of the standard output',
      '--force': 'replace the file if it is there',
    },
  },
  run: (ledger, { runId }, { onProgress } = {}) => ledger.export({ runId, onProgress }),
})
