import { z } from 'zod'
import { answering } from './operation.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = answering({
  name: 'completion',
  summary: 'Print the completion script for a shell',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({ shell: z.enum(SHELLS).describe('the shell: bash, zsh or fish') }),
  output: z.object({ shell: z.enum(SHELLS), script: z.string() }),
  example: { command: 'clew completion bash', input: { shell: 'bash' } },
  cli: {
    group: 'Begin',
    arguments: [{ word: 'shell', field: 'shell', required: true, about: 'bash, zsh or fish' }],
  },
  // Not imported above: the script describes all operations, of which this is one.
  async run(_, { shell }) {
    const { completionScript } = await import('../completion-script.ts')
    return { shell, script: completionScript(shell) }
  },
})
