import { z } from 'zod'
import { ClewError } from './errors.ts'

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
const open = <T extends z.core.$ZodLooseShape>(shape: T): z.ZodObject<T, z.core.$loose> =>
  z.looseObject(shape)
const text = z.string()
const count = z.int().min(0)
const optional = { text: text.optional(), count: count.optional(), flag: z.boolean().optional() }
const anything = z.unknown().optional()

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
const attempt = z.int().min(1).optional()
const stepIdentity = { stepId: text, attempt }
const inStep = { stepId: optional.text }
const inAttempt = { stepId: optional.text, attempt }
/** Readings of `run.now()` since the event before, each with the step whose code took it ('' at the top): D3. */
const readings = { clock: z.array(z.tuple([text, z.number()])).optional() }

const message = open({
  role: optional.text,
  content: anything,
  model: optional.text,
  usage: usage.optional(),
  ...inStep,
})
const tool = { toolCallId: optional.text, name: optional.text, ...inStep }
const memory = open({ layer: optional.text, namespace: optional.text, key: optional.text, value: anything })
const task = open({ taskId: optional.text, name: optional.text, dueAt: optional.text, ...inStep })
const call = open({
  callId: optional.text,
  service: optional.text,
  operation: optional.text,
  usage: usage.optional(),
  ...inStep,
})

/** One closed change of a channel's state (L1): folding applies it without knowing any merge rule. */
const stateOperation = z.discriminatedUnion('op', [
  open({ op: z.literal('set'), channel: text, value: z.unknown() }),
  open({ op: z.literal('append'), channel: text, items: z.array(z.unknown()) }),
  open({
    op: z.literal('patch'),
    channel: text,
    set: z.record(text, z.unknown()).optional(),
    remove: z.array(text).optional(),
  }),
  open({ op: z.literal('remove'), channel: text }),
])

