import {
  type Problem,
  type PrunedRange,
  RUN_STATUSES,
  type RunSummary,
  type StepSkeleton,
} from '@clew/ledger'
import { z } from 'zod'

/** Shapes that several operations answer with; each is held to the type it describes, in both directions. */

const text = z.string()
const count = z.int().min(0)
const error = z.object({ name: text.nullable(), code: text.nullable(), message: text.nullable() })
const pause = z.object({ pauseId: text, stepId: text.nullable(), question: z.unknown() })
const checkpoint = z.object({
  id: text,
  superstep: count,
  seq: count,
  baseSeq: count,
  createdAt: text,
  resumable: z.boolean(),
})

export const runSummary = z.object({
  runId: text,
  status: z.enum(RUN_STATUSES),
  agent: text.nullable(),
  agentVersion: text.nullable(),
  threadId: text.nullable(),
  parentRunId: text.nullable(),
  forkedFrom: z.object({ runId: text, seq: count }).nullable(),
  subjects: z.array(text).readonly(),
  startedAt: text,
  updatedAt: text,
  endedAt: text.nullable(),
  durationMs: z.number().nullable(),
  events: count,
  steps: count,
  messages: count,
  toolCalls: count,
  errors: count,
  inputTokens: count,
  outputTokens: count,
  modelCalls: count,
  cost: z.number().nullable(),
  unpricedCalls: count,
  models: z.array(text).readonly().optional().describe('Models of the counted calls, if there are any.'),
  pauses: z.array(pause).readonly(),
  error: error.nullable(),
  checkpoint: checkpoint.nullable(),
  dueAt: text.nullable(),
  stopRequested: z.boolean(),
  awaits: z
    .array(z.object({ name: text, childRunId: text.optional() }))
    .readonly()
    .optional()
    .describe('Signals that it waits for; with the id of the child run that does.'),
  signals: z
    .object({ unread: count, sinceSeq: count, lastSeq: count })
    .optional()
    .describe('Present once it was sent a signal; `unread` of them were not received.'),
  held: z
    .object({
      reason: text.nullable(),
      by: text.nullable(),
      since: text,
      dueAt: text.nullable().describe('When it goes on by itself, once it is resumed.'),
    })
    .optional()
    .describe('Present while an operator has it paused.'),
  replay: z
    .object({
      mode: z.string(),
      verdict: z.string().nullable(),
      sourceRunId: z.string(),
      at: z.string().nullable().describe('Step at which code and record diverge.'),
    })
    .nullable(),
  session: z
    .object({
      streamId: text,
      persona: z.object({ id: text, name: text, avatarUrl: text.nullable() }).nullable(),
      triggerMessageId: text.nullable(),
      supersedes: text.nullable(),
      generation: count.describe('Rises with every resume.'),
      currentStepType: text.nullable(),
    })
    .nullable()
    .describe('Present when it answers in a stream.'),
  queue: text.optional().describe('Present when it was submitted: its queue.'),
  key: text.optional().describe('Its runs take turns with those of other keys.'),
  priority: z.number().optional().describe('Higher ones are claimed first; 0 is not told.'),
  submittedAt: text.optional(),
  deadlineAt: text.optional().describe('It fails if it has not ended by then.'),
  waiting: z.literal(true).optional().describe('Submitted and not started yet.'),
  exported: z
    .literal(true)
    .optional()
    .describe('Present when an exporter recorded it: steps come in the order of its clocks.'),
  awaited: z
    .array(text)
    .readonly()
    .optional()
    .describe(
      'Steps that an exporter has not sent yet: the calls inside them were counted, and they are not again.',
    ),
  tags: z.record(text, text).readonly(),
  scores: z
    .array(
      z.object({
        stepId: text.nullable().describe('The step it is about; null for the run.'),
        attempt: count.nullable(),
        name: text,
        value: z.union([z.number(), z.string(), z.boolean()]),
        by: text.describe('Who gave it.'),
        why: text.nullable(),
        seq: count,
        at: text,
      }),
    )
    .readonly()
    .describe('The latest of each target, name and giver.'),
}) satisfies z.ZodType<RunSummary>

