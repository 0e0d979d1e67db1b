import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { anthropicChat, chatMessage, transcriptView } from './view-schemas.ts'

export const transcript = answering({
  name: 'transcript',
  summary: 'Read a run as a conversation',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/transcript' },
  mcp: { tool: 'get_transcript' },
  input: z.object({
    runId,
    format: z.enum(['text', 'markdown']).optional().describe('how to lay it out'),
    as: z
      .enum(['openai', 'anthropic'])
      .optional()
      .describe('messages that can be sent to a model again, in the form of its maker'),
  }),
  output: z.union([
    transcriptView,
    z.object({ format: z.enum(['text', 'markdown']), text: z.string() }),
    z.object({ as: z.literal('openai'), messages: z.array(chatMessage) }),
    anthropicChat.extend({ as: z.literal('anthropic') }),
  ]),
  example: { command: 'clew transcript demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { format: '--format <format>', as: '--as <form>' },
  },
  async run(ledger, { runId: id, format, as }) {
    if (as === 'openai') return { as, messages: await ledger.transcript(id, { as }) }
    if (as === 'anthropic') return { as, ...(await ledger.transcript(id, { as })) }
    if (format === undefined) return ledger.transcript(id)
    return { format, text: await ledger.transcript(id, { format }) }
  },
})
