import { z } from 'zod'
import { place, readPlace } from './fork-place.ts'
import { answering } from './operation.ts'
import { replacement } from './replacement.ts'
import { controlOf } from './resume.ts'
import { controlOutcome, runId, wait } from './schemas.ts'

export const fork = answering({
  name: 'fork',
  summary: 'Start a new run that shares the first events of another run',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/fork' },
  mcp: {
    tool: 'fork',
    effect:
      'Makes a new run; runs the code of its agent from there if that is served here. Models and declared reads are performed, at their cost; other effects give their recorded result for the same input, or ask.',
  },
  input: z.object({
    runId,
    at: place
      .optional()
      .describe(
        'before a step (id or name), after a superstep (number) or an event (seq:N); default: its end',
      ),
    input: z.unknown().optional().describe('another input for the fork: JSON, or else text'),
    state: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('what to write into the state of a graph there: a JSON object by channel'),
    retry: z.boolean().optional().describe('start before the step that failed'),
    replace: replacement,
    effects: z
      .enum(['ask', 'live'])
      .optional()
      .describe(
        'ask (default): models and declared reads are performed, other effects give their recorded result for the same input or ask; live: all are performed',
      ),
    newRunId: runId.optional().describe('id for the fork; default a new one'),
    wait,
  }),
  output: controlOutcome,
  example: {
    command: 'clew fork trip-12 --at search --agent ./agents.ts',
    input: { runId: 'trip-12', at: { step: 'search' } },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: {
      at: '--at <place>',
      input: '--input <value>',
      state: '--state <json>',
      retry: '--retry',
      replace: '--replace <json>',
      effects: '--effects <ask|live>',
      newRunId: '--as <id>',
    },
    flags: {
      '--agent <module>':
        'file or package that exports its agent; without it, the fork waits until it is resumed',
    },
  },
  async run(ledger, { runId: id, at, ...request }, { onEvent, ...context } = {}) {
    const control = await controlOf(ledger, context)
    return control.fork(id, { ...request, at: at === undefined ? undefined : readPlace(at), onEvent })
  },
})
