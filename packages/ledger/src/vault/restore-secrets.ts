import type { ClewEvent } from '../event/envelope.ts'
import { setKey } from '../json.ts'
import { placeholdersIn } from '../redact/placeholder.ts'

/** Original text behind a placeholder; undefined when it is not known. */
export type OriginalOf = (placeholder: string) => string | undefined

/**
 * The value with originals in place of placeholders: whole strings, placeholders inside longer texts, and keys. What
 * `originalOf` does not know stays a placeholder. Parts without a change are the same objects as before.
 */
export function restoreSecrets<Value>(value: Value, originalOf: OriginalOf): Value {
  const text = (part: string): string => restoreText(part, originalOf)

  const list = (items: readonly unknown[]): readonly unknown[] => {
    const next = items.map(restore)
    return next.every((item, index) => item === items[index]) ? items : next
  }

  const object = (source: object): object => {
    const copy: Record<string, unknown> = {}
    let isChanged = false
    for (const [key, item] of Object.entries(source)) {
      const [name, next] = [text(key), restore(item)]
      if (name !== key || next !== item) isChanged = true
      setKey(copy, name, next)
    }
    return isChanged ? copy : source
  }

  const restore = (part: unknown): unknown => {
    if (typeof part === 'string') return text(part)
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return list(part as unknown[])
    if (part instanceof Map) {
      const entries = [...part]
      const next = list(entries) as typeof entries
      return next === entries ? part : new Map(next)
    }
    if (part instanceof Set) {
      const items: unknown[] = [...part]
      const next = list(items)
      return next === items ? part : new Set(next)
    }
    const prototype: unknown = Object.getPrototypeOf(part)
    // Instances of a user's class cannot be copied here.
    return prototype === Object.prototype || prototype === null ? object(part) : part
  }

  return restore(value) as Value
}

function restoreText(text: string, originalOf: OriginalOf): string {
  let restored = ''
  let at = 0
  for (const found of placeholdersIn(text)) {
    const original = originalOf(found[0])
    if (original === undefined) continue
    const quoted = JSON.stringify(original).slice(1, -1)
    const isQuoted = quoted !== original && isJson(lineAt(text, found.index))
    restored += text.slice(at, found.index) + (isQuoted ? quoted : original)
    at = found.index + found[0].length
  }
  return restored + text.slice(at)
}

/** Line around a place in a text, or the whole text where that is one JSON value over several lines. */
function lineAt(text: string, at: number): string {
  if (isJson(text)) return text
  const end = text.indexOf('\n', at)
  return text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? text.length : end)
}

/** JSON text such as a taped body or a line of one: in there a line break or a quote has to stay escaped. */
function isJson(text: string): boolean {
  const json = text.replace(/^data: ?/, '').trim()
  if (!/^[[{"]/.test(json)) return false
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

/**
 * Fields of payloads that hold what code was given or gave. The others name steps, runs and pauses: they are compared as
 * they were stored.
 */
const VALUES = [
  'input',
  'output',
  'answer',
  'payload',
  'default',
  'question',
  'options',
  'sends',
  'tasks',
  'checkpoint',
  'operations',
  'state',
  'edit',
] as const

/** The event with originals in the values of its payload. */
export function restoreEvent(event: ClewEvent, originalOf: OriginalOf): ClewEvent {
  const changed: Record<string, unknown> = {}
  for (const field of VALUES) {
    const value = event.payload[field]
    const restored = restoreSecrets(value, originalOf)
    if (restored !== value) changed[field] = restored
  }
  return Object.keys(changed).length === 0 ? event : { ...event, payload: { ...event.payload, ...changed } }
}
