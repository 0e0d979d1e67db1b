import { type ChatMessage, type ChatToolCall, dataText } from '../messages/format-messages.ts'
import { toMessageRole } from '../messages/parse-message.ts'
import { contentText, jsonText } from './content-text.ts'
import type { EntryOf, ToolOutcome, Transcript, TranscriptEntry } from './transcript-entry.ts'
import { errorText } from './transcript-text.ts'

const ERASED = '[erased]'

/**
 * V3 as messages that can be sent to a model again: every tool call is followed by its results, in the order of the
 * calls; one without a result says so, since models refuse a call that was never answered.
 */
export function toChatMessages({ entries }: Transcript): ChatMessage[] {
  const said = entries.filter((entry) => entry.kind === 'message')
  // The channel `ui` repeats what the model said: it counts only if nothing else was recorded.
  const channel = said.some((entry) => entry.channel === 'agent') ? 'agent' : 'ui'
  const messages: ChatMessage[] = []
  let group: EntryOf<'tool_call'>[] = []
  // Calls that were made before any of them was answered are one turn of the model.
  let answeredAt = Number.POSITIVE_INFINITY
  let before: EntryOf<'message'> | undefined
  const close = (): void => {
    if (group.length > 0)
      messages.push(...toolTurn(group, joins(before, group[0]) ? messages.pop() : undefined))
    group = []
    answeredAt = Number.POSITIVE_INFINITY
    before = undefined
  }
  for (const entry of entries) {
    if (entry.kind === 'tool_call') {
      if (answeredAt <= entry.seq) close()
      group.push(entry)
      answeredAt = Math.min(answeredAt, entry.outcome?.seq ?? Number.POSITIVE_INFINITY)
    } else if (entry.kind === 'message' && entry.channel === channel) {
      close()
      before = entry
      messages.push(messageOf(entry))
    } else if (entry.kind === 'question') {
      close()
      messages.push(...questionMessages(entry))
    } else if (entry.kind === 'structured_output') {
      close()
      messages.push({ role: 'assistant', content: entry.erased ? ERASED : dataText(entry.value) })
    }
  }
  close()
  return withEnds(messages, entries)
}

/** A message that directly caused a call belongs to the same reply. */
function joins(message: EntryOf<'message'> | undefined, call: EntryOf<'tool_call'> | undefined): boolean {
  if (!message || !call || roleOf(message) !== 'assistant') return false
  if (call.eventId === message.eventId || call.causationId === message.eventId) return true
  return call.stepId !== null && call.stepId === message.stepId
}

const roleOf = ({ role }: EntryOf<'message'>): string => toMessageRole(role) ?? role ?? 'user'

function messageOf(entry: EntryOf<'message'>): ChatMessage {
  const content = entry.erased ? ERASED : entry.content
  const isSendable = content === null || typeof content === 'string' || Array.isArray(content)
  return {
    role: roleOf(entry),
    content: isSendable ? content : jsonText(content),
    ...(entry.name !== null && { name: entry.name }),
  }
}

function toolTurn(group: readonly EntryOf<'tool_call'>[], spoken: ChatMessage | undefined): ChatMessage[] {
  const taken = new Set<string>()
  const calls = group.map((entry) => {
    let id = entry.toolCallId ?? `call_${entry.seq}`
    if (taken.has(id)) id = `${id}_${entry.seq}`
    taken.add(id)
    const text = typeof entry.arguments === 'string' ? entry.arguments : jsonText(entry.arguments ?? {})
    const name = entry.name ?? 'unknown'
    const call: ChatToolCall = {
      id,
      type: 'function',
      function: { name, arguments: entry.erased ? '{}' : text },
    }
    return { call, name, outcome: entry.outcome }
  })
  return [
    { ...(spoken ?? { role: 'assistant', content: null }), tool_calls: calls.map(({ call }) => call) },
    ...calls.map(({ call, name, outcome }) => ({
      role: 'tool',
      tool_call_id: call.id,
      name,
      content: outcomeText(outcome),
    })),
  ]
}

function outcomeText(outcome: ToolOutcome | null): string {
  if (!outcome) return 'No result was recorded.'
  if (outcome.erased) return ERASED
  // A tool that only gave a text back as its error said it in its own words.
  if (outcome.error?.name === null && outcome.error.message !== null) return outcome.error.message
  if (outcome.error) return `Error: ${errorText(outcome.error)}`
  return outcome.result === null ? '' : dataText(outcome.result)
}

function questionMessages({ question, answer, asked, erased }: EntryOf<'question'>): ChatMessage[] {
  const messages: ChatMessage[] = []
  if (asked) messages.push({ role: 'assistant', content: erased ? ERASED : contentText(question) })
  if (answer) messages.push({ role: 'user', content: answer.erased ? ERASED : dataText(answer.value) })
  return messages
}

/** A run that recorded no messages still has what it was asked and what it gave back. */
function withEnds(messages: ChatMessage[], entries: readonly TranscriptEntry[]): ChatMessage[] {
  const start = entries.find((entry) => entry.kind === 'start')
  const ends = entries.filter((entry) => entry.kind === 'end')
  const end = ends.findLast(({ status }) => status !== 'superseded')
  if (start && !start.erased && start.input !== null && !messages.some((message) => message.role === 'user'))
    messages.splice(
      countWhile(messages, ({ role }) => role === 'system'),
      0,
      {
        role: 'user',
        content: dataText(start.input),
      },
    )
  const spoke = messages.some(({ role, tool_calls }) => role === 'assistant' && tool_calls === undefined)
  if (end && !end.erased && end.output !== null && !spoke)
    messages.push({ role: 'assistant', content: dataText(end.output) })
  return messages
}

function countWhile<T>(list: readonly T[], fits: (item: T) => boolean): number {
  const end = list.findIndex((item) => !fits(item))
  return end < 0 ? list.length : end
}
