import { ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, runSummary } from './schemas.ts'

export const tag = answering({
  name: 'tag',
  summary: 'Set or remove tags of a run, also after its end',
  scope: 'write',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/runs/{runId}/tags' },
  input: z.object({
    runId,
    set: z
      .record(z.string().min(1).max(200), z.string().max(2000))
      .optional()
      .describe('tags to add or replace'),
    unset: z
      .array(z.string().min(1).max(200))
      .optional()
      .describe('names of tags to remove, separated by commas'),
    by: z.string().min(1).max(200).optional().describe('who does it'),
  }),
  output: runSummary.pick({ runId: true, tags: true }),
  example: {
    command: 'clew tag trip-12 env=prod team=red --unset draft',
    input: { runId: 'trip-12', set: { env: 'prod', team: 'red' }, unset: ['draft'] },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or how it begins' },
      { word: 'tags', required: false, many: true, about: 'each as name=value' },
    ],
    options: { unset: '--unset <names>', by: '--by <who>' },
  },
  async run(ledger, { runId: id, ...payload }) {
    if (payload.set === undefined && payload.unset === undefined)
      throw new ClewError(
        'bad_option',
        'No tag was named',
        'Name tags to set or to unset; nothing was written.',
        { option: 'set' },
      )
    await existingRun(ledger, id)
    await ledger.record({ eventType: 'system.tagged', correlationId: id, payload })
    const { tags } = await existingRun(ledger, id)
    return { runId: id, tags }
  },
})

/** The run: recording an event of one that is not there would begin it. */
export async function existingRun(ledger: Ledger, id: string): Promise<RunSummary> {
  const run = await ledger.getRun(id)
  if (run) return run
  throw new ClewError('not_found', `There is no run ${id.slice(0, 200)}`, 'List the runs with `clew runs`.', {
    runId: id.slice(0, 200),
  })
}

/** `name=value`, as it is typed. */
export const tagText = z.string().regex(/^[^=]+=/, 'not name=value')

export function parseTags(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1)
        throw new ClewError(
          'bad_option',
          `The tag ${JSON.stringify(text.slice(0, 60))} is not name=value`,
          'Give each tag as name=value, several separated by commas. Nothing was written.',
          { option: 'tag' },
        )
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}
