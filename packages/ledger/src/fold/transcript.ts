import { asErasable, type ErasableEvent, type OwnEventType } from '../catalogue/catalogue.ts'
import { createConversation } from './conversation.ts'
import { isErased, textOf } from './fields.ts'
import type { Fold } from './fold.ts'
import { createHappenedOrder, type HappenedOrder, isExported, type Moment } from './happened-order.ts'
import { createPairing } from './pairing.ts'
import { isInstruction, placeInstructions } from './place-instructions.ts'
import { placeReasoning } from './place-reasoning.ts'
import { applyProgress, beginProgress } from './run-progress.ts'
import { toRunError } from './run-summary.ts'
import { pauseTie, toolCallIdOf, toolPairKey } from './pair-keys.ts'
import { addChannelMessages } from './transcript-channels.ts'
import { addEffect, failEffect, noteSpoken } from './transcript-effects.ts'
import { addParsedMessage } from './transcript-messages.ts'
import { saidWithCalls } from './count-messages.ts'
import type {
  EntryKind,
  EntryKinds,
  HumanAnswer,
  ToolOutcome,
  Transcript,
  TranscriptEntry,
} from './transcript-entry.ts'
import { entryOf, type TranscriptState } from './transcript-state.ts'

/** `types`: the only event types that add or change entries; others need not be read for them. */
export const transcriptFold: Fold<TranscriptState, Transcript> & { readonly types: readonly OwnEventType[] } =
  {
    name: 'transcript',
    version: 7,
    types: [
      'system.workflow_started',
      'system.workflow_paused',
      'system.workflow_resumed',
      'system.workflow_interrupted',
      'system.workflow_blocked',
      'system.workflow_forked',
      'system.workflow_completed',
      'system.workflow_failed',
      'system.workflow_stopped',
      'system.workflow_superseded',
      'execution.message',
      'execution.reasoning',
      'execution.tool_call',
      'execution.tool_result',
      'execution.tool_error',
      'execution.structured_output',
      'execution.handoff',
      'execution.decision',
      'execution.completed',
      'execution.step_started',
      'execution.step_completed',
      'execution.step_failed',
      'execution.checkpoint',
      'system.state_transitioned',
      'ui.message_created',
      'ui.message_edited',
      'ui.output_displayed',
      'ui.input_requested',
      'ui.input_received',
    ],
    begin: () => ({
      progress: beginProgress(),
      entries: [],
      tools: createPairing(),
      questions: createPairing(),
      messages: new Map(),
      childRuns: new Set(),
      effects: new Map(),
      spoken: new Set(),
      conversation: createConversation(),
      openCalls: new Map(),
      modelCalls: new Map(),
      written: new Map(),
      completed: undefined,
      happened: undefined,
      moments: [],
      instructions: [],
      otherEvents: 0,
    }),
    apply(state, event) {
      applyProgress(state.progress, event)
      if (state.happened === undefined) state.happened = isExported(event) ? createHappenedOrder() : null
      const moment = state.happened?.note(event)
      const own = asErasable(event)
      if (own) noteSpoken(state, own)
      const isMessages = own !== undefined && addChannelMessages(state, own)
      if (!own || (!addEntry(state, own) && !isMessages)) state.otherEvents++
      if (moment) {
        for (let slot = state.moments.length; slot < state.entries.length; slot++) {
          if (isInstruction(state.entries[slot])) state.instructions.push(slot)
          state.moments.push(moment)
        }
        placeInstructions(state, event, moment)
      }
      return state
    },
    view(state) {
      const { runId, agent, status, startedAt, endedAt } = state.progress
      const present = state.happened ? byMoment(state, state.happened) : bySeq(state.entries)
      return {
        runId,
        agent,
        status,
        startedAt,
        endedAt,
        entries: placeReasoning(withoutTwice(present)),
        otherEvents: state.otherEvents,
      }
    },
  }

const bySeq = (entries: TranscriptState['entries']): TranscriptEntry[] =>
  entries.filter((entry) => entry !== undefined).sort((a, b) => a.seq - b.seq)

/** Entries of an exported run. An interruption was a guess: once more of the run has come, it is not shown. */
function byMoment(
  { entries, moments, progress }: TranscriptState,
  happened: HappenedOrder,
): TranscriptEntry[] {
  const compare = happened.compare()
  const timed: { entry: TranscriptEntry; moment: Moment }[] = []
  for (const [slot, entry] of entries.entries()) {
    const moment = moments[slot]
    if (!entry || !moment) continue
    const isGuess = entry.kind === 'status' && entry.status === 'interrupted'
    if (!isGuess || progress.status === 'interrupted') timed.push({ entry, moment })
  }
  return timed.sort((a, b) => compare(a.moment, b.moment)).map(({ entry }) => entry)
}

