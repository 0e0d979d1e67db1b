/** A JSON value: the only kind of value that is stored, hashed or sent. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Assigns like `target[key] = value`, also for the key `__proto__`, which plain assignment swallows. */
export function setKey<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

/** Freezes lists and plain objects all the way down; what is frozen is taken to be so below as well. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) {
    Object.freeze(value)
    for (const item of value as unknown[]) deepFreeze(item)
    return value
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  Object.freeze(value)
  for (const item of Object.values(value)) deepFreeze(item)
  return value
}

/** `$.messages[3].content`: how errors and redaction rules name a place in a payload. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = '$'
  for (const part of path.length > 40 ? [...path.slice(0, 20), '…', ...path.slice(-5)] : path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += /^[A-Za-z_][\w-]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part.slice(0, 60))}]`
  }
  return text
}
