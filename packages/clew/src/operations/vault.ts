import { z } from 'zod'
import { answering } from './operation.ts'

export const vaultRotate = answering({
  name: 'vaultRotate',
  summary: 'Encrypt the vault with a new key',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({
    keyId: z.string().describe('id of the key that encrypts all rows now'),
    rows: z.int().min(0).describe('rows that were encrypted again'),
    unreadable: z.int().min(0).describe('rows that do not decrypt; clew verify lists them'),
  }),
  example: { command: 'clew vault rotate', input: {} },
  cli: { group: 'Move', words: ['vault', 'rotate'] },
  run: (ledger, _, { onProgress } = {}) => ledger.rotateVault({ onProgress }),
})
