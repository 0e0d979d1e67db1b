import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

export const signal = answering({
  name: 'signal',
  summary: 'Send a signal to a run, which keeps it until its code receives it',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/signals' },
  mcp: {
    tool: 'signal',
    effect:
      'Sends a signal to a run: a worker that has its agent goes on with it, with real effects: models, tools, cost.',
  },
  input: z.object({
    runId,
    name: z.string().min(1).max(200).describe('name under which the run receives it'),
    payload: z.unknown().optional().describe('what it says: JSON, or else text'),
    id: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('id of the sender: sent again with the same id it counts once'),
    by: z.string().min(1).max(200).optional().describe('who sends it'),
  }),
  output: z.object({
    runId: z.string(),
    name: z.string(),
    eventId: z.string(),
    seq: z.int().min(0).describe('place in the run: signals of one name are received in this order'),
  }),
  example: {
    command: 'clew signal trip-12 note --payload "Take the train" --id mail-7',
    input: { runId: 'trip-12', name: 'note', payload: 'Take the train', id: 'mail-7' },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
      { word: 'name', field: 'name', required: true, about: 'name of the signal' },
    ],
    options: { payload: '--payload <value>', id: '--id <id>', by: '--by <who>' },
  },
  async run(ledger, { runId: id, name, payload, ...options }) {
    const { signal: send } = await import('@clew/runtime')
    return send(ledger, id, name, payload, options)
  },
})
