import type { JsonValue } from '../json.ts'
import type { Ports } from '../ports.ts'

/**
 * RFC 8785 text of a JSON value: keys sorted by UTF-16 units, numbers and strings as ECMAScript prints them.
 * Used for digests of step inputs, where two spellings of the same data must agree.
 */
export function canonicalText(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const parts = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] as JsonValue)}`)
  return `{${parts.join(',')}}`
}

export const inputDigest = (sha256: Ports['sha256'], value: JsonValue): string => sha256(canonicalText(value))
