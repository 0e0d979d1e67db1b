/** A copy that code may change: what is read back shares frozen parts with other events. */
export function mutableCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mutableCopy)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) define(copy, key, mutableCopy(item))
  return copy
}

/** `__proto__` is a key like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}
