import type { ClewEvent } from '../event/envelope.ts'
import { isObject } from '../json.ts'
import { SEARCH_FIELDS, type SearchDocument, type SearchField } from './search-index.ts'
import { indexText } from './tokens.ts'

/** Raised when the same event would give other words: an index of an older version is made again. */
export const SEARCH_VERSION = 1

/**
 * A prompt that is sent whole with every call would be indexed again and again, so of one field this much is taken,
 * the newest items of a list first: what was cut off came in with the events before.
 */
const MAX_CHARS = 16_384
const MAX_PARTS = 4096

const NAMES: ReadonlySet<string> = new Set(['name', 'agent', 'service', 'operation', 'from', 'to', 'taskId'])
const ERRORS: ReadonlySet<string> = new Set(['error', 'reason'])
const MESSAGES: ReadonlySet<string> = new Set(['content', 'question', 'answer', 'options'])
/** Ids, digests and counters: they are asked for by filters and commands, not searched for. */
const SKIPPED: ReadonlySet<string> = new Set(
  [
    'stepId parentStepId parentRunId childRunId threadId streamId sessionId messageId toolCallId callId pauseId pauseIds',
    'checkpointId parentId inputDigest inputVersions structureHash headHash seed clewVersion clock usage cost durationMs',
    'attempt ordinal index superstep signatures sourceRunId sourceSeq schema role kind cached restored partial redacted',
  ]
    .join(' ')
    .split(' '),
)

/** The searched texts of an event as they were recorded: what highlights are cut from. */
export function searchedText({ payload }: Pick<ClewEvent, 'payload'>): Record<SearchField, string> {
  const parts: Record<SearchField, string[]> = { name: [], error: [], message: [], data: [] }
  const room: Record<SearchField, number> = {
    name: MAX_CHARS,
    error: MAX_CHARS,
    message: MAX_CHARS,
    data: MAX_CHARS,
  }
  for (const key of Object.keys(payload)) {
    if (SKIPPED.has(key)) continue
    const field = fieldOf(key)
    room[field] -= collect(payload[key], parts[field], room[field])
  }
  return {
    name: join(parts.name),
    error: join(parts.error),
    message: join(parts.message),
    data: join(parts.data),
  }
}

const join = (parts: readonly string[]): string => parts.join(' \n')

function fieldOf(key: string): SearchField {
  if (NAMES.has(key)) return 'name'
  if (ERRORS.has(key)) return 'error'
  return MESSAGES.has(key) ? 'message' : 'data'
}

/** Texts and numbers of a value in reading order, without recursion: foreign payloads may be nested at any depth. */
function collect(value: unknown, parts: string[], room: number): number {
  const found: string[] = []
  const open: unknown[] = [value]
  let taken = 0
  for (let looked = 0; open.length > 0 && taken < room && looked < MAX_PARTS; looked++) {
    const item = open.pop()
    if (typeof item === 'string' || typeof item === 'number') {
      const text = String(item).slice(0, room - taken)
      if (text !== '') found.push(text)
      taken += text.length + 1
    } else if (Array.isArray(item)) {
      for (const each of item.slice(-MAX_PARTS)) open.push(each)
    } else if (isObject(item)) {
      for (const key of Object.keys(item).slice(0, MAX_PARTS)) if (!isNoise(key)) open.push(item[key])
    }
  }
  // Collected from the end, so that the limit cuts the oldest; returned in reading order.
  parts.push(...found.toReversed())
  return taken
}

/** The texts and numbers of any value, as much as is searched of one. */
export function collectText(value: unknown): string {
  const parts: string[] = []
  collect(value, parts, MAX_CHARS)
  return join(parts)
}

const isNoise = (key: string): boolean => key === '$clew' || SKIPPED.has(key)

export function toDocument(event: ClewEvent): SearchDocument {
  const texts = searchedText(event)
  const { name } = event.payload
  const { workspace, position, seq, recordedAt } = event.ledger
  const fields = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, indexText(texts[field])]))
  return {
    position,
    workspace,
    runId: event.correlationId,
    seq,
    eventType: event.eventType,
    recordedAt,
    tool: event.eventType.startsWith('execution.tool_') && typeof name === 'string' ? name : null,
    fields: fields as Record<SearchField, string>,
  }
}
