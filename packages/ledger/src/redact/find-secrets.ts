import { formatPath, type JsonValue } from '../json.ts'
import { isPlaceholder } from './placeholder.ts'
import type { Redactor } from './redact.ts'

/** A place that redaction would change, and the kind of the secret found there, without the secret. */
export interface SecretPlace {
  readonly path: string
  readonly kind: string
  /** The string or key itself is the secret; else one stands inside a longer text. */
  readonly isWhole: boolean
}

const PLACEHOLDER = /\[redacted:([a-z0-9-]+):[^\][\s]*\]/g

/** Secrets that the redactor would remove from a value: stored before there was a rule, or with redaction switched off. */
export function findSecrets(redactor: Redactor, value: JsonValue): SecretPlace[] {
  const { value: clean, redacted } = redactor.value(value)
  if (redacted === 0) return []
  const found: SecretPlace[] = []
  const path: (string | number)[] = []

  /** Placeholders that were there before are no finds; what a function of the user's changed has no kind. */
  const compare = (before: string, after: string): void => {
    if (before === after) return
    const old = new Map<string, number>()
    for (const [text] of before.matchAll(PLACEHOLDER)) old.set(text, (old.get(text) ?? 0) + 1)
    const kinds: string[] = []
    // Redaction appends tildes to a key that would stand twice in its object.
    const isWhole = isPlaceholder(after.replace(/~+$/, ''))
    for (const [text, kind = ''] of after.matchAll(PLACEHOLDER)) {
      const left = old.get(text) ?? 0
      if (left > 0) old.set(text, left - 1)
      else kinds.push(kind)
    }
    for (const kind of kinds.length > 0 ? kinds : ['own-function'])
      found.push({ path: formatPath(path), kind, isWhole })
  }

  // Redaction keeps the order of keys and items, so both sides are walked in step; names are those after it.
  const visit = (before: JsonValue, after: JsonValue): void => {
    if (before === after) return
    if (typeof before === 'string') return compare(before, typeof after === 'string' ? after : '')
    if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null) return
    const left = Object.entries(before)
    const right = Object.entries(after)
    for (const [at, [key, item]] of left.entries()) {
      const [name, next] = right[at] ?? [key, item]
      path.push(Array.isArray(before) ? at : name)
      compare(key, name)
      visit(item, next)
      path.pop()
    }
  }
  visit(value, clean)
  return found
}
