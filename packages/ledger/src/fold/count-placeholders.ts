const PLACEHOLDER = /\[redacted:([a-z0-9-]+):[^\]\s]*\]/g

export type Redactions = Readonly<Record<string, number>>

/** Parts that events share are frozen, so what was counted in one holds for all. */
const counted = new WeakMap<object, ReadonlyMap<string, number>>()
const NONE: ReadonlyMap<string, number> = new Map()

/** How many placeholders of each kind stand in a value: in texts, in keys, at any depth. */
export function countPlaceholders(value: unknown): ReadonlyMap<string, number> {
  const total = new Map<string, number>()
  const addText = (text: string): void => {
    if (!text.includes('[redacted:')) return
    for (const [, kind = ''] of text.matchAll(PLACEHOLDER)) total.set(kind, (total.get(kind) ?? 0) + 1)
  }
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const part = stack.pop()
    if (typeof part === 'string') addText(part)
    if (typeof part !== 'object' || part === null) continue
    if (part !== value && Object.isFrozen(part)) {
      let known = counted.get(part)
      if (!known) {
        counted.set(part, NONE)
        known = countPlaceholders(part)
        counted.set(part, known)
      }
      for (const [kind, count] of known) total.set(kind, (total.get(kind) ?? 0) + count)
    } else if (Array.isArray(part)) for (const item of part) stack.push(item)
    else
      for (const [key, item] of Object.entries(part)) {
        addText(key)
        stack.push(item)
      }
  }
  return total.size === 0 ? NONE : total
}
