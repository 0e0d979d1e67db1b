import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { chatMessage, transcriptView } from './view-schemas.ts'

export const transcript = answering({
  name: 'transcript',
  summary: 'Read a run as a conversation',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/transcript' },
  input: z.object({
    runId,
    format: z
      .enum(['text', 'markdown', 'chat'])
      .optional()
      .describe('text, markdown, or chat: messages that can be sent to a model again'),
  }),
  output: z.union([
    transcriptView,
    z.object({ format: z.enum(['text', 'markdown']), text: z.string() }),
    z.object({ format: z.literal('chat'), messages: z.array(chatMessage) }),
  ]),
  example: { command: 'clew transcript demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { format: '--format <format>' },
  },
  async run(ledger, { runId: id, format }) {
    if (format === undefined) return ledger.transcript(id)
    if (format === 'chat') return { format, messages: await ledger.transcript(id, { format }) }
    return { format, text: await ledger.transcript(id, { format }) }
  },
})
