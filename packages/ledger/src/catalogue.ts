import { checkpoint, eventInRun, stateOperation } from './checkpoint-schema.ts'
import { ClewError } from './errors.ts'
import { formatPath } from './json.ts'
import {
  amount,
  anything,
  either,
  flag,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  maybe,
  maybeNull,
  oneOf,
  open,
  pairOf,
  type Schema,
  text,
  type TypeOf,
} from './schema.ts'

export const PRIMITIVES = [
  'execution.message',
  'execution.tool_call',
  'execution.tool_result',
  'execution.state_change',
  'system.workflow_event',
  'ui.interaction',
  'integration.call',
] as const
export type Primitive = (typeof PRIMITIVES)[number]

// Payloads are open: a known field must have its type, further fields are kept as they came (E3).
const count = integer(0)
const texts = maybe(listOf(text))
const optional = { text: maybe(text), count: maybe(count), flag: maybe(flag), amount: maybe(amount) }

const error = open({ name: optional.text, code: optional.text, message: optional.text })
const usage = open({
  /** All input tokens, cached ones included. */
  inputTokens: optional.count,
  outputTokens: optional.count,
  cacheReadTokens: optional.count,
  cacheWriteTokens: optional.count,
  reasoningTokens: optional.count,
})

/** What names a step (R2): parent, name, and a key or the ordinal of the call; `stepId` spells them in one text. */
const attempt = maybe(integer(1))
const stepIdentity = { stepId: text, attempt }
/** What a step is called with. */
const calledWith = {
  parentStepId: maybeNull(text),
  key: optional.text,
  ordinal: optional.count,
  kind: optional.text,
  superstep: optional.count,
  index: optional.count,
  inputDigest: optional.text,
  input: anything,
  inputVersions: maybe(mapOf(count)),
}
const inStep = { stepId: optional.text }
const inAttempt = { stepId: optional.text, attempt }
/** Readings of `run.now()` since the event before, each with the step whose code took it ('' at the top): D3. */
const readings = { clock: maybe(listOf(pairOf(text, amount))) }

const message = open({
  role: optional.text,
  content: anything,
  model: optional.text,
  usage: maybe(usage),
  ...inStep,
})
const tool = { toolCallId: optional.text, name: optional.text, ...inStep }
const memory = open({
  layer: optional.text,
  namespace: optional.text,
  key: optional.text,
  value: anything,
  tags: texts,
  expiresAt: optional.text,
  subjects: texts,
  /** The run in which it was done. */
  runId: optional.text,
  /** Of what is forgotten: the version that was seen, and why. */
  version: optional.count,
  reason: optional.text,
  /** Of what is promoted: where it comes from. */
  from: anything,
})
const task = open({ taskId: optional.text, name: optional.text, dueAt: optional.text, ...inStep })
const call = open({
  callId: optional.text,
  service: optional.text,
  operation: optional.text,
  usage: maybe(usage),
  ...inStep,
})

