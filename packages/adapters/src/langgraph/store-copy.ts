import type { JsonObject, JsonValue } from '@clew/ledger'

/**
 * A copy that its holder may change. Instances that a codec of the user restored are returned as they are, because only the
 * codec knows how to copy them.
 */
export function copyValue<T>(value: T): T {
  return copy(value) as T
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [copy(key), copy(item)]))
  if (value instanceof Set) return new Set([...value].map(copy))
  if (value instanceof Date) return new Date(value)
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof URL) return new URL(value)
  if (!isPlain(value)) return value
  return mapObject(value, copy)
}

/** Approximates the value as JSON, to look for secrets in it. */
export function toPlain(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  // Functions and the like are refused when they are stored.
  if (typeof value !== 'object') return typeof value === 'bigint' ? String(value) : null
  if (Array.isArray(value)) return value.map(toPlain)
  if (value instanceof Map || value instanceof Set) return [...value].map(toPlain)
  if (value instanceof Error)
    return { name: value.name, message: value.message, stack: value.stack ?? '', cause: toPlain(value.cause) }
  if (value instanceof URL || value instanceof RegExp) return String(value)
  if (value instanceof Date || value instanceof Uint8Array) return null
  return mapObject(value, toPlain) as JsonObject
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A key named `__proto__` is data too. */
function mapObject(source: object, map: (value: unknown) => unknown): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(source))
    Object.defineProperty(target, key, {
      value: map(item),
      writable: true,
      enumerable: true,
      configurable: true,
    })
  return target
}
