import { isObject, type JsonValue, setKey } from './json.ts'
import { placeholdersIn } from './redact/placeholder.ts'

/** Original text behind a placeholder; undefined when it is not known. */
export type OriginalOf = (placeholder: string) => string | undefined

/**
 * A copy of the value with originals in place of their placeholders: whole strings, inside longer text, and in keys.
 * Placeholders without a known original stay. Parts without placeholders are shared with the value given.
 */
export function restoreSecrets(value: JsonValue, originalOf: OriginalOf): JsonValue {
  if (typeof value === 'string') return restoreText(value, originalOf)
  if (Array.isArray(value)) {
    const items = value.map((item) => restoreSecrets(item, originalOf))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  const copy: Record<string, JsonValue> = {}
  let isChanged = false
  for (const [key, item] of Object.entries(value)) {
    const [name, next] = [restoreText(key, originalOf), restoreSecrets(item, originalOf)]
    if (name !== key || next !== item) isChanged = true
    setKey(copy, name, next)
  }
  return isChanged ? copy : value
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