const TYPES = {
  'execution.message': ['execution.message', message],
  'execution.reasoning': ['execution.message', message],
  'execution.structured_output': [
    'execution.message',
    open({ value: anything, schema: anything, ...inStep }),
  ],
  'execution.tool_call': ['execution.tool_call', open({ ...tool, arguments: anything })],
  'execution.tool_result': ['execution.tool_result', open({ ...tool, result: anything })],
  'execution.tool_error': ['execution.tool_result', open({ ...tool, error: maybe(either(error, text)) })],

  'execution.step_started': [
    'execution.state_change',
    open({
      ...stepIdentity,
      name: text,
      ...calledWith,
      childRunId: optional.text,
      safety: maybe(oneOf('read', 'write', 'destructive', 'external')),
      dueAt: optional.text,
      ...readings,
    }),
  ],
  'execution.step_completed': [
    'execution.state_change',
    open({
      ...stepIdentity,
      output: anything,
      decision: maybeNull(either(text, listOf(text))),
      usage: maybe(usage),
      durationMs: optional.amount,
      cached: optional.flag,
      restored: optional.flag,
      partial: optional.flag,
      redacted: optional.flag,
      sends: anything,
      /** On the completion that ends its superstep. */
      checkpoint: maybe(open(checkpoint)),
      /** With the name of a step that nothing began before: it is the start too, `durationMs` after the call. */
      name: optional.text,
      ...calledWith,
      ...readings,
    }),
  ],
  // `retryInMs` says that another attempt follows; without it the failure is the step's last word.
  'execution.step_failed': [
    'execution.state_change',
    open({ ...stepIdentity, error: maybe(error), retryInMs: optional.amount, ...readings }),
  ],
  /** Left behind by what waited for it, such as the loser of a race (D3). */
  'execution.step_stopped': [
    'execution.state_change',
    open({ ...stepIdentity, reason: optional.text, ...readings }),
  ],
  /** Its process died while it was in flight: this attempt has no outcome, and the next one follows (R10). */
  'execution.step_interrupted': [
    'execution.state_change',
    open({ ...stepIdentity, reason: optional.text, ...readings }),
  ],
  'execution.checkpoint': [
    'execution.state_change',
    open({
      checkpointId: optional.text,
      parentId: maybeNull(text),
      ...checkpoint,
      /** The state begins as that of another run at this event. */
      from: maybe(eventInRun),
      by: optional.text,
      /** The edit counts as what this node wrote, and what its conditional edges then chose. */
      asNode: optional.text,
      decision: maybeNull(either(text, listOf(text))),
    }),
  ],
  'execution.handoff': [
    'execution.state_change',
    open({ from: optional.text, to: optional.text, reason: optional.text, ...inStep }),
  ],
  'execution.memory_written': ['execution.state_change', memory],
  'execution.memory_promoted': ['execution.state_change', memory],
  'execution.memory_forgotten': ['execution.state_change', memory],
  'execution.completed': ['execution.state_change', open({ output: anything, ...readings })],

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
      seed: optional.text,
      structureHash: optional.text,
      /** By node of a graph: what must be the same for its ends to count in a changed graph. */
      signatures: maybe(mapOf(text)),
      clewVersion: optional.text,
      subjects: texts,
      /** The run answers in a stream (T1); its thread is the stream. */
      session: maybe(
        open({
          streamId: text,
          persona: maybeNull(open({ id: text, name: optional.text, avatarUrl: maybeNull(text) })),
          triggerMessageId: maybeNull(text),
          supersedes: maybeNull(text),
        }),
      ),
    }),
  ],
  'system.workflow_resumed': [
    'system.workflow_event',
    open({ reason: optional.text, epoch: optional.count }),
  ],
  // With open questions the run is paused; with nothing but a time to wait for it is pending.
  'system.workflow_paused': [
    'system.workflow_event',
    open({ pauseIds: texts, dueAt: optional.text, ...readings }),
  ],
  'system.workflow_completed': [
    'system.workflow_event',
    /** A map of which some items completed and some failed is `partial`. */
    open({ output: anything, status: maybe(oneOf('partial')) }),
  ],
  'system.workflow_failed': ['system.workflow_event', open({ error: maybe(error), ...readings })],
  'system.workflow_stopped': ['system.workflow_event', open({ reason: optional.text })],
  /** Another run takes its place; what it had done stays readable. */
  'system.workflow_superseded': ['system.workflow_event', open({ by: optional.text })],
  /** Asked by anyone; the owner of the run ends it as stopped. */
  'system.stop_requested': ['system.workflow_event', open({ reason: optional.text, by: optional.text })],
  'system.workflow_interrupted': ['system.workflow_event', open({ reason: optional.text })],
  'system.workflow_forked': [
    'system.workflow_event',
    open({
      sourceRunId: text,
      sourceSeq: integer(1),
      threadId: optional.text,
      atStepId: optional.text,
      agent: optional.text,
      agentVersion: optional.text,
      structureHash: optional.text,
      signatures: maybe(mapOf(text)),
      /** The run that failed, and how often it was tried again, this time included. */
      retryOf: optional.text,
      retryIndex: optional.count,
      by: optional.text,
      edit: anything,
      input: anything,
      /** The source's last checkpoint at or before `sourceSeq`: the fork begins with it. */
      checkpoint: maybe(
        open({ id: text, superstep: count, seq: integer(1), baseSeq: integer(1), createdAt: text }),
      ),
    }),
  ],
  'system.workflow_blocked': [
    'system.workflow_event',
    open({ reason: optional.text, path: optional.text, ...inStep }),
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
  'system.payload_erased': [
    'system.workflow_event',
    open({
      /** What was named: `subject`, `run` or `event`; never which subject. */
      target: optional.text,
      runId: optional.text,
      seqs: maybe(listOf(count)),
      /** Where, in runs: books are not named. */
      ranges: maybe(listOf(open({ runId: text, fromSeq: count, toSeq: count }))),
      events: optional.count,
      runs: optional.count,
      /** How many runs stay because of a hold. */
      kept: optional.count,
      reason: optional.text,
      by: optional.text,
    }),
  ],
  'system.range_pruned': [
    'system.workflow_event',
    open({
      /** Each with `runId`, `fromSeq`, `toSeq` and the `rule` by which it went; where only states in it went, how many. */
      ranges: maybe(
        listOf(
          open({
            runId: text,
            fromSeq: count,
            toSeq: count,
            headHash: optional.text,
            rule: optional.text,
            states: optional.count,
          }),
        ),
      ),
      events: optional.count,
      by: optional.text,
      runId: optional.text,
      fromSeq: optional.count,
      toSeq: optional.count,
      headHash: optional.text,
    }),
  ],
  'system.policy_changed': ['system.workflow_event', open({ policy: anything, by: optional.text })],
  'system.access': [
    'system.workflow_event',
    open({
      action: optional.text,
      by: optional.text,
      target: anything,
      reason: optional.text,
      /** Of a hold that is released. */
      holdId: optional.text,
    }),
  ],
  'system.token_created': [
    'system.workflow_event',
    open({
      tokenId: optional.text,
      name: optional.text,
      digest: optional.text,
      scopes: texts,
      workspace: optional.text,
      expiresAt: optional.text,
      by: optional.text,
    }),
  ],
  'system.token_revoked': ['system.workflow_event', open({ tokenId: optional.text, by: optional.text })],

  'ui.input_requested': [
    'ui.interaction',
    open({
      pauseId: optional.text,
      question: anything,
      options: anything,
      schema: anything,
      timeoutMs: optional.amount,
      dueAt: optional.text,
      /** What counts as the answer when nobody has given one by then. */
      default: anything,
      ...inAttempt,
      ...readings,
    }),
  ],
  'ui.input_received': [
    'ui.interaction',
    open({ pauseId: optional.text, answer: anything, by: optional.text, ...inAttempt }),
  ],
  /** Begins the book of a stream; one with a parent is the thread on a message. */
  'ui.stream_created': [
    'ui.interaction',
    open({
      streamId: text,
      title: maybeNull(text),
      parentStreamId: maybeNull(text),
      parentMessageId: maybeNull(text),
    }),
  ],
  'ui.message_created': [
    'ui.interaction',
    open({
      messageId: optional.text,
      streamId: optional.text,
      author: maybe(open({ type: optional.text, id: optional.text, name: maybeNull(text) })),
      /** Of an agent's message. */
      sessionId: maybeNull(text),
      /** What it rests on: each with `type`, `title`, `url`, `domain`, `snippet`. */
      sources: anything,
      content: anything,
    }),
  ],
  'ui.message_edited': ['ui.interaction', open({ messageId: optional.text, content: anything })],
  'ui.message_deleted': ['ui.interaction', open({ messageId: text })],
  /** In the book of the message's stream: a thread was opened on it. */
  'ui.thread_created': ['ui.interaction', open({ messageId: text, threadStreamId: text })],
  /** In the book of its stream: somebody wants an agent to answer, or to answer again; agents consume it (V9). */
  'ui.session_requested': [
    'ui.interaction',
    open({ sessionId: text, streamId: text, triggerMessageId: maybeNull(text), supersedes: maybeNull(text) }),
  ],
  'ui.output_displayed': ['ui.interaction', open({ content: anything })],

  'integration.call': ['integration.call', call],
  'integration.response': ['integration.call', call],
  'integration.api_called': ['integration.call', call],
} as const satisfies Record<string, readonly [Primitive, Schema<object>]>

