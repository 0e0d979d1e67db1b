import { isObject, type JsonObject, type JsonValue, setKey } from '../json.ts'
import { findInField } from './assignments.ts'
import { isPaymentCard } from './judge-value.ts'
import { compilePath } from './path-rule.ts'
import { formatPlaceholder, isPlaceholder } from './placeholder.ts'
import { isCardField, type SecretName, secretField } from './secret-names.ts'
import type { RedactionRule } from './redact.ts'
import type { Span } from './spans.ts'

type Path = readonly (string | number)[]

export interface WalkOptions {
  /** Replaces the secrets of a text, and those that `more` adds; returns the same text if there are none. */
  readonly clean: (text: string, more: readonly Span[]) => { readonly text: string; readonly count: number }
  readonly fingerprint: (secret: string) => string
  readonly rules: readonly RedactionRule[]
  /** True if field names count. */
  readonly byName: boolean
  /** Shorter keys are not scanned: no mark fits into them. */
  readonly shortestKey: number
  readonly isAllowed: (path: Path) => boolean
  readonly own?: ((text: string, path: Path) => string) | undefined
}

/** Reason to treat the strings of a field specially: a rule of the user, or the name of a secret or of a card. */
type FieldRule =
  | { readonly by: 'rule'; readonly kind: string }
  | { readonly by: 'name'; readonly name: SecretName }
  | { readonly by: 'card' }

/** Visits every string of a value, copies only the branches that change and never mutates its input. */
export function createWalk({
  clean,
  fingerprint,
  rules,
  byName,
  shortestKey,
  isAllowed,
  own,
}: WalkOptions): (value: JsonValue) => { value: JsonValue; redacted: number } {
  const keyRules = rules.flatMap(({ kind, key }) => (key ? [{ kind, key: withoutState(key) }] : []))
  const pathRules = rules.flatMap(({ kind, path }) =>
    path === undefined ? [] : [{ kind, matches: compilePath(path) }],
  )

  function fieldRule(field: string, isLogprob = false): FieldRule | undefined {
    const rule = keyRules.find(({ key }) => key.test(field))
    if (rule) return { by: 'rule', kind: rule.kind }
    if (!byName || isLogprob) return undefined
    const name = secretField(field)
    if (name) return { by: 'name', name }
    return isCardField(field) ? { by: 'card' } : undefined
  }

  return (root) => {
    let redacted = 0
    const path: (string | number)[] = []

    function string(text: string, field: FieldRule | undefined): string {
      if (isAllowed(path)) return text
      let next = text
      const rule = field?.by === 'rule' ? field : pathRules.find(({ matches }) => matches(path))
      if (rule && text !== '' && !isPlaceholder(text)) {
        next = formatPlaceholder(rule.kind, fingerprint(text))
        redacted++
      } else {
        const cleaned = clean(text, field ? fieldSpans(text, field) : [])
        next = cleaned.text
        redacted += cleaned.count
      }
      if (!own) return next
      const owned = own(next, path)
      if (owned !== next) redacted++
      return owned
    }

    function list(items: readonly JsonValue[], field: FieldRule | undefined): JsonValue {
      let copy: JsonValue[] | undefined
      // Entry of a map or list of headers: `["x-api-key", "…"]`.
      const [first] = items
      const pair =
        items.length === 2 && typeof first === 'string' && typeof items[1] === 'string'
          ? fieldRule(first)
          : undefined
      for (let at = 0; at < items.length; at++) {
        const item = items[at] as JsonValue
        path.push(at)
        const next = visit(item, at === 1 && pair ? pair : field)
        path.pop()
        if (next === item) continue
        copy ??= [...items]
        copy[at] = next
      }
      return copy ?? (items as JsonValue)
    }

    function object(value: JsonObject): JsonValue {
      // Header or attribute: `{ "name": "x-api-key", "value": "…" }`.
      const isCapital = value['Value'] !== undefined
      const valueKey = isCapital ? 'Value' : 'value'
      const title = isCapital ? (value['Name'] ?? value['Key']) : (value['name'] ?? value['key'])
      const titled = typeof title === 'string' && value[valueKey] !== undefined ? fieldRule(title) : undefined
      // Token of a model's answer with its log probability.
      const isLogprob = value['logprob'] !== undefined
      const changed = new Map<string, readonly [string, JsonValue]>()
      for (const key of Object.keys(value)) {
        const item = value[key] as JsonValue
        path.push(key)
        const field = key === valueKey && titled ? titled : fieldRule(key, isLogprob)
        const next = visit(item, field, key === valueKey && titled !== undefined)
        const name = key.length < shortestKey ? key : keyText(key)
        path.pop()
        if (next !== item || name !== key) changed.set(key, [name, next])
      }
      if (changed.size === 0) return value
      const copy: JsonObject = {}
      for (const key of Object.keys(value)) {
        const [name, item] = changed.get(key) ?? [key, value[key] as JsonValue]
        // Keys that become equal by redaction are kept apart.
        let unique = name
        while (Object.hasOwn(copy, unique)) unique += '~'
        setKey(copy, unique, item)
      }
      return copy
    }

    function keyText(key: string): string {
      if (isAllowed(path)) return key
      const { text, count } = clean(key, [])
      redacted += count
      return text
    }

    /** Strings in a list share the name of the list. */
    function visit(value: JsonValue, field: FieldRule | undefined, isTitled = false): JsonValue {
      if (typeof value === 'string') return string(value, field)
      if (Array.isArray(value)) return list(value, field)
      if (!isObject(value)) return value
      // `{ "key": "cookie", "value": { "stringValue": "…" } }` of OpenTelemetry.
      const inner = value['stringValue']
      if (isTitled && typeof inner === 'string') {
        const next = string(inner, field)
        return next === inner ? value : { ...value, stringValue: next }
      }
      return object(value)
    }

    return { value: visit(root, undefined), redacted }
  }
}

function fieldSpans(text: string, field: FieldRule): readonly Span[] {
  if (field.by === 'card')
    return isPaymentCard(text.trim()) ? [{ start: 0, end: text.length, kind: 'payment-card' }] : []
  if (field.by === 'rule') return []
  return findInField(text, field.name).map((range) => ({ ...range, kind: field.name.kind, isByName: true }))
}

/** A pattern with g or y remembers where it stopped, and would skip every other key. */
const withoutState = (pattern: RegExp): RegExp =>
  new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
