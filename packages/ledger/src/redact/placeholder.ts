import { formatPath, type JsonValue } from '../json.ts'

const WHOLE = /^\[redacted:[a-z0-9-]+:[^\][\s]*\]$/
const INSIDE = /\[redacted:[a-z0-9-]+:[^\][\s]*\]/
const EACH = new RegExp(INSIDE, 'g')
export const formatPlaceholder = (kind: string, fingerprint: string): string =>
  `[redacted:${kind}:${fingerprint}]`

/** True when the text is one placeholder and nothing else. */
export const isPlaceholder = (text: string): boolean => WHOLE.test(text)

/** Where the placeholders of a text stand. */
export const placeholdersIn = (text: string): readonly RegExpExecArray[] =>
  text.includes('[redacted:') ? [...text.matchAll(EACH)] : []

/** The paths of all strings and keys that carry a placeholder: what a resume must not hand to code (P2). */
export function findPlaceholders(value: JsonValue): string[] {
  const found: string[] = []
  const path: (string | number)[] = []
  const visit = (part: JsonValue): void => {
    if (typeof part === 'string') {
      if (INSIDE.test(part)) found.push(formatPath(path))
    } else if (Array.isArray(part)) {
      for (const [index, item] of part.entries()) {
        path.push(index)
        visit(item)
        path.pop()
      }
    } else if (typeof part === 'object' && part !== null) {
      for (const [key, item] of Object.entries(part)) {
        path.push(key)
        if (INSIDE.test(key)) found.push(formatPath(path))
        visit(item)
        path.pop()
      }
    }
  }
  visit(value)
  return found
}