export type OwnEventType = keyof typeof TYPES
export type { StateOperation } from './checkpoint-schema.ts'
export type PayloadOf<T extends OwnEventType> = TypeOf<(typeof TYPES)[T][1]>

export const OWN_EVENT_TYPES = Object.keys(TYPES) as OwnEventType[]

export const isOwnEventType = (type: string): type is OwnEventType => Object.hasOwn(TYPES, type)

/** Every event type has exactly one primitive: its own, or that of its prefix. */
export function primitiveOf(type: string): Primitive {
  if (isOwnEventType(type)) return TYPES[type][0]
  if (type.startsWith('execution.')) return 'execution.state_change'
  if (type.startsWith('ui.')) return 'ui.interaction'
  if (type.startsWith('integration.')) return 'integration.call'
  return 'system.workflow_event'
}

/** JSON Schema of each own payload, for documentation and for other languages. */
export function payloadSchemas(): Record<OwnEventType, JsonSchema> {
  const entries = OWN_EVENT_TYPES.map((type) => [type, TYPES[type][1].json])
  return Object.fromEntries(entries) as Record<OwnEventType, JsonSchema>
}

/** Refuses a payload of an own type whose known fields have wrong types: folds rely on them. */
export function assertPayload(type: string, payload: unknown): void {
  if (!isOwnEventType(type)) return
  const fault = TYPES[type][1].check(payload)
  if (!fault) return
  const field = formatPath(fault.path).replace('$', 'payload')
  throw new ClewError(
    'bad_payload',
    `The field ${field} of ${type} is not ${fault.expected}`,
    'Correct it, or use an event type of your own; nothing was written.',
    { field, eventType: type, expected: fault.expected },
  )
}

const LEASED = /^(?:execution\.|system\.(?:workflow_|state_transitioned|task_))/
const UNLEASED: ReadonlySet<string> = new Set([
  'system.workflow_interrupted',
  'system.workflow_superseded',
  'system.workflow_forked',
])

/** R9: execution and life-cycle events of a leased run need the lease's epoch; answers and administration do not. */
export const needsEpoch = (type: string): boolean => LEASED.test(type) && !UNLEASED.has(type)
