import { isObject } from '../json.ts'

/** A JSON value laid out for reading; text stays text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : jsonText(value, 2)
}

/** An object or list that a text spells as JSON, for reading: tools often give models their result so. Else the value itself. */
export function readJsonText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, jsonable, indent) ?? ''
  } catch {
    return '"(a value that cannot be shown as text)"'
  }
}

/** Rich values come back as they were recorded, and some of them JSON cannot spell. */
function jsonable(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  return value
}

/** A message's content as text: plain, or part by part, with what is not text named by its kind. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return valueText(content)
  return content.map(partText).filter(Boolean).join('\n')
}

function partText(part: unknown): string {
  if (!isObject(part)) return valueText(part)
  for (const key of ['text', 'refusal', 'thinking'] as const)
    if (typeof part[key] === 'string') return part[key]
  const type = typeof part['type'] === 'string' ? part['type'] : 'part'
  const place = placeOf(part)
  if (place !== undefined) return place === '' ? `[${type}]` : `[${type}: ${place}]`
  const { type: _, ...rest } = part
  return `[${type}] ${valueText(rest)}`
}

/** URL of a picture, sound or file; empty for inline data, which is too long to show. */
function placeOf(part: Record<string, unknown>): string | undefined {
  for (const key of ['image_url', 'url', 'image', 'file', 'source', 'input_audio', 'data', 'file_id']) {
    const found = part[key]
    if (found === undefined) continue
    const inner = isObject(found) ? (found['url'] ?? found['filename'] ?? found['file_id']) : found
    return typeof inner === 'string' && !inner.startsWith('data:') && inner.length <= 500 ? inner : ''
  }
  return undefined
}
