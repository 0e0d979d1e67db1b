import {
  asErasable,
  beginsStep,
  type ClewEvent,
  type ErasableEvent,
  type JsonObject,
  type JsonValue,
} from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'
import { type AgUiEvent, isKept } from './ag-ui-event.ts'
import { createKnownMessages } from './known-messages.ts'
import { createStateWriter } from './write-state.ts'

export interface ToAgUiOptions {
  /** Thread of a run that names none. AG-UI requires one; without this it is the id of the run. */
  readonly threadId?: string | undefined
  /** State that the run began with, if it continues another run. */
  readonly state?: Readonly<Record<string, unknown>> | undefined
  /** Messages that the reader has, as its `RunAgentInput` lists them: they are not sent again. */
  readonly messages?: readonly JsonObject[] | undefined
}

/** Translates a run to AG-UI, event by event. */
export interface AgUiStream {
  /** AG-UI events for this one; none if AG-UI has no counterpart, or the run has ended. */
  push(event: ClewEvent): AgUiEvent[]
}

const MESSAGE_ROLES: ReadonlySet<string> = new Set(['developer', 'system', 'assistant', 'user'])
const STEP_ENDS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])
/** Not translated: other events say the same, or a viewer has no use for it. */
const SILENT: ReadonlySet<string> = new Set([
  'execution.completed',
  'execution.checkpoint',
  'system.state_transitioned',
  'system.otel.source',
  'ui.input_received',
])

