import type { Ledger } from '@clew/ledger'
import { z } from 'zod'
import type { RunControl } from '../control/run-control.ts'
import { answering, type OperationContext } from './operation.ts'
import { controlOutcome, runId, wait } from './schemas.ts'

export const resume = answering({
  name: 'resume',
  summary: 'Resume a run: after a crash, or with the answer to its question',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/resume' },
  mcp: {
    tool: 'resume',
    effect:
      'Runs the code of its agent if that is served here, with real effects: models, tools, cost. Questions are answered with the tool answer.',
  },
  input: z.object({
    runId,
    answer: z.unknown().optional().describe('the answer to its question: JSON, or else text'),
    pauseId: z.string().min(1).optional().describe('which question is answered, when there are several'),
    answers: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('several answers at once, by the id of the pause'),
    by: z.string().min(1).max(200).optional().describe('who answers'),
    wait,
  }),
  output: controlOutcome,
  example: {
    command: 'clew resume trip-12 --answer yes --by ann --agent ./agents.ts',
    input: { runId: 'trip-12', answer: 'yes', by: 'ann' },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { answer: '--answer <value>', pauseId: '--pause <id>', by: '--by <who>' },
    flags: {
      '--agent <module>': 'file or package that exports its agent; without it, answers are only recorded',
      '--secrets-env <names>':
        'environment variables with the originals of redacted secrets, separated by commas',
    },
  },
  async run(ledger, { runId: id, wait: isWaitedFor, ...request }, { onEvent, ...context } = {}) {
    const control = await controlOf(ledger, context)
    const run = await ledger.getRun(id)
    const brings = request.answer !== undefined || request.answers !== undefined
    if (brings && !control.canRun(run?.agent ?? null)) return control.answer(id, request)
    return control.resume(id, { ...request, wait: isWaitedFor, onEvent })
  },
})

/** Imported on use: readers need no runtime. */
export async function controlOf(ledger: Ledger, { control }: OperationContext): Promise<RunControl> {
  return control ?? (await import('../control/create-control.ts')).createControl(ledger)
}
