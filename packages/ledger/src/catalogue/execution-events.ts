import { checkpoint, eventInRun } from './checkpoint-schema.ts'
import { anything, either, integer, listOf, mapOf, maybe, maybeNull, oneOf, open, text } from './schema.ts'
import { count, error, inStep, optional, readings, texts, usage } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

/** Identity of a step (R2): parent, name, and a key or the ordinal of the call; `stepId` combines them. */
const attempt = maybe(integer(1))
const stepIdentity = { stepId: text, attempt }
/** Input of a step. */
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
  childRunId: optional.text,
  /** Safety of an effect as its caller declared it; `undeclared` effects are handled as reads (R10). */
  safety: maybe(oneOf('read', 'write', 'destructive', 'external', 'undeclared')),
}
/** Fields of a step's end. */
const ended = { ...stepIdentity, durationMs: optional.amount, ...readings }
/** The signal that a `receive` took. */
const taken = { signal: maybe(open({ eventId: text, seq: integer(1), name: text })) }
/** A step that was cut off keeps what it had streamed. */
const cutOff = { reason: optional.text, partial: optional.flag, output: anything }

const message = open({
  ...readings,
  role: optional.text,
  content: anything,
  model: optional.text,
  usage: maybe(usage),
  /** As chats of other systems bring them along: who speaks, and to which call a message of a tool belongs. */
  name: anything,
  messageId: anything,
  sessionId: anything,
  toolCallId: anything,
  tool_call_id: anything,
  ...inStep,
})
const tool = {
  toolCallId: optional.text,
  tool_call_id: anything,
  name: optional.text,
  /** Safety of the tool: read, write, destructive or external. */
  safety: anything,
  ...inStep,
}
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
  /** For a deletion: the version that was read, and the reason. */
  version: optional.count,
  /** Seqs of writes of the same item under another form of its name. */
  replaces: maybe(listOf(integer(1))),
  reason: optional.text,
  /** For a promotion: the source item. */
  from: anything,
})

/** Actions of agents: messages, tool calls, steps, memory. */
export const EXECUTION_EVENTS = {
  'execution.message': ['execution.message', message],
  'execution.reasoning': ['execution.message', message],
  'execution.structured_output': [
    'execution.message',
    open({ value: anything, schema: anything, ...inStep, ...readings }),
  ],
  'execution.tool_call': ['execution.tool_call', open({ ...tool, arguments: anything })],
  'execution.tool_result': ['execution.tool_result', open({ ...tool, result: anything, error: anything })],
  'execution.tool_error': ['execution.tool_result', open({ ...tool, error: maybe(either(error, text)) })],

  'execution.step_started': [
    'execution.state_change',
    open({
      ...stepIdentity,
      name: text,
      ...calledWith,
      dueAt: optional.text,
      /** Path of the placeholder that holds a write back: the write is performed only after an answer allows it (R10). */
      redactedInput: optional.text,
      /** The step of a branch would reach outside: it is performed only after an answer allows it (R7). */
      heldInBranch: optional.flag,
      ...readings,
    }),
  ],
  'execution.step_completed': [
    'execution.state_change',
    open({
      ...ended,
      ...taken,
      output: anything,
      decision: maybeNull(either(text, listOf(text))),
      usage: maybe(usage),
      /** The model that was called. */
      model: anything,
      cached: optional.flag,
      restored: optional.flag,
      partial: optional.flag,
      redacted: optional.flag,
      sends: anything,
      /** A node's choice of where to go, which replaces its edges; `ends`: the graph ends here. */
      goto: anything,
      ends: anything,
      /** Cost of the usage: an amount, or an object with `amount` and `currency`. */
      cost: anything,
      /** On the completion that ends its superstep. */
      checkpoint: maybe(open(checkpoint)),
      /** With the name of a step that nothing began before: it is the start too, `durationMs` after the call. */
      name: optional.text,
      ...calledWith,
    }),
  ],
  // `retryInMs` says that another attempt follows; without it the failure is the step's last word.
  'execution.step_failed': [
    'execution.state_change',
    open({
      ...ended,
      ...taken,
      /** Name of the step, if its id does not contain it. */
      name: optional.text,
      error: maybe(error),
      /** Stack trace of the error: the innermost frames. */
      stack: optional.text,
      retryInMs: optional.amount,
    }),
  ],
  /** Left behind by what waited for it, such as the loser of a race (D3). */
  'execution.step_stopped': ['execution.state_change', open({ ...ended, ...cutOff })],
  /** Its process died while it was in flight: this attempt has no outcome, and the next one follows (R10). */
  'execution.step_interrupted': ['execution.state_change', open({ ...ended, ...cutOff })],
  'execution.checkpoint': [
    'execution.state_change',
    open({
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
    open({ from: optional.text, to: optional.text, reason: optional.text, ...inStep, ...readings }),
  ],
  /** A choice of an agent, with its reason. */
  'execution.decision': [
    'execution.state_change',
    open({ choice: anything, reason: optional.text, ...inStep, ...readings }),
  ],
  'execution.memory_written': ['execution.state_change', memory],
  'execution.memory_promoted': ['execution.state_change', memory],
  'execution.memory_forgotten': ['execution.state_change', memory],
  'execution.completed': ['execution.state_change', open({ output: anything, ...readings })],
} as const satisfies EventFamily
