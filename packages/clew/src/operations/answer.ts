import { z } from 'zod'
import { answering } from './operation.ts'
import { controlOf } from './resume.ts'
import { controlOutcome, runId } from './schemas.ts'

export const answer = answering({
  name: 'answer',
  summary: 'Answer a question of a run; whoever works on the run goes on with it',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/answer' },
  mcp: {
    tool: 'answer',
    scope: 'approve',
    effect: 'Speaks for a person: what the run asked, such as an approval, is taken as given.',
  },
  input: z.object({
    runId,
    answer: z.unknown().describe('the answer: JSON, or else text'),
    pauseId: z.string().min(1).optional().describe('which question is answered, when there are several'),
    by: z.string().min(1).max(200).optional().describe('who answers'),
  }),
  output: controlOutcome,
  example: {
    command: 'clew answer trip-12 yes --by ann',
    input: { runId: 'trip-12', answer: 'yes', by: 'ann' },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
      { word: 'answer', field: 'answer', required: true, about: 'JSON, or else text' },
    ],
    options: { pauseId: '--pause <id>', by: '--by <who>' },
  },
  run: async (ledger, { runId: id, ...request }, context = {}) =>
    (await controlOf(ledger, context)).answer(id, request),
})
