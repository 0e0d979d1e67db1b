import type { ForkPreview } from '@clew/runtime'
import { z } from 'zod'
import { place, readPlace } from './fork-place.ts'
import { answering } from './operation.ts'
import { replacement } from './replacement.ts'
import { controlOf } from './resume.ts'
import { runId } from './schemas.ts'

const effects = z
  .array(
    z.object({
      name: z.string(),
      safety: z.enum(['read', 'write', 'destructive', 'external', 'undeclared']),
      count: z.int(),
    }),
  )
  .readonly()

const forkPreview = z.object({
  runId: z.string(),
  seq: z.int().describe('events that fork and source share'),
  keptSteps: z.int(),
  nextSteps: z.int().describe('steps of the source after the cut'),
  live: effects.describe('performed again: models and effects declared read'),
  outward: effects.describe('given back for the same input, else a person is asked'),
  streamId: z.string().nullable().describe('stream in which the fork answers'),
}) satisfies z.ZodType<ForkPreview>

export const preview = answering({
  name: 'preview',
  summary: 'Show what a fork would keep, perform and ask, without making it',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/preview' },
  mcp: { tool: 'preview_fork' },
  input: z.object({
    runId,
    at: place
      .optional()
      .describe('as for fork: a step (id or name), a superstep (number) or an event (seq:N)'),
    replace: replacement,
    retry: z.boolean().optional().describe('before the step that failed'),
  }),
  output: forkPreview.extend({
    canRun: z
      .boolean()
      .describe('false: the code of its agent is not here, so that a fork waits until it is resumed'),
    agent: z.string().nullable(),
  }),
  example: {
    command: 'clew preview trip-12 --at search',
    input: { runId: 'trip-12', at: { step: 'search' } },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { at: '--at <place>', replace: '--replace <json>', retry: '--retry' },
  },
  async run(ledger, { runId: id, at, ...request }, context = {}) {
    const control = await controlOf(ledger, context)
    return control.preview(id, { ...request, at: at === undefined ? undefined : readPlace(at) })
  },
})
