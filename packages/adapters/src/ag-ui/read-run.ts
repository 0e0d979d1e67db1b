import type { JsonObject } from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'
import { USAGE_FIELDS } from './ag-ui-event.ts'
import { listOf, type Native, others } from './native.ts'
import { interruptSteps } from './read-steps.ts'
import { closeTexts, tellResult } from './read-texts.ts'
import type { MapperState } from './mapper-state.ts'

export function startRun({ scene, event }: Native): void {
  const input = event['input']
  const parent = plainText(event['parentRunId'])
  const started = scene.add({
    type: 'system.workflow_started',
    key: ['started', scene.nth('start')],
    origin: 'agent',
    payload: {
      ...(scene.agent !== undefined && { agent: scene.agent }),
      ...(scene.threadId !== undefined && { threadId: scene.threadId }),
      ...(parent !== undefined && { parentRunId: parent }),
      ...(input !== undefined && { input }),
      ...others(event, 'threadId', 'runId', 'parentRunId', 'input'),
    },
  })
  if (!isObject(input)) return
  for (const [nth, entry] of listOf(input['resume']).entries()) tellAnswer(scene, entry, nth)
  const messages = listOf(input['messages'])
  const last = messages.findLastIndex((message) => message['role'] === 'assistant')
  // The history comes with every run; what no answer has seen yet is what this run is about.
  for (const message of messages.slice(last + 1)) {
    const role = plainText(message['role']) ?? 'user'
    if (role === 'tool') {
      tellResult(scene, message, plainText(message['toolCallId']), [
        'given',
        plainText(message['id']) ?? '',
        scene.nth('given'),
      ])
      continue
    }
    const messageId = plainText(message['id'])
    const eventId = scene.add({
      type: 'execution.message',
      key: ['asked', messageId ?? '', scene.nth('asked')],
      origin: role === 'user' ? 'ui' : 'system',
      cause: started,
      payload: {
        role,
        content: message['content'] ?? null,
        ...(messageId !== undefined && { messageId }),
        ...others(message, 'id', 'role', 'content'),
      },
    })
    if (messageId !== undefined) scene.messages.set(messageId, eventId)
  }
}

function tellAnswer(scene: MapperState, entry: JsonObject, nth: number): void {
  const pauseId = plainText(entry['interruptId'])
  scene.add({
    type: 'ui.input_received',
    key: ['answer', pauseId ?? '', nth],
    origin: 'ui',
    cause: scene.questions.get(pauseId ?? '') ?? scene.last,
    payload: {
      ...(pauseId !== undefined && { pauseId }),
      answer: entry['payload'] ?? null,
      ...others(entry, 'interruptId', 'payload'),
    },
  })
  scene.questions.delete(pauseId ?? '')
}

export function finishRun({ scene, event }: Native): void {
  const outcome = isObject(event['outcome']) ? event['outcome'] : { type: event['outcome'] ?? 'success' }
  const kind = outcome['type']
  closeAll(scene, 'the run ended before it did')
  tellUsage({ scene, event })
  const more = others(event, 'threadId', 'runId', 'result', 'outcome', 'usage')
  const key = ['finished', scene.nth('end')]
  if (kind === 'interrupt') {
    const asked = listOf(outcome['interrupts'] ?? event['interrupts'])
    for (const [nth, interrupt] of asked.entries()) ask(scene, interrupt, nth)
    const pauseIds = [...scene.questions.keys()]
    scene.add({ type: 'system.workflow_paused', key, origin: 'agent', payload: { pauseIds, ...more } })
  } else if (kind === 'cancelled')
    scene.add({ type: 'system.workflow_stopped', key, origin: 'agent', payload: more })
  else {
    const pending = outcome['pendingToolCallIds']
    scene.add({
      type: 'system.workflow_completed',
      key,
      origin: 'agent',
      payload: {
        ...(event['result'] !== undefined && { output: event['result'] }),
        ...(pending !== undefined && { pendingToolCallIds: pending }),
        ...more,
      },
    })
  }
  scene.ended = true
}

function ask(scene: MapperState, interrupt: JsonObject, nth: number): void {
  const pauseId = plainText(interrupt['id']) ?? `${scene.runId}:${nth}`
  const { message, reason, responseSchema } = interrupt
  const eventId = scene.add({
    type: 'ui.input_requested',
    key: ['question', pauseId, nth],
    origin: 'agent',
    payload: {
      pauseId,
      question: message ?? reason ?? null,
      ...(responseSchema !== undefined && { schema: responseSchema }),
      interrupt,
    },
  })
  scene.questions.set(pauseId, eventId)
}

/** Records the usage of the run per model. */
function tellUsage({ scene, event }: Native): void {
  for (const [nth, told] of listOf(event['usage']).entries()) {
    const usage: JsonObject = {}
    for (const [name, own] of Object.entries(USAGE_FIELDS)) {
      const count = told[name]
      if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) usage[own] = count
    }
    const { model, provider } = told
    scene.draft.add({
      type: 'integration.response',
      key: ['usage', scene.nth(`usage ${nth}`), nth],
      origin: 'integration',
      cause: scene.last,
      payload: {
        operation: 'chat',
        ...(typeof model === 'string' && { model }),
        ...(typeof provider === 'string' && { provider }),
        usage,
      },
    })
  }
}

export function failRun({ scene, event }: Native): void {
  closeAll(scene, 'the run failed')
  tellUsage({ scene, event })
  const code = plainText(event['code'])
  scene.add({
    type: 'system.workflow_failed',
    key: ['failed', scene.nth('end')],
    origin: 'agent',
    payload: {
      error: {
        message: plainText(event['message']) ?? 'the run failed',
        ...(code !== undefined && { code }),
      },
      ...others(event, 'message', 'code', 'usage'),
    },
  })
  scene.ended = true
}

/** Closes all open messages, calls and steps when the run or the stream ends. */
export function closeAll(scene: MapperState, reason: string): void {
  closeTexts(scene)
  interruptSteps(scene, reason)
}
