import { ClewError, type ScoreFilter } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, runSummary } from './schemas.ts'
import { existingRun } from './tag.ts'

export const score = answering({
  name: 'score',
  summary: 'Score a run or one of its steps, also after its end',
  scope: 'write',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/scores' },
  mcp: {
    tool: 'score',
    effect: 'Writes a score into the record of the run.',
  },
  input: z.object({
    runId,
    name: z.string().min(1).max(200).describe('what is scored, such as accuracy'),
    value: z
      .union([z.number(), z.string().max(2000), z.boolean(), z.null()])
      .describe('a number, a text, true or false; null takes back the score that the same giver gave'),
    stepId: z.string().min(1).optional().describe('score this step, not the run'),
    attempt: z.int().min(1).optional().describe('only this attempt of the step'),
    by: z.string().min(1).max(200).optional().describe('who gives it'),
    why: z.string().min(1).max(2000).optional().describe('the reason'),
  }),
  output: runSummary.pick({ runId: true, scores: true }),
  example: {
    command: 'clew score trip-12 accuracy 0.8 --by ann',
    input: { runId: 'trip-12', name: 'accuracy', value: 0.8, by: 'ann' },
  },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or how it begins' },
      { word: 'name', field: 'name', required: true, about: 'what is scored, such as accuracy' },
      { word: 'value', field: 'value', required: true, about: 'a number, a text, true, false or null' },
    ],
    options: {
      stepId: '--step <id>',
      attempt: '--attempt <number>',
      by: '--by <who>',
      why: '--why <text>',
    },
  },
  async run(ledger, { runId: id, stepId, attempt, ...given }) {
    const run = await existingRun(ledger, id)
    if (stepId === undefined && attempt !== undefined)
      throw new ClewError(
        'bad_option',
        'An attempt was named without its step',
        'Name the step, too; nothing was written.',
        { option: 'stepId' },
      )
    // A fork also has steps of its source, which its own rows do not list.
    if (stepId !== undefined && !run.forkedFrom && (await ledger.getSkeleton(id, { stepId })).length === 0)
      throw new ClewError('not_found', `Run ${id.slice(0, 200)} has no such step`, 'See `clew steps`.', {
        runId: id.slice(0, 200),
        stepId: stepId.slice(0, 200),
      })
    const target =
      stepId === undefined ? ({ target: 'run' } as const) : ({ target: 'step', stepId, attempt } as const)
    await ledger.record({ eventType: 'system.scored', correlationId: id, payload: { ...target, ...given } })
    const { scores } = await existingRun(ledger, id)
    return { runId: id, scores }
  },
})

const CONDITION = /^([^<>=!]+)(<=|>=|!=|=|<|>)(.+)$/
/** `name>=0.5`, as it is typed. */
export const scoreCondition = z.string().regex(CONDITION, 'not a condition such as accuracy>=0.5')

export function parseScoreConditions(texts: readonly string[]): ScoreFilter[] {
  return texts.map((text) => {
    const [, name = '', op = '=', value = ''] = CONDITION.exec(text) ?? []
    return { name: name.trim(), op: op as ScoreFilter['op'], value: parseScoreValue(value.trim()) ?? '' }
  })
}

/** A score as it is typed: a number, `true`, `false` and `null` are what they look like, all else is text. */
export function parseScoreValue(text: string): number | string | boolean | null {
  if (/^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : text
}
