import { type Explanation, isResumedByCode } from '@clew/ledger'
import { z } from 'zod'
import { deltas, divergence } from './diff.ts'
import { answering } from './operation.ts'
import { DIVERGENCE_KINDS, outcome } from './replay-schema.ts'
import { runId, runSummary } from './schemas.ts'

const text = z.string()
const count = z.int().min(0)
const cause = z.object({ seq: count, eventId: text, eventType: text, label: text })

const CLUES = [
  'differs',
  'source',
  'odd value',
  'odd shape',
  'cut short',
  'instruction',
  'nothing found',
  'cached',
  'redacted',
  'retries',
  'failed',
  'stopped',
  'unanswered',
  'interrupted',
  'hand-off',
  'decision',
  'usage',
] as const

/** Outcome of the run according to its replay. */
const finding = z.object({
  verdict: z.enum(['identical', 'diverged']),
  reproduced: z
    .boolean()
    .describe(
      "today's code comes to the recorded end with the recorded results: the record is enough to debug it",
    ),
  outside: z
    .boolean()
    .describe('it failed because of a recorded result from outside, which was not asked for again'),
  divergence: z
    .object({ kind: z.enum(DIVERGENCE_KINDS), stepId: text.nullable(), seq: count.nullable() })
    .nullable()
    .describe("where today's code diverges from the record"),
  outcome,
})
export type ReplayFinding = z.output<typeof finding>

export const explain = answering({
  name: 'explain',
  summary: 'Explain a run: the failed or last step, what led there, what the last good run did',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/explain' },
  mcp: { tool: 'explain_run' },
  input: z.object({
    runId,
    fork: z
      .boolean()
      .optional()
      .describe('also run its code live from the failed step, in a fork; this may cost money'),
  }),
  output: z.object({
    run: runSummary,
    place: z
      .object({
        because: z.enum(['failed', 'paused', 'running', 'last']),
        stepId: text.nullable(),
        name: text,
        kind: text,
        attempt: z.int().min(1),
        seq: count,
        eventId: text,
        input: text.nullable(),
        output: text.nullable(),
        error: text.nullable(),
      })
      .nullable(),
    causes: z.array(cause).readonly(),
    omittedCauses: count,
    origin: cause.extend({ by: z.enum(['person', 'input', 'event']) }).nullable(),
    causesRecorded: z.boolean(),
    outcome: z
      .object({ name: text, value: z.union([z.number(), text, z.boolean()]), isGood: z.boolean() })
      .nullable()
      .describe('how it turned out by a score or by its metadata'),
    suspects: z
      .array(
        z.object({
          seq: count,
          eventId: text,
          eventType: text,
          stepId: text.nullable(),
          kind: z.enum(CLUES),
          why: text,
          weight: z.number().describe('0 to 1, by a fixed rule; not a probability'),
          led: z.array(z.object({ seq: count, eventId: text, label: text })).readonly(),
        }),
      )
      .readonly()
      .describe('events that may be the cause, the likeliest first; none if nothing looks wrong'),
    unreadEvents: count.describe('events of a long run that were not looked at'),
    lastGood: z
      .object({
        runId: text,
        matched: z.enum(['task', 'input', 'thread', 'agent']).describe('what it has in common with the run'),
        startedAt: text,
        same: z.boolean(),
        first: divergence.nullable(),
        deltas: deltas.nullable().describe('null where a run is too long to be compared here'),
      })
      .nullable(),
    isReplayable: z.boolean().describe('an agent or graph of Clew recorded it'),
    replay: finding.nullable().describe('result of a replay; null if its agent is not available'),
    whatIf: z
      .object({
        runId: text,
        status: runSummary.shape.status,
        same: z.boolean(),
        first: divergence.nullable(),
        deltas,
      })
      .nullable()
      .describe('the fork that ran live from the failed step, compared with the run'),
  }) satisfies z.ZodType<Explanation>,
  example: { command: 'clew explain demo-3f9a1c', input: { runId: 'demo-3f9a1c' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { fork: '--fork' },
    flags: {
      '--agent <module>': 'file or package that exports its agent, to check whether the failure reproduces',
    },
  },
  // Callers without the control scope get no `control`, so nothing is executed.
  async run(ledger, { runId: id, fork }, { control, onEvent, onProgress } = {}) {
    const explanation = {
      ...(await ledger.explain(id, { onProgress })),
      isReplayable: await isResumedByCode(ledger, id),
    }
    if (!control) return { ...explanation, replay: null, whatIf: null }
    const { replayFinding } = await import('../replay/explain-replay.ts')
    const replay = await replayFinding(control, explanation)
    if (fork !== true) return { ...explanation, replay, whatIf: null }
    const at = explanation.place?.stepId ?? undefined
    const { runId: made } = await control.replay(id, {
      mode: 'what-if',
      at: at === undefined ? undefined : { step: at },
      onEvent,
    })
    const forked = made === null ? null : await ledger.getRun(made)
    if (!forked) return { ...explanation, replay, whatIf: null }
    const { same, first, deltas: by } = await ledger.diff(id, forked.runId)
    const whatIf = { runId: forked.runId, status: forked.status, same, first, deltas: by }
    return { ...explanation, replay, whatIf }
  },
})
