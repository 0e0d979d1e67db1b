import { ClewError } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'

export const importEvents = answering({
  name: 'import',
  summary: 'Take in NDJSON that `clew export` or another program wrote',
  scope: 'write',
  surfaces: ['cli'],
  input: z.object({
    rehash: z.boolean().optional().describe('store as new facts, redacted and hashed anew'),
  }),
  output: z.object({ events: z.int().min(0), runs: z.int().min(0) }),
  example: { command: 'clew import run.ndjson', input: {} },
  cli: {
    group: 'Move',
    arguments: [{ word: 'file', required: true, about: 'the file, or - for the standard input' }],
    options: { rehash: '--rehash' },
  },
  async run(ledger, { rehash }, { body, onProgress } = {}) {
    if (!body)
      throw new ClewError('bad_option', 'There is nothing to import', 'Hand in the lines of an export.', {
        option: 'body',
      })
    return ledger.import(body, { rehash, onProgress })
  },
})
