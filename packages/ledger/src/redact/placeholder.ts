import { formatPath, type JsonValue } from '../json.ts'

const WHOLE = /^\[redacted:[a-z0-9-]+:[^\][\s]*\]$/
const INSIDE = /\[redacted:[a-z0-9-]+:[^\][\s]*\]/
const EACH = new RegExp(INSIDE, 'g')
export const formatPlaceholder = (kind: string, fingerprint: string): string =>
  `[redacted:${kind}:${fingerprint}]`

/** True when the text is one placeholder and nothing else. */
export const isPlaceholder = (text: string): boolean => WHOLE.test(text)

/** The keyed hash that a placeholder carries: compare it with `ledger.fingerprint`. */
export const fingerprintOf = (placeholder: string): string =>
  placeholder.slice(placeholder.lastIndexOf(':') + 1, -1)

/** Positions of the placeholders in a text. */
export const placeholdersIn = (text: string): readonly RegExpExecArray[] =>
  text.includes('[redacted:') ? [...text.matchAll(EACH)] : []

/** The text with placeholders reduced to their fingerprints: the names of kinds change with the rules. */
export const withoutKinds = (text: string): string =>
  text.includes('[redacted:')
    ? text.replace(EACH, (one) => `[redacted:${one.slice(one.lastIndexOf(':'))}`)
    : text

/** Text before, between and after the placeholders. */
export const splitAtPlaceholders = (text: string): string[] =>
  text.includes('[redacted:') ? text.split(INSIDE) : [text]

/** The paths of all strings and keys that carry a placeholder (P2). */
export const findPlaceholders = (value: JsonValue): string[] =>
  findPlaceholderPlaces(value).map(({ path }) => path)

/** A string or a key that carries placeholders. */
export interface PlaceholderPlace {
  readonly path: string
  /** Kind of what was taken out; several in one text are separated by commas. */
  readonly kind: string
  /** The text is one placeholder and nothing else: the value itself was the secret. */
  readonly isWhole: boolean
}

/** Deeper values are refused by the codecs, so nothing that is stored is deeper. */
const MAX_DEPTH = 512

const CHUNK_BYTES = 8192

/** One character a byte: placeholders are ASCII, whatever the encoding around them. */
function asciiOf(bytes: Uint8Array): string {
  let ascii = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    ascii += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES))
  return ascii
}

/** The brackets of a placeholder are escaped in a URL. */
function decoded(href: string): string {
  return href.replaceAll('%5B', '[').replaceAll('%5D', ']')
}

/** Strings and keys with placeholders, in order, also inside lists, maps and sets that came back from the record. */
export function findPlaceholderPlaces(value: unknown): PlaceholderPlace[] {
  const found: PlaceholderPlace[] = []
  const path: (string | number)[] = []
  const text = (part: string, isKey = false): void => {
    const inside = placeholdersIn(part)
    if (inside.length === 0) return
    const kinds = new Set(inside.map(([one]) => one.split(':')[1] as string))
    // Redaction appends tildes to a key that would stand twice in its object.
    const isWhole = isPlaceholder(isKey ? part.replace(/~+$/, '') : part)
    found.push({ path: formatPath(path), kind: [...kinds].join(', '), isWhole })
  }
  const inside = (step: string | number, item: unknown): void => {
    path.push(step)
    visit(item)
    path.pop()
  }
  const visit = (part: unknown): void => {
    if (typeof part === 'string') return text(part)
    if (typeof part !== 'object' || part === null || path.length > MAX_DEPTH) return
    if (part instanceof Uint8Array) return text(asciiOf(part))
    if (part instanceof URL) return text(decoded(part.href))
    if (part instanceof Error) return text(part.message)
    if (Array.isArray(part)) for (const [index, item] of part.entries()) inside(index, item)
    else if (part instanceof Set) for (const [index, item] of [...part].entries()) inside(index, item)
    else
      for (const [key, item] of part instanceof Map ? part : Object.entries(part)) {
        path.push(typeof key === 'string' ? key : '<key>')
        if (typeof key === 'string') text(key, true)
        else visit(key)
        visit(item)
        path.pop()
      }
  }
  visit(value)
  return found
}
