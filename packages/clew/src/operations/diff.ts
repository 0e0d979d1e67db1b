import { type Divergence, type ItemReference, type RunDiff, RUN_STATUSES } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

const text = z.string()
const count = z.int().min(0)

const reference = z.object({
  index: count,
  seq: count,
  kind: z.enum(['start', 'step', 'tool', 'message', 'answer', 'handoff']),
  name: text,
  stepId: text.nullable(),
  label: text,
}) satisfies z.ZodType<ItemReference>

const change = z.object({ path: text, expected: text.nullable(), received: text.nullable() })
const kind = z.enum(['order', 'name', 'kind', 'input', 'output', 'decision', 'missing', 'extra'])

export const divergence = z.object({
  kind,
  expected: reference.nullable(),
  received: reference.nullable(),
  changes: z.array(change).readonly(),
  after: reference.nullable(),
}) satisfies z.ZodType<Divergence>

const delta = z.object({
  a: z.number().nullable(),
  b: z.number().nullable(),
  delta: z.number().nullable(),
})

export const deltas = z.object({
  steps: delta,
  messages: delta,
  toolCalls: delta,
  errors: delta,
  inputTokens: delta,
  outputTokens: delta,
  cost: delta,
  durationMs: delta,
})

const side = z.object({
  runId: text,
  status: z.enum(RUN_STATUSES),
  agent: text.nullable(),
  startedAt: text,
  items: count,
  erasedEvents: count,
})

export const diff = answering({
  name: 'diff',
  summary: 'Compare two runs: where they diverge, what differs, what they cost',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/diff' },
  mcp: { tool: 'diff_runs' },
  input: z.object({
    runId: runId.describe('the expected run'),
    otherRunId: runId.describe('the run to compare with it'),
    full: z.boolean().default(false).describe('every line of both runs, not only differences'),
  }),
  output: z.object({
    a: side,
    b: side,
    same: z.boolean(),
    sharedEvents: count,
    first: divergence.nullable(),
    wording: divergence.nullable(),
    again: z.object({ a: reference, b: reference }).nullable(),
    counts: z.object({
      same: count,
      attempts: count,
      wording: count,
      changed: count,
      missing: count,
      extra: count,
      moved: count,
    }),
    /** With `full` all lines, else those that differ. */
    rows: z
      .array(
        z.object({
          mark: z.union([z.enum(['same', 'attempts', 'wording']), kind]),
          a: reference.nullable(),
          b: reference.nullable(),
        }),
      )
      .readonly(),
    deltas,
    output: z.array(change).readonly(),
    state: z.array(change).readonly(),
  }) satisfies z.ZodType<RunDiff>,
  example: {
    command: 'clew diff demo-3f9a1c demo-88e2b0',
    input: { runId: 'demo-3f9a1c', otherRunId: 'demo-88e2b0' },
  },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'the expected run' },
      { word: 'other', field: 'otherRunId', required: true, about: 'the run to compare with it' },
    ],
    options: { full: '--full' },
  },
  async run(ledger, { runId: expected, otherRunId, full }, { onProgress } = {}) {
    const found = await ledger.diff(expected, otherRunId, { onProgress })
    return full ? found : { ...found, rows: found.rows.filter((row) => row.mark !== 'same') }
  },
})