/** A step that failed because its tool failed is shown once, by the tool. */
function withoutTwice(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const told = new Set<string | null>()
  for (const entry of entries)
    if (entry.kind === 'tool_call' && entry.outcome?.error) told.add(entry.performedBy ?? entry.stepId)
  return entries.filter(
    (entry) => entry.kind !== 'failure' || entry.stepId === null || !told.has(entry.stepId),
  )
}

/** False when the event has no place in a conversation. */
function addEntry(state: TranscriptState, event: ErasableEvent): boolean {
  const add = <K extends EntryKind>(kind: K, fields: EntryKinds[K]): true => {
    state.entries.push(entryOf(event, kind, fields))
    return true
  }
  switch (event.eventType) {
    case 'system.workflow_started': {
      const { agent = null, input = null, parentRunId = null } = event.payload
      return add('start', { agent, input, parentRunId })
    }
    case 'execution.message':
      return addMessage(state, event, 'agent')
    case 'ui.message_created':
    case 'ui.output_displayed':
      return addMessage(state, event, 'ui')
    case 'ui.message_edited':
      return editMessage(state, event)
    case 'execution.reasoning':
      return add('reasoning', { content: event.payload.content ?? null, about: null })
    case 'execution.tool_call':
      return addCall(state, event)
    case 'execution.tool_result':
    case 'execution.tool_error':
      return addOutcome(state, event)
    case 'execution.structured_output':
      return add('structured_output', { value: event.payload.value ?? null })
    case 'execution.handoff': {
      // An agent that says it itself need not name itself.
      const { from = state.progress.agent, to = null, reason = null } = event.payload
      return add('handoff', { from, to, reason })
    }
    case 'execution.decision': {
      const { choice = null, reason = null } = event.payload
      return add('decision', { choice, reason })
    }
    case 'execution.step_started':
    case 'execution.step_completed': {
      const { childRunId, name = null } = event.payload
      if (childRunId === undefined) return addEffect(state, event)
      if (state.childRuns.has(childRunId)) return false
      state.childRuns.add(childRunId)
      return add('child_run', { childRunId, name })
    }
    case 'execution.step_failed':
      failEffect(state, event)
      return add('failure', {
        name: nameOfStep(state, event.payload.stepId),
        attempt: event.payload.attempt ?? 1,
        error: toRunError(event.payload.error),
        retried: event.payload.retryInMs !== undefined,
      })
    case 'ui.input_requested':
      return addQuestion(state, event)
    case 'ui.input_received':
      return addAnswer(state, event)
    case 'system.workflow_paused':
      return add('status', { status: 'paused', reason: null })
    case 'system.workflow_resumed':
      return add('status', { status: 'resumed', reason: event.payload.reason ?? null })
    case 'system.workflow_interrupted':
      return add('status', { status: 'interrupted', reason: event.payload.reason ?? null })
    case 'system.workflow_blocked':
      return add('status', { status: 'blocked', reason: event.payload.reason ?? null })
    case 'system.workflow_forked':
      return add('status', {
        status: 'forked',
        reason: `from ${event.payload.sourceRunId ?? '?'} after seq ${event.payload.sourceSeq ?? 0}`,
      })
    case 'execution.completed':
    case 'system.workflow_completed':
      return addCompleted(state, event)
    case 'system.workflow_failed':
      return add('end', {
        status: 'failed',
        output: null,
        error: toRunError(event.payload.error),
        reason: null,
      })
    case 'system.workflow_stopped':
      return add('end', {
        status: 'stopped',
        output: null,
        error: null,
        reason: event.payload.reason ?? null,
      })
    case 'system.workflow_superseded': {
      const { by } = event.payload
      const reason = by === undefined ? null : `by ${by}`
      return add('end', { status: 'superseded', output: null, error: null, reason })
    }
    default:
      return false
  }
}

function addCompleted(
  state: TranscriptState,
  event: ErasableEvent<'execution.completed' | 'system.workflow_completed'>,
): boolean {
  const { entries } = state
  const told = state.completed === undefined ? undefined : entries[state.completed]
  const before = told?.kind === 'end' ? told.output : null
  if (state.completed !== undefined) entries[state.completed] = undefined
  state.completed = event.eventType === 'execution.completed' ? entries.length : undefined
  const output = event.payload.output ?? before
  entries.push(entryOf(event, 'end', { status: 'completed', output, error: null, reason: null }))
  return true
}

/** Ids of our own steps hold the name; those of spans do not. */
const nameOfStep = ({ happened }: TranscriptState, stepId: string | undefined): string | null =>
  stepId === undefined ? null : (happened?.nameOf(stepId) ?? stepId)

type MessageEvent = ErasableEvent<
  'execution.message' | 'ui.message_created' | 'ui.message_edited' | 'ui.output_displayed'
>

