import { eventInRun, stateOperation } from './checkpoint-schema.ts'
import { anything, integer, listOf, mapOf, maybe, maybeNull, oneOf, open, text } from './schema.ts'
import { count, error, inStep, optional, readings, texts, warned, bounded } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

const task = open({ taskId: optional.text, name: optional.text, dueAt: optional.text, ...inStep })

/** The run answers in a stream (T1); its thread is the stream. */
const session = maybe(
  open({
    streamId: text,
    persona: maybeNull(open({ id: text, name: optional.text, avatarUrl: maybeNull(text) })),
    triggerMessageId: maybeNull(text),
    supersedes: maybeNull(text),
  }),
)

/** The life of a run, with its replays and forks. */
export const RUN_EVENTS = {
  /** Work for whoever has the agent (W1): the first event of its run. A start follows at the first claim. */
  'system.workflow_submitted': [
    'system.workflow_event',
    open({
      agent: text,
      /** Stored here and not in the start. */
      input: anything,
      /** Keyed digest of agent and input before redaction: whether another submission asks for the same (W2). */
      inputDigest: optional.text,
      queue: optional.text,
      /** Runs of one key take turns with those of others (W4): a tenant, a user. Default: the thread. */
      key: optional.text,
      /** Higher ones are claimed first; default 0. */
      priority: maybe(integer(-1_000_000)),
      /** Not claimed before this time. */
      dueAt: optional.text,
      /** The run fails if it has not ended by then. */
      deadlineAt: optional.text,
      threadId: optional.text,
      subjects: texts,
      tags: maybe(mapOf(text)),
      clewVersion: optional.text,
      ...bounded,
      session,
    }),
  ],
  'system.workflow_started': [
    'system.workflow_event',
    open({
      agent: optional.text,
      agentVersion: optional.text,
      threadId: optional.text,
      streamId: optional.text,
      parentRunId: optional.text,
      parentStepId: optional.text,
      /** The end of the run before it in its thread. */
      previous: maybe(eventInRun),
      input: anything,
      /** The run of the attempt before, of a child run that is tried again: what that has written is not repeated. */
      earlierRunId: optional.text,
      /** Fields of an imported record beside its events, such as the task and the reward of a trial. */
      metadata: anything,
      seed: optional.text,
      structureHash: optional.text,
      /** Signature per graph node. Recorded results are reused in a changed graph only if it is equal. */
      signatures: maybe(mapOf(text)),
      clewVersion: optional.text,
      subjects: texts,
      /** Tags that it begins with (V11). */
      tags: maybe(mapOf(text)),
      /** JSON Schema per signal that the agent declares. */
      signals: maybe(mapOf(anything)),
      ...bounded,
      inputDigest: optional.text,
      session,
    }),
  ],
  'system.workflow_resumed': [
    'system.workflow_event',
    /** With a budget where that has changed. */
    open({ reason: optional.text, epoch: optional.count, ...bounded }),
  ],
  // With open questions, or waiting for signals, the run is paused; with nothing but a time to wait for it is pending.
  'system.workflow_paused': [
    'system.workflow_event',
    open({
      pauseIds: texts,
      dueAt: optional.text,
      /** Signals that it waits for; those of a child run with its id. */
      awaits: maybe(listOf(open({ name: text, childRunId: optional.text }))),
      /** Seq of the newest signal that was known when it paused: a later one wakes it at once. */
      seenSeq: optional.count,
      /** Why an operator has it paused. */
      reason: optional.text,
      ...readings,
      ...warned,
    }),
  ],
  /** Sent by anyone, and kept until the run receives it. With `childRunId` it wakes a parent: the signal itself is its child's. */
  'system.signal_received': [
    'system.workflow_event',
    open({ name: text, payload: anything, id: optional.text, by: optional.text, childRunId: optional.text }),
  ],
  /** Asked by anyone: nothing new begins, and nobody takes the run up, until it is resumed by hand. */
  'system.pause_requested': ['system.workflow_event', open({ reason: optional.text, by: optional.text })],
  /** The end of such a pause. */
  'system.resume_requested': ['system.workflow_event', open({ by: optional.text })],
  'system.workflow_completed': [
    'system.workflow_event',
    /** A map of which some items completed and some failed is `partial`. */
    open({ output: anything, status: maybe(oneOf('partial')), ...warned }),
  ],
  'system.workflow_failed': [
    'system.workflow_event',
    /** `stack`: where the run's own code threw; of a failed step it stands with the step. */
    open({ error: maybe(error), stack: optional.text, ...readings, ...warned }),
  ],
  'system.workflow_stopped': ['system.workflow_event', open({ reason: optional.text, ...warned })],
  /** Another run takes its place; what it had done stays readable. */
  'system.workflow_superseded': ['system.workflow_event', open({ by: optional.text })],
  /** Asked by anyone; the owner of the run ends it as stopped. */
  'system.stop_requested': ['system.workflow_event', open({ reason: optional.text, by: optional.text })],
  'system.workflow_interrupted': ['system.workflow_event', open({ reason: optional.text, ...warned })],
  'system.workflow_forked': [
    'system.workflow_event',
    open({
      sourceRunId: text,
      sourceSeq: integer(1),
      threadId: optional.text,
      /** Run that started this fork, for example by running a sub-graph again. */
      parentRunId: optional.text,
      parentStepId: optional.text,
      atStepId: optional.text,
      agent: optional.text,
      agentVersion: optional.text,
      structureHash: optional.text,
      signatures: maybe(mapOf(text)),
      clewVersion: optional.text,
      /** The run that failed, and how often it was tried again, this time included. */
      retryOf: optional.text,
      retryIndex: optional.count,
      by: optional.text,
      edit: anything,
      input: anything,
      /** The one recorded value that this fork has otherwise; of a request, what the step is performed with. */
      replaced: maybe(
        open({
          what: oneOf('result', 'answer', 'request'),
          stepId: text,
          pauseId: optional.text,
          input: anything,
        }),
      ),
      /** `ask`: what would reach outside is given its recorded result, or a person is asked (R7). */
      effects: maybe(oneOf('ask', 'live')),
      /** In place of that of its source. */
      ...bounded,
      /** The source's last checkpoint at or before `sourceSeq`: the fork begins with it. */
      checkpoint: maybe(
        open({ id: text, superstep: count, seq: integer(1), baseSeq: integer(1), createdAt: text }),
      ),
      /** The source's tags at `sourceSeq`: the fork begins with them. */
      tags: maybe(mapOf(text)),
      /** The signals that the source had there. */
      signals: maybe(open({ unread: count, sinceSeq: count, lastSeq: count })),
    }),
  ],
  'system.workflow_blocked': [
    'system.workflow_event',
    open({
      reason: optional.text,
      path: optional.text,
      /** For a redacted value: the kind of the removed secret. */
      secretKind: optional.text,
      /** Steps whose redacted text the code was given. */
      redactedFrom: texts,
      ...inStep,
      ...warned,
    }),
  ],
  /** A resume goes on although the code asks for something else here: all before this event may differ (D2). */
  'system.divergence_accepted': [
    'system.workflow_event',
    open({ kind: optional.text, by: optional.text, ...inStep }),
  ],
  /** The report of a replay, kept as a run of its own: its source gets no event. */
  'system.replay_started': [
    'system.workflow_event',
    open({ sourceRunId: text, mode: text, sourceAgent: maybeNull(text), sourceSeq: optional.count }),
  ],
  'system.replay_completed': [
    'system.workflow_event',
    open({
      verdict: oneOf('identical', 'diverged'),
      /** Id of the step at which the paths part. */
      at: maybeNull(text),
      divergences: anything,
      outcome: anything,
      steps: optional.count,
      durationMs: optional.amount,
    }),
  ],
  'system.task_scheduled': ['system.workflow_event', task],
  'system.task_completed': ['system.workflow_event', task],
  'system.state_transitioned': [
    'system.workflow_event',
    open({
      superstep: optional.count,
      write: anything,
      operations: maybe(listOf(stateOperation)),
      ...inStep,
    }),
  ],
} as const satisfies EventFamily
