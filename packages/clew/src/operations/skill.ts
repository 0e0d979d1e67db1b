import { z } from 'zod'
import { answering } from './operation.ts'

export const skill = answering({
  name: 'skill',
  summary: 'Print the instructions for coding agents: how to find the cause of a failure in a ledger',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({ text: z.string() }),
  example: { command: 'clew skill', input: {} },
  cli: { group: 'Begin' },
  async run() {
    return { text: (await import('../mcp/skill-text.ts')).skillText() }
  },
})