const TYPES = {
  'execution.message': ['execution.message', message],
  'execution.reasoning': ['execution.message', message],
  'execution.structured_output': [
    'execution.message',
    open({ value: anything, schema: anything, ...inStep }),
  ],
  'execution.tool_call': ['execution.tool_call', open({ ...tool, arguments: anything })],
  'execution.tool_result': ['execution.tool_result', open({ ...tool, result: anything })],
  'execution.tool_error': ['execution.tool_result', open({ ...tool, error: error.or(text).optional() })],

  'execution.step_started': [
    'execution.state_change',
    open({
      ...stepIdentity,
      name: text,
      parentStepId: text.nullish(),
      key: optional.text,
      ordinal: optional.count,
      kind: optional.text,
      superstep: optional.count,
      index: optional.count,
      inputDigest: optional.text,
      input: anything,
      inputVersions: z.record(text, count).optional(),
      childRunId: optional.text,
      safety: z.enum(['read', 'write', 'destructive', 'external']).optional(),
      ...readings,
    }),
  ],
  'execution.step_completed': [
    'execution.state_change',
    open({
      ...stepIdentity,
      output: anything,
      decision: z.union([text, z.array(text)]).nullish(),
      usage: usage.optional(),
      durationMs: z.number().min(0).optional(),
      cached: optional.flag,
      restored: optional.flag,
      partial: optional.flag,
      redacted: optional.flag,
      ...readings,
    }),
  ],
  // `retryInMs` says that another attempt follows; without it the failure is the step's last word.
  'execution.step_failed': [
    'execution.state_change',
    open({ ...stepIdentity, error: error.optional(), retryInMs: z.number().min(0).optional(), ...readings }),
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
      parentId: text.nullish(),
      superstep: optional.count,
      next: z.array(text).optional(),
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
      input: anything,
      seed: optional.text,
      structureHash: optional.text,
      clewVersion: optional.text,
      subjects: z.array(text).optional(),
    }),
  ],
  'system.workflow_resumed': [
    'system.workflow_event',
    open({ reason: optional.text, epoch: optional.count }),
  ],
  'system.workflow_paused': [
    'system.workflow_event',
    open({ pauseIds: z.array(text).optional(), ...readings }),
  ],
  'system.workflow_completed': ['system.workflow_event', open({ output: anything })],
  'system.workflow_failed': ['system.workflow_event', open({ error: error.optional(), ...readings })],
  'system.workflow_stopped': ['system.workflow_event', open({ reason: optional.text })],
  'system.workflow_interrupted': ['system.workflow_event', open({ reason: optional.text })],
  'system.workflow_forked': [
    'system.workflow_event',
    open({
      sourceRunId: text,
      sourceSeq: z.int().min(1),
      threadId: optional.text,
      atStepId: optional.text,
      input: anything,
    }),
  ],
  'system.workflow_blocked': [
    'system.workflow_event',
    open({ reason: optional.text, path: optional.text, ...inStep }),
  ],
  'system.task_scheduled': ['system.workflow_event', task],
  'system.task_completed': ['system.workflow_event', task],
  'system.state_transitioned': [
    'system.workflow_event',
    open({
      superstep: optional.count,
      write: anything,
      operations: z.array(stateOperation).optional(),
      ...inStep,
    }),
  ],
  'system.payload_erased': [
    'system.workflow_event',
    open({ runId: optional.text, seqs: z.array(count).optional(), reason: optional.text, by: optional.text }),
  ],
  'system.range_pruned': [
    'system.workflow_event',
    open({ runId: optional.text, fromSeq: optional.count, toSeq: optional.count, headHash: optional.text }),
  ],
  'system.policy_changed': ['system.workflow_event', open({ policy: anything, by: optional.text })],
  'system.access': [
    'system.workflow_event',
    open({ action: optional.text, by: optional.text, target: anything }),
  ],

  'ui.input_requested': [
    'ui.interaction',
    open({
      pauseId: text.optional(),
      question: anything,
      options: anything,
      schema: anything,
      timeoutMs: z.number().min(0).optional(),
      ...inAttempt,
      ...readings,
    }),
  ],
  'ui.input_received': [
    'ui.interaction',
    open({ pauseId: text.optional(), answer: anything, by: optional.text, ...inAttempt }),
  ],
  'ui.message_created': [
    'ui.interaction',
    open({ messageId: optional.text, streamId: optional.text, sessionId: optional.text, content: anything }),
  ],
  'ui.message_edited': ['ui.interaction', open({ messageId: optional.text, content: anything })],
  'ui.output_displayed': ['ui.interaction', open({ content: anything })],

  'integration.call': ['integration.call', call],
  'integration.response': ['integration.call', call],
  'integration.api_called': ['integration.call', call],
} as const satisfies Record<string, readonly [Primitive, z.ZodType]>

export type OwnEventType = keyof typeof TYPES
export type PayloadOf<T extends OwnEventType> = z.input<(typeof TYPES)[T][1]>
export type StateOperation = z.infer<typeof stateOperation>

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
export function payloadSchemas(): Record<OwnEventType, unknown> {
  const entries = OWN_EVENT_TYPES.map((type) => [type, z.toJSONSchema(TYPES[type][1], { io: 'input' })])
  return Object.fromEntries(entries) as Record<OwnEventType, unknown>
}

/** Refuses a payload of an own type whose known fields have wrong types: folds rely on them. */
export function assertPayload(type: string, payload: unknown): void {
  if (!isOwnEventType(type)) return
  const result = TYPES[type][1].safeParse(payload)
  if (result.success) return
  const issue = result.error.issues[0] as z.core.$ZodIssue
  const field = ['payload', ...issue.path].join('.')
  throw new ClewError(
    'bad_payload',
    `The field ${field} of ${type} does not fit: ${issue.message}`,
    'Correct it, or use an event type of your own; nothing was written.',
    { field, eventType: type },
  )
}

const LEASED = /^(?:execution\.(?:step_|checkpoint|completed)|system\.(?:workflow_|state_transitioned|task_))/
const UNLEASED: ReadonlySet<string> = new Set(['system.workflow_interrupted', 'system.workflow_forked'])

/** R9: execution and life-cycle events of a leased run need the lease's epoch; answers and administration do not. */
export const needsEpoch = (type: string): boolean => LEASED.test(type) && !UNLEASED.has(type)