function addMessage(state: TranscriptState, event: MessageEvent, channel: 'agent' | 'ui'): boolean {
  const { payload, source } = event
  const role = textOf(payload.role)
  if (event.eventType === 'execution.message' && addSaid(state, event)) return true
  // Chats kept in their provider's form carry tool results as messages.
  if (event.eventType === 'execution.message' && role === 'tool' && toolCallIdOf(event) !== null)
    return addOutcome(state, event, payload.content)
  const byOrigin = source.origin === 'agent' ? 'assistant' : source.origin === 'ui' ? 'user' : null
  const shown =
    event.eventType === 'ui.output_displayed' ||
    (event.eventType !== 'ui.message_edited' && typeof event.payload.sessionId === 'string')
  const messageId = textOf(payload.messageId)
  if (messageId !== null) state.messages.set(messageId, state.entries.length)
  state.entries.push(
    entryOf(event, 'message', {
      role: role ?? (channel === 'ui' && shown ? 'assistant' : byOrigin),
      name: textOf(payload.name),
      content: payload.content ?? null,
      model: textOf(payload.model),
      messageId,
      edited: false,
      channel,
    }),
  )
  return true
}

/** A message that an agent of ours says may hold tool calls, or the result of one; other recorders tell those as events. */
function addSaid(state: TranscriptState, event: ErasableEvent<'execution.message'>): boolean {
  const said = saidWithCalls(event)
  if (!said) return false
  const { toolCalls, toolResults } = said
  const isCalled = toolResults.some(
    ({ toolCallId }) => state.conversation.find(`call ${toolCallId}`) !== undefined,
  )
  if (toolCalls.length === 0 && !isCalled) return false
  addParsedMessage(state, event, said, 'event')
  return true
}

function editMessage(state: TranscriptState, event: ErasableEvent<'ui.message_edited'>): boolean {
  const slot = state.messages.get(event.payload.messageId ?? '')
  const before = slot === undefined ? undefined : state.entries[slot]
  if (slot === undefined || before?.kind !== 'message') return addMessage(state, event, 'ui')
  state.entries[slot] = { ...before, content: event.payload.content ?? null, edited: true }
  return true
}

function addCall(state: TranscriptState, event: ErasableEvent<'execution.tool_call'>): boolean {
  const { entries, tools } = state
  const early = tools.ask(toolPairKey(event, true), entries.length)
  if (early) entries[early.slot] = undefined
  entries.push(
    entryOf(event, 'tool_call', {
      toolCallId: toolCallIdOf(event),
      name: event.payload.name ?? null,
      arguments: event.payload.arguments ?? null,
      called: true,
      performedBy: null,
      outcome: early?.outcome ?? null,
    }),
  )
  return true
}

function addOutcome(
  state: TranscriptState,
  event: ErasableEvent<'execution.message' | 'execution.tool_result' | 'execution.tool_error'>,
  content?: unknown,
): boolean {
  const outcome: ToolOutcome = {
    seq: event.ledger.seq,
    at: event.timestamp,
    result: content ?? (event.eventType === 'execution.tool_result' ? event.payload.result : null) ?? null,
    error: event.eventType === 'execution.tool_error' ? toRunError(event.payload.error) : null,
    erased: isErased(event),
  }
  const slot = state.tools.answer(toolPairKey(event, false), { slot: state.entries.length, outcome })
  const call = slot === undefined ? undefined : state.entries[slot]
  if (slot !== undefined && call?.kind === 'tool_call') state.entries[slot] = { ...call, outcome }
  else {
    const name = textOf(event.payload.name)
    const toolCallId = toolCallIdOf(event)
    const fields = { toolCallId, name, arguments: null, called: false, performedBy: null, outcome }
    state.entries.push(entryOf(event, 'tool_call', fields))
  }
  return true
}

function addQuestion(state: TranscriptState, event: ErasableEvent<'ui.input_requested'>): boolean {
  const { pauseId = null, question = null, options = null } = event.payload
  const early = state.questions.ask(pauseTie(event, true), state.entries.length)
  if (early) state.entries[early.slot] = undefined
  state.entries.push(
    entryOf(event, 'question', {
      pauseId,
      question,
      options,
      asked: true,
      answer: early?.outcome ?? null,
    }),
  )
  return true
}

function addAnswer(state: TranscriptState, event: ErasableEvent<'ui.input_received'>): boolean {
  const { answer: value = null, by = null, pauseId = null } = event.payload
  const answer: HumanAnswer = {
    seq: event.ledger.seq,
    at: event.timestamp,
    value,
    by,
    erased: isErased(event),
  }
  const slot = state.questions.answer(pauseTie(event, false), { slot: state.entries.length, outcome: answer })
  const asked = slot === undefined ? undefined : state.entries[slot]
  if (slot !== undefined && asked?.kind === 'question') state.entries[slot] = { ...asked, answer }
  else
    state.entries.push(
      entryOf(event, 'question', { pauseId, question: null, options: null, asked: false, answer }),
    )
  return true
}
