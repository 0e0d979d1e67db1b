import { ClewError, type JsonObject, type JsonValue } from '@clew/ledger'
import { isObject, refuse } from '../foreign.ts'

/** A chat as it was found: its messages, and all that stands beside them. */
export interface Chat {
  readonly messages: readonly JsonValue[]
  /** Name of the field that held the messages, for errors; empty for a bare list. */
  readonly field: string
  readonly metadata: JsonObject
}

const FIELDS = ['messages', 'traj', 'trajectory', 'conversation'] as const

/** The chats of one JSON value: a list of messages, an object that has one, or a list of either. */
export function readChats(value: JsonValue): Chat[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isChat)) return value.map(readChat)
  return [readChat(value)]
}

const fieldOf = (value: JsonObject): string | undefined => FIELDS.find((name) => Array.isArray(value[name]))

/** A list of messages, or an object with one; a message may itself have a list named `messages`, never beside a role. */
function isChat(value: JsonValue): boolean {
  if (Array.isArray(value)) return true
  return isObject(value) && typeof value['role'] !== 'string' && fieldOf(value) !== undefined
}

function readChat(value: JsonValue): Chat {
  if (Array.isArray(value)) return { messages: value, field: '', metadata: {} }
  if (!isObject(value)) refuse('(the record)', value, 'a list of messages or an object that has one')
  const field = fieldOf(value)
  if (field !== undefined) {
    const { [field]: messages, ...metadata } = value
    return { messages: messages as JsonValue[], field, metadata }
  }
  if (typeof value['role'] === 'string')
    throw new ClewError(
      'broken_import',
      'The record is one message and not a whole chat',
      'Put the messages of a chat into one list: jq -s . messages.ndjson > chat.json.',
      { field: 'role' },
    )
  const given = FIELDS.find((name) => value[name] !== undefined)
  return refuse(given ?? 'messages', given && value[given], 'the list of the messages')
}
