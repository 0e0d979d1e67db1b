import { formatPath, type JsonValue } from './json.ts'
import type { SecretPlace } from './redact/find-secrets.ts'
import { isPlaceholder } from './redact/placeholder.ts'
import type { Redactor } from './redact/redact.ts'

/**
 * Strings and keys that redaction would replace as a whole: code that reads them back gets a placeholder where it
 * expects the value. A secret inside a longer text is none of them.
 */
export function findWholeSecrets(redactor: Redactor, value: JsonValue): SecretPlace[] {
  const { value: clean, redacted } = redactor.value(value)
  const found: SecretPlace[] = []
  const path: (string | number)[] = []

  const compare = (before: string, after: string): void => {
    if (before !== after && isPlaceholder(after))
      found.push({ path: formatPath(path), kind: after.split(':')[1] as string })
  }

  // Redaction keeps the order of keys and items, so both sides are walked in step; names are those after it.
  const visit = (before: JsonValue, after: JsonValue): void => {
    if (before === after) return
    if (typeof before === 'string') return compare(before, after as string)
    if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null) return
    const right = Object.entries(after)
    for (const [at, [key, item]] of Object.entries(before).entries()) {
      const [name, next] = right[at] as [string, JsonValue]
      path.push(Array.isArray(before) ? at : name)
      // Redaction appends tildes to a key that would stand twice in its object.
      if (!Array.isArray(before)) compare(key, name.replace(/~+$/, ''))
      visit(item, next)
      path.pop()
    }
  }
  if (redacted > 0) visit(value, clean)
  return found
}