/** Result of resuming, forking, answering or stopping a run. */
export const controlOutcome = z.object({
  run: runSummary,
  worked: z.boolean().describe('whether the run was resumed here; otherwise a worker has to resume it'),
  output: z.unknown().describe('its output, if it completed here'),
  divergence: z
    .object({
      kind: z.enum(['order', 'kind', 'input', 'output', 'missing', 'extra', 'redacted']),
      stepId: text.nullable(),
      expected: z.unknown(),
      received: z.unknown(),
      secretKind: text.optional(),
      redactedFrom: z.array(text).readonly().optional(),
    })
    .nullable()
    .describe('where code and record diverge, if that blocked the run'),
  warnings: z
    .array(text)
    .readonly()
    .describe(
      'parts of the source that the fork does not use, and why; redacted text that the code received',
    ),
})
export type ControlOutcome = z.output<typeof controlOutcome>

export const stepSkeleton = z.object({
  runId: text,
  stepId: text,
  parentStepId: text.nullable(),
  nodeName: text,
  kind: text,
  attempt: z.int().min(1),
  superstep: count,
  index: count,
  status: z.enum(['running', 'completed', 'failed', 'paused', 'stopped', 'interrupted']),
  inputDigest: text.nullable(),
  inputVersions: z.record(text, count).nullable(),
  decision: z.union([text, z.array(text).readonly()]).nullable(),
  error: error.nullable(),
  pause: pause.nullable(),
  partial: z.boolean(),
  cached: z.boolean(),
  restored: z.boolean(),
  childRunId: text.nullable(),
  usage: z.unknown(),
  billing: z.enum(['step', 'inside']).nullable(),
  spanId: text,
  createdAt: text,
  completedAt: text.nullable(),
  durationMs: z.number().nullable(),
  startedSeq: count,
  endedSeq: count.nullable(),
}) satisfies z.ZodType<StepSkeleton>

export const wireEvent = z.object({
  event_id: text,
  event_type: text,
  timestamp: text,
  source: z.object({ origin: z.enum(['agent', 'system', 'ui', 'integration']), runtime: text }),
  correlation_id: text,
  causation_id: text.nullable(),
  payload: z.unknown(),
  ledger: z.object({
    workspace: text,
    seq: count,
    position: count,
    recorded_at: text,
    hash: text,
    schema_version: count,
    erased: z.literal(true).exactOptional(),
    pruned: z.literal(true).exactOptional(),
  }),
})

export const prunedRange = z.object({
  runId: text,
  fromSeq: count,
  toSeq: count,
  rule: text.nullable(),
  by: text.nullable(),
  at: text,
  states: count.exactOptional(),
}) satisfies z.ZodType<PrunedRange>

export const problem = z.object({
  runId: text,
  seq: count.nullable(),
  problem: z.enum([
    'changed',
    'missing',
    'misplaced',
    'truncated',
    'head_mismatch',
    'run_missing',
    'projection_differs',
    'bad_signature',
    'forged_seal',
    'unrecorded',
    'restored',
    'stray_row',
    'stray_vault_row',
    'unreadable_vault_row',
  ]),
  detail: text,
}) satisfies z.ZodType<Problem>

export const signedHeads = z.object({
  workspace: text,
  takenAt: text,
  heads: z.array(z.object({ runId: text, seq: count, hash: text })).readonly(),
  signature: text,
  publicKey: text,
})

/** Fields that several operations take. */
export const wait = z
  .boolean()
  .optional()
  .describe('false: answer as soon as the run is resumed, instead of when it ends or waits again')

export const runId = text.min(1).describe('id of the run')
export const eventTypes = z.array(text).optional().describe('only events of these types, separated by commas')
