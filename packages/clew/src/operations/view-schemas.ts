import {
  type AnthropicChat,
  type AuditTrail,
  type ChatMessage,
  type ComplianceEntry,
  RUN_STATUSES,
  type TaskGraph,
  type Timeline,
  type Transcript,
} from '@clew/ledger'
import { z } from 'zod'

/** Shapes of the views, each held to the type it describes. */

const text = z.string()
const count = z.int().min(0)
const error = z.object({ name: text.nullable(), code: text.nullable(), message: text.nullable() })
const runStatus = z.enum(RUN_STATUSES).nullable()
const stepStatus = z.enum(['running', 'completed', 'failed', 'paused', 'stopped', 'interrupted'])

const place = {
  seq: count,
  eventId: text,
  causationId: text.nullable(),
  at: text,
  runId: text,
  stepId: text.nullable(),
  erased: z.boolean(),
}
const outcome = z.object({
  seq: count,
  at: text,
  result: z.unknown(),
  error: error.nullable(),
  erased: z.boolean(),
})
const answer = z.object({
  seq: count,
  at: text,
  value: z.unknown(),
  by: text.nullable(),
  erased: z.boolean(),
})

const entry = z.discriminatedUnion('kind', [
  z.object({
    ...place,
    kind: z.literal('start'),
    agent: text.nullable(),
    input: z.unknown(),
    parentRunId: text.nullable(),
  }),
  z.object({
    ...place,
    kind: z.literal('message'),
    role: text.nullable(),
    name: text.nullable(),
    content: z.unknown(),
    model: text.nullable(),
    messageId: text.nullable(),
    edited: z.boolean(),
    channel: z.enum(['agent', 'ui']),
  }),
  z.object({ ...place, kind: z.literal('reasoning'), content: z.unknown(), about: count.nullable() }),
  z.object({
    ...place,
    kind: z.literal('tool_call'),
    toolCallId: text.nullable(),
    name: text.nullable(),
    arguments: z.unknown(),
    called: z.boolean(),
    performedBy: text.nullable(),
    outcome: outcome.nullable(),
  }),
  z.object({
    ...place,
    kind: z.literal('handoff'),
    from: text.nullable(),
    to: text.nullable(),
    reason: text.nullable(),
  }),
  z.object({ ...place, kind: z.literal('decision'), choice: z.unknown(), reason: text.nullable() }),
  z.object({
    ...place,
    kind: z.literal('question'),
    pauseId: text.nullable(),
    question: z.unknown(),
    options: z.unknown(),
    asked: z.boolean(),
    answer: answer.nullable(),
  }),
  z.object({ ...place, kind: z.literal('structured_output'), value: z.unknown() }),
  z.object({ ...place, kind: z.literal('child_run'), childRunId: text, name: text.nullable() }),
  z.object({
    ...place,
    kind: z.literal('failure'),
    name: text.nullable(),
    attempt: z.number(),
    error,
    retried: z.boolean(),
  }),
  z.object({
    ...place,
    kind: z.literal('status'),
    status: z.enum(['paused', 'resumed', 'interrupted', 'blocked', 'forked']),
    reason: text.nullable(),
  }),
  z.object({
    ...place,
    kind: z.literal('end'),
    status: z.enum(['completed', 'failed', 'stopped', 'superseded']),
    output: z.unknown(),
    error: error.nullable(),
    reason: text.nullable(),
  }),
])

export const transcriptView = z.object({
  runId: text.nullable(),
  agent: text.nullable(),
  status: runStatus,
  startedAt: text.nullable(),
  endedAt: text.nullable(),
  entries: z.array(entry).readonly(),
  otherEvents: count,
}) satisfies z.ZodType<Transcript>

export const chatMessage = z.object({
  role: text,
  content: z.unknown(),
  name: text.exactOptional(),
  tool_calls: z
    .array(
      z.object({
        id: text,
        type: z.literal('function'),
        function: z.object({ name: text, arguments: text }),
      }),
    )
    .readonly()
    .exactOptional(),
  tool_call_id: text.exactOptional(),
}) satisfies z.ZodType<ChatMessage>

