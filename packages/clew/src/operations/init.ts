import { z } from 'zod'
import { answering } from './operation.ts'

export const init = answering({
  name: 'init',
  summary: 'Set a project up: an example agent, the MCP entry and instructions for coding agents',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object({
    folder: z.string().min(1).default('.').describe('folder of the project'),
  }),
  output: z.object({
    files: z
      .array(z.object({ file: z.string(), what: z.enum(['written', 'extended', 'kept']), why: z.string() }))
      .readonly(),
  }),
  example: { command: 'clew init', input: {} },
  cli: {
    group: 'Begin',
    arguments: [{ word: 'folder', field: 'folder', required: false, about: 'default the current folder' }],
  },
  async run(_, { folder }) {
    return (await import('../init/init-project.ts')).initProject(folder)
  },
})