export function createAgUiStream(options: ToAgUiOptions = {}): AgUiStream {
  const state = createStateWriter(options.state)
  /** Name of each open step, as it was announced. */
  const steps = new Map<string, string>()
  const questions = new Map<string, JsonObject>()
  const known = createKnownMessages(options.messages ?? [], textOf)
  let threadId = options.threadId
  let phase: 'before' | 'running' | 'over' = 'before'
  let out: AgUiEvent[] = []

  const tell = (type: string, fields: JsonObject = {}): void => void out.push({ type, ...fields })

  function begin({ correlationId, payload, eventType }: ClewEvent): void {
    threadId = plainText(payload['threadId']) ?? threadId ?? correlationId
    const { parentRunId, input } = payload
    phase = 'running'
    const isOwn = eventType === 'system.workflow_started'
    tell('RUN_STARTED', {
      ...(isOwn && extrasOf(payload)),
      threadId,
      runId: correlationId,
      ...(isOwn && typeof parentRunId === 'string' && { parentRunId }),
      // Only an input that came from AG-UI has the form that AG-UI requires there.
      ...(isOwn && isRunInput(input) && { input: withoutKnown(input) }),
    })
    state.begin(tell)
  }

  /** Clients add the messages of an input to their own. */
  function withoutKnown(input: RunInput): JsonObject {
    const messages = input.messages.filter((message) => {
      if (!isObject(message)) return true
      const id = plainText(message['id'])
      const isKnown = known.has({
        id,
        role: plainText(message['role']) ?? '',
        text: textOf(message['content']),
      })
      if (id !== undefined) known.add(id)
      return !isKnown
    })
    return { ...input, messages }
  }

  function end(event: ErasableEvent, type: string, fields: JsonObject): void {
    for (const stepName of [...steps.values()].toReversed()) tell('STEP_FINISHED', { stepName })
    steps.clear()
    const place = { threadId: threadId ?? event.correlationId, runId: event.correlationId }
    tell(type, { ...extrasOf(event.payload), ...(type !== 'RUN_ERROR' && place), ...fields })
    phase = 'over'
  }

  function step(event: ErasableEvent<StepType>): void {
    const { payload, eventType } = event
    const { stepId } = payload
    const isBeginning = eventType === 'execution.step_started' || eventType === 'execution.step_completed'
    const { kind, name = stepId } = isBeginning ? payload : {}
    // A tool step is sent as a tool call.
    if (stepId === undefined || name === undefined || (kind === 'tool' && beginsStep(event))) return
    if (!steps.has(stepId) && beginsStep(event)) {
      // AG-UI cannot distinguish two open steps of one name.
      const stepName = steps.values().some((open) => open === name) ? stepId : name
      steps.set(stepId, stepName)
      tell('STEP_STARTED', { ...extrasOf(payload), stepName })
    }
    const stepName = steps.get(stepId)
    if (!STEP_ENDS.has(eventType) || stepName === undefined) return
    steps.delete(stepId)
    tell('STEP_FINISHED', { stepName })
  }

  function message({ eventId, payload }: ErasableEvent<'execution.message'>): void {
    const { role = 'assistant' } = payload
    const delta = textOf(payload.content)
    const messageId = plainText(payload.messageId) ?? eventId
    if (delta === '' && payload.messageId === undefined) return
    if (known.has({ id: plainText(payload.messageId), role, text: delta })) return
    const name = plainText(payload.name)
    tell('TEXT_MESSAGE_START', {
      ...extrasOf(payload),
      messageId,
      role: MESSAGE_ROLES.has(role) ? role : 'assistant',
      ...(name !== undefined && { name }),
    })
    if (delta !== '') tell('TEXT_MESSAGE_CONTENT', { messageId, delta })
    tell('TEXT_MESSAGE_END', { messageId })
  }

  function reasoning({ eventId, payload }: ErasableEvent<'execution.reasoning'>): void {
    const messageId = plainText(payload.messageId) ?? eventId
    const delta = textOf(payload.content)
    tell('REASONING_START', { messageId })
    tell('REASONING_MESSAGE_START', { messageId, role: 'reasoning' })
    if (delta !== '') tell('REASONING_MESSAGE_CONTENT', { messageId, delta })
    tell('REASONING_MESSAGE_END', { messageId })
    tell('REASONING_END', { messageId })
  }

  function call({ eventId, payload }: ErasableEvent<'execution.tool_call'>): void {
    const { toolCallId = eventId, name = 'tool', arguments: given } = payload
    tell('TOOL_CALL_START', { ...extrasOf(payload), toolCallId, toolCallName: name })
    const { argumentsText } = fieldsOf(payload)
    const delta =
      typeof argumentsText === 'string'
        ? argumentsText
        : given === undefined
          ? ''
          : (JSON.stringify(given) ?? '')
    if (delta !== '') tell('TOOL_CALL_ARGS', { toolCallId, delta })
    tell('TOOL_CALL_END', { toolCallId })
  }

  function result(event: ErasableEvent<'execution.tool_result' | 'execution.tool_error'>): void {
    const { eventId, causationId, payload } = event
    const { error } = payload
    const failed = event.eventType === 'execution.tool_error'
    const content = failed ? (isObject(error) ? error['message'] : error) : event.payload.result
    tell('TOOL_CALL_RESULT', {
      ...extrasOf(payload),
      messageId: plainText(fieldsOf(payload).messageId) ?? eventId,
      toolCallId: payload.toolCallId ?? causationId ?? eventId,
      content: textOf(content),
      role: 'tool',
    })
  }

  function ask({ eventId, payload }: ErasableEvent<'ui.input_requested'>): void {
    const { pauseId: id = eventId, question, schema, options: choices } = payload
    const { interrupt } = fieldsOf(payload)
    const told = {
      id,
      reason: 'input_required',
      message: textOf(question),
      ...(schema !== undefined && { responseSchema: schema as JsonValue }),
      ...(choices !== undefined && { metadata: { options: choices as JsonValue } }),
    }
    questions.set(id, isObject(interrupt) ? interrupt : told)
  }

  function pause(event: ErasableEvent<'system.workflow_paused'>): void {
    // A sleeping run has no question and continues by itself.
    if (questions.size === 0) return
    end(event, 'RUN_FINISHED', { outcome: { type: 'interrupt', interrupts: [...questions.values()] } })
  }

  /** Translates events that AG-UI has no type for. */
  function custom({ eventType, payload }: Pick<ClewEvent<string, object>, 'eventType' | 'payload'>): void {
    if (!SILENT.has(eventType)) tell('CUSTOM', { name: eventType, value: payload as JsonObject })
  }

  function translate(event: ErasableEvent): void {
    switch (event.eventType) {
      case 'execution.message':
        return message(event)
      case 'execution.reasoning':
        return reasoning(event)
      case 'execution.tool_call':
        return call(event)
      case 'execution.tool_result':
      case 'execution.tool_error':
        return result(event)
      case 'ui.input_requested':
        return ask(event)
      case 'system.workflow_started':
      case 'system.workflow_resumed':
      case 'system.workflow_forked':
        return
      case 'system.workflow_paused':
        return pause(event)
      case 'system.workflow_completed': {
        const { output } = event.payload
        const outcome = { type: 'success' }
        return end(event, 'RUN_FINISHED', {
          ...(output !== undefined && { result: output as JsonValue }),
          outcome,
        })
      }
      case 'system.workflow_stopped':
        return end(event, 'RUN_FINISHED', { outcome: { type: 'cancelled' } })
      case 'system.workflow_failed':
        return end(event, 'RUN_ERROR', errorOf(event.payload.error, 'the run failed'))
      case 'system.workflow_interrupted':
      case 'system.workflow_blocked': {
        const code = event.eventType.slice('system.workflow_'.length)
        return end(event, 'RUN_ERROR', { message: event.payload.reason ?? code, code })
      }
      case 'execution.step_started':
      case 'execution.step_completed':
      case 'execution.step_failed':
      case 'execution.step_stopped':
      case 'execution.step_interrupted':
        return step(event)
      default:
        custom(event)
    }
  }

  return {
    push(event) {
      out = []
      const { eventType, payload } = event
      const isStart = /^system\.workflow_(?:started|resumed|forked)$/.test(eventType)
      if (phase === 'over' && !isStart) {
        if (eventType === 'ui.input_received') questions.delete(String(payload.pauseId))
        return out
      }
      if (phase !== 'running') begin(event)
      if (eventType === 'ui.input_received') questions.delete(String(payload.pauseId))
      const own = asErasable(event)
      if (isKept(eventType) && isObject(payload.event)) out.push(payload.event as AgUiEvent)
      else if (own) translate(own)
      else if (!eventType.startsWith('execution.step_')) custom(event)
      state.apply(event, tell)
      const timestamp = Date.parse(event.timestamp)
      return Number.isNaN(timestamp) ? out : out.map((told) => ({ ...told, timestamp }))
    },
  }
}