const anthropicBlock = z.looseObject({ type: text })
export const anthropicChat = z.object({
  system: text.exactOptional(),
  messages: z
    .array(
      z.object({
        role: z.enum(['user', 'assistant']),
        content: z.union([text, z.array(anthropicBlock).readonly()]),
      }),
    )
    .readonly(),
}) satisfies z.ZodType<AnthropicChat>

export const timelineView = z.object({
  runId: text.nullable(),
  agent: text.nullable(),
  status: runStatus,
  startedAt: text.nullable(),
  durationMs: z.number(),
  lanes: count,
  items: z
    .array(
      z.object({
        kind: z.enum(['step', 'call', 'event']),
        name: text,
        eventId: text,
        eventType: text,
        causationId: text.nullable(),
        seq: count,
        endSeq: count.nullable(),
        stepId: text.nullable(),
        attempt: z.number().nullable(),
        stepKind: text.nullable(),
        status: stepStatus.nullable(),
        startMs: z.number(),
        endMs: z.number().nullable(),
        durationMs: z.number().nullable(),
        lane: count,
        depth: count,
        parent: count.nullable(),
        childRunId: text.nullable(),
        error: error.nullable(),
        started: z.boolean(),
        erased: z.boolean(),
      }),
    )
    .readonly(),
}) satisfies z.ZodType<Timeline>

export const taskGraphView = z.object({
  runId: text.nullable(),
  agent: text.nullable(),
  status: runStatus,
  nodes: z
    .array(
      z.object({
        id: text,
        name: text,
        kind: z.enum(['step', 'call', 'message', 'agent', 'run', 'target']),
        parent: text.nullable(),
        stepKind: text.nullable(),
        count,
        attempts: count,
        loops: count,
        status: stepStatus.nullable(),
        statuses: z.partialRecord(stepStatus, count),
        totalMs: z.number(),
        maxMs: z.number(),
        firstSeq: count.nullable(),
        runIds: z.array(text).readonly(),
      }),
    )
    .readonly(),
  edges: z
    .array(
      z.object({
        from: text,
        to: text,
        kind: z.enum(['sequence', 'decision', 'cause', 'handoff', 'child_run']),
        count,
        label: text.nullable(),
      }),
    )
    .readonly(),
}) satisfies z.ZodType<TaskGraph>

export const auditView = z.object({
  runId: text.nullable(),
  status: runStatus,
  entries: z
    .array(
      z.object({
        seq: count,
        eventId: text,
        at: text,
        recordedAt: text,
        runId: text,
        who: text,
        action: z.enum([
          'run_started',
          'run_forked',
          'run_paused',
          'run_resumed',
          'lease_taken',
          'run_interrupted',
          'run_blocked',
          'divergence_accepted',
          'run_replayed',
          'run_stopped',
          'run_superseded',
          'run_completed',
          'run_failed',
          'message_received',
          'input_requested',
          'input_received',
          'tool_called',
          'effect_begun',
          'external_called',
          'handed_off',
          'memory_changed',
          'policy_changed',
          'payload_erased',
          'range_pruned',
          'accessed',
        ]),
        target: text.nullable(),
        detail: text.nullable(),
        stepId: text.nullable(),
        safety: z.enum(['read', 'write', 'destructive', 'external']).nullable(),
        outcome: z.enum(['completed', 'failed', 'stopped', 'interrupted', 'open']).nullable(),
        redactions: count,
        erased: z.boolean(),
      }),
    )
    .readonly(),
  redactions: z.record(text, count),
  events: count,
  erasedEvents: count,
}) satisfies z.ZodType<AuditTrail>

export const complianceEntry = z.object({
  position: count,
  seq: count,
  eventId: text,
  at: text,
  runId: text,
  who: text,
  action: text,
  target: text.nullable(),
  detail: text.nullable(),
  erased: z.boolean(),
}) satisfies z.ZodType<ComplianceEntry>
