import { isObject, type JsonObject, type JsonValue, setKey } from '../json.ts'
import { isPaymentCard } from './judge-value.ts'
import { compilePath } from './path-rule.ts'
import { formatPlaceholder, isPlaceholder } from './placeholder.ts'
import { findInField, isCardField, type SecretName, secretField } from './places.ts'
import type { RedactionRule } from './redact.ts'
import type { Span } from './spans.ts'

type Path = readonly (string | number)[]

export interface WalkOptions {
  /** The text without what is found in it or in `more`; the same text when that is nothing. */
  readonly clean: (text: string, more: readonly Span[]) => { readonly text: string; readonly count: number }
  readonly fingerprint: (secret: string) => string
  readonly rules: readonly RedactionRule[]
  /** Whether the names of fields count. */
  readonly byName: boolean
  /** A shorter key is not looked at: no mark fits into it. */
  readonly shortestKey: number
  readonly isAllowed: (path: Path) => boolean
  readonly own?: ((text: string, path: Path) => string) | undefined
}

/** Why the strings of a field are looked at more closely: a rule of the user's, the name of a secret, or that of a card. */
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

  function fieldRule(field: string): FieldRule | undefined {
    const rule = keyRules.find(({ key }) => key.test(field))
    if (rule) return { by: 'rule', kind: rule.kind }
    if (!byName) return undefined
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
      // `["x-api-key", "…"]`, an entry of a map or a header.
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
      // `{ "name": "x-api-key", "value": "…" }`, as headers and attributes are listed.
      const isCapital = value['Value'] !== undefined
      const valueKey = isCapital ? 'Value' : 'value'
      const title = isCapital ? (value['Name'] ?? value['Key']) : (value['name'] ?? value['key'])
      const titled = typeof title === 'string' && value[valueKey] !== undefined ? fieldRule(title) : undefined
      // A token of a text, with its probability.
      const isLogprob = value['logprob'] !== undefined
      const changed = new Map<string, readonly [string, JsonValue]>()
      for (const key of Object.keys(value)) {
        const item = value[key] as JsonValue
        path.push(key)
        const field = key === valueKey && titled ? titled : isLogprob ? undefined : fieldRule(key)
        const next = visit(item, field, key === valueKey && titled !== undefined)
        const name = key.length < shortestKey ? key : keyText(key)
        path.pop()
        if (next !== item || name !== key) changed.set(key, [name, next])
      }
      if (changed.size === 0) return value
      const copy: JsonObject = {}
      for (const key of Object.keys(value)) {
        const [name, item] = changed.get(key) ?? [key, value[key] as JsonValue]
        // Two keys that redaction makes equal stay two.
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

    /** Strings in a list have the name of the list; those of an object below have names of their own. */
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
  return findInField(text, field.name).map((place) => ({ ...place, kind: field.name.kind, isPlace: true }))
}

/** A pattern with g or y remembers where it stopped, and would skip every other key. */
const withoutState = (pattern: RegExp): RegExp =>
  new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
