import { formatPath, type JsonValue } from '../json.ts'

const WHOLE = /^\[redacted:[a-z0-9-]+:[^\][\s]*\]$/
const INSIDE = /\[redacted:[a-z0-9-]+:[^\][\s]*\]/
const EACH = new RegExp(INSIDE, 'g')
/** Also one of which the end was cut off. */
const TORN = new RegExp(`${INSIDE.source}|\\[redacted:[a-z0-9-]+:[0-9a-f]*(?!\\w)`, 'g')
/** Of no script: neither a letter nor a sign to any pattern. */
const BLANK = '\ue000'

export const formatPlaceholder = (kind: string, fingerprint: string): string =>
  `[redacted:${kind}:${fingerprint}]`

/** True when the text is one placeholder and nothing else. */
export const isPlaceholder = (text: string): boolean => WHOLE.test(text)

/** Where the placeholders of a text stand. */
export const placeholdersIn = (text: string): readonly RegExpExecArray[] =>
  text.includes('[redacted:') ? [...text.matchAll(EACH)] : []

/** The text with placeholders that tell nothing but their fingerprint: kinds are named anew when rules are. */
export const withoutKinds = (text: string): string =>
  text.includes('[redacted:')
    ? text.replace(EACH, (one) => `[redacted:${one.slice(one.lastIndexOf(':'))}`)
    : text

/** What stands before, between and after the placeholders of a text. */
export const splitAtPlaceholders = (text: string): string[] =>
  text.includes('[redacted:') ? text.split(INSIDE) : [text]

/**
 * The same text, in which placeholders tell nothing. `[redacted:password:4f…]` is itself an assignment to `password`, and its kind
 * would speak for its neighbours, to a whole text but not to a stream that has shown them already.
 */
export const maskPlaceholders = (text: string): string =>
  text.includes('[redacted:') ? text.replace(TORN, (one) => `[${BLANK.repeat(one.length - 2)}]`) : text

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
