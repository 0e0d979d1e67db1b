import type { ClewEvent } from './envelope.ts'
import { setKey } from './json.ts'
import { placeholdersIn } from './redact/placeholder.ts'

/**
 * The value with originals in place of placeholders: whole strings, placeholders inside longer texts, and keys. What
 * `originalOf` does not know stays a placeholder. Parts without a change are the same objects as before.
 */
export function restoreSecrets<Value>(
  value: Value,
  originalOf: (placeholder: string) => string | undefined,
): Value {
  const text = (part: string): string => {
    let restored = ''
    let at = 0
    for (const { 0: placeholder, index } of placeholdersIn(part)) {
      restored += part.slice(at, index) + (originalOf(placeholder) ?? placeholder)
      at = index + placeholder.length
    }
    return at === 0 ? part : restored + part.slice(at)
  }

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
    // How to copy an instance of a class of the user's nobody here knows.
    return prototype === Object.prototype || prototype === null ? object(part) : part
  }

  return restore(value) as Value
}

/**
 * Fields of payloads that hold what code was given or gave. The others name steps, runs and pauses: they are compared as
 * they were stored.
 */
const VALUES = [
  'input',
  'output',
  'answer',
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
export function restoreEvent(
  event: ClewEvent,
  originalOf: (placeholder: string) => string | undefined,
): ClewEvent {
  const changed: Record<string, unknown> = {}
  for (const field of VALUES) {
    const value = event.payload[field]
    const restored = restoreSecrets(value, originalOf)
    if (restored !== value) changed[field] = restored
  }
  return Object.keys(changed).length === 0 ? event : { ...event, payload: { ...event.payload, ...changed } }
}
