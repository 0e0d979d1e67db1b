import type { Fidelity, ReplayOutcome, ReplayReport } from '@clew/runtime'
import { z } from 'zod'
import { diff } from './diff.ts'

const text = z.string()
const count = z.int().min(0)

export const REPLAY_MODES = ['reconstruct', 're-execute', 'what-if'] as const

export const DIVERGENCE_KINDS = [
  'order',
  'name',
  'kind',
  'input',
  'output',
  'decision',
  'missing',
  'extra',
  'unconsumed',
  'redacted',
] as const

export const outcome = z.object({
  status: z.enum(['completed', 'failed', 'paused', 'unfinished']),
  output: z.unknown().optional(),
  error: z.object({ name: text, code: text, message: text }).optional(),
}) satisfies z.ZodType<ReplayOutcome>

const versions = z.object({ recorded: text.nullable(), now: text.nullable() })
const models = z.object({ recorded: z.array(text).readonly(), now: z.array(text).readonly() })
const fidelity = z.object({
  agentVersion: versions,
  clewVersion: versions,
  structureHash: versions,
  models,
}) satisfies z.ZodType<Fidelity>

/** Held to the type that it describes (D2). */
const replayReport = z.object({
  mode: z.enum(REPLAY_MODES),
  verdict: z.enum(['identical', 'diverged']),
  sourceRunId: text,
  runId: text.nullable().describe('the run that stores the report, or the fork of a what-if'),
  divergences: z
    .array(
      z.object({
        kind: z.enum(DIVERGENCE_KINDS),
        step: text.nullable(),
        stepId: text.nullable(),
        seq: count.nullable(),
        expected: z.unknown(),
        received: z.unknown(),
        changes: z
          .array(z.object({ path: text, expected: text.nullable(), received: text.nullable() }))
          .readonly(),
        childRunId: text.optional(),
      }),
    )
    .readonly(),
  path: z
    .array(
      z.object({
        step: text,
        stepId: text,
        kind: text,
        decision: z.union([text, z.array(text).readonly()]).nullable(),
        match: z.enum(['same', 'changed', 'missing', 'new']),
        seq: count.nullable(),
      }),
    )
    .readonly(),
  outcome,
  recorded: outcome,
  comparison: diff.output.optional().describe('of a what-if with its source'),
  fidelity: fidelity.describe('what the record was made with, and what it was read with'),
  steps: count,
  durationMs: z.number(),
}) satisfies z.ZodType<ReplayReport>

const replayed = z.object({
  runId: text,
  agent: text.nullable(),
  file: text.nullable().describe('the fixture that it came from'),
  report: replayReport.nullable().describe('null when it could not be replayed; error says why'),
  error: text.nullable(),
})
export type ReplayedRun = z.output<typeof replayed>

export const replayAnswer = z.object({
  verdict: z.enum(['identical', 'diverged']),
  identical: count,
  diverged: count,
  failed: count.describe('runs that could not be replayed'),
  left: z
    .array(z.object({ reason: text, runs: count }))
    .readonly()
    .describe('runs that were left out, and why'),
  runs: z.array(replayed).readonly(),
})
export type ReplayAnswer = z.output<typeof replayAnswer>