/** A whole run at once. */
export function toAgUiEvents(events: Iterable<ClewEvent>, options: ToAgUiOptions = {}): AgUiEvent[] {
  const stream = createAgUiStream(options)
  const told: AgUiEvent[] = []
  for (const event of events) told.push(...stream.push(event))
  return told
}

type StepType = `execution.step_${'started' | 'completed' | 'failed' | 'stopped' | 'interrupted'}`

/** Further fields of a payload, as `fromAgUi` and others put them there. */
const fieldsOf = (payload: object): Readonly<Record<string, unknown>> => payload as Record<string, unknown>

/** Fields of the AG-UI event that an event was made from and that have no counterpart here. */
function extrasOf(payload: object): JsonObject {
  const { agUi } = fieldsOf(payload)
  if (!isObject(agUi)) return {}
  const { type: _, ...extras } = agUi
  return extras
}

interface RunInput extends JsonObject {
  readonly messages: JsonValue[]
}

const isRunInput = (input: unknown): input is RunInput =>
  isObject(input) && typeof input['threadId'] === 'string' && Array.isArray(input['messages'])

function errorOf(error: unknown, otherwise: string): JsonObject {
  const found = isObject(error) ? error : {}
  const code = plainText(found['code'])
  return {
    message: plainText(found['message']) ?? plainText(error) ?? otherwise,
    ...(code !== undefined && { code }),
  }
}

/** Text of a content: plain, or that of its parts; anything else as JSON. */
function textOf(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (Array.isArray(content) && content.every((part) => isObject(part) && typeof part['text'] === 'string'))
    return content.map((part) => (part as { text: string }).text).join('\n')
  return JSON.stringify(content) ?? ''
}
