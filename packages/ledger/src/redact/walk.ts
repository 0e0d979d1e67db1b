import { type JsonValue, setKey } from '../json.ts'
import { isLabel, isMixed, isPassword, isReference } from './checks.ts'
import { isPrivateMember, isWebKey } from './key-objects.ts'
import { type KeyStrength, keyStrength, kindOfKey } from './keys.ts'
import { isIdName } from './long-runs.ts'
import { compilePath } from './path-rule.ts'
import { formatPlaceholder, isPlaceholder } from './placeholder.ts'
import type { RedactionRule } from './redact.ts'
import type { Cleaned } from './spans.ts'

export interface WalkOptions {
  /** Replaces what the detectors find. An id is left alone unless it carries the mark of a secret. */
  clean: (text: string, isId?: boolean) => Cleaned
  fingerprint: (secret: string) => string
  rules: readonly RedactionRule[]
  /** Whether the built-in sensitive key names count. */
  byKeyName: boolean
  own?: (text: string, path: readonly (string | number)[]) => string
}

/** Why the strings under a key are replaced whole: by a rule of the user's, or by the name of the key. */
interface Verdict {
  kind: string
  strength: KeyStrength
  byName?: boolean | undefined
}

const isGenerated = (text: string): boolean =>
  text.length >= 12 && isMixed(text) && !/[\s/]|\[redacted:/.test(text)

/** The slow path: visits every string, copies only the branches that change and never mutates its input. */
export function createWalk(
  options: WalkOptions,
): (value: JsonValue) => { value: JsonValue; redacted: number } {
  const { clean, fingerprint, own, byKeyName } = options
  const keyRules = options.rules.flatMap(({ kind, key }) => (key ? [{ kind, key: unstated(key) }] : []))
  const pathRules = options.rules.flatMap(({ kind, path }) =>
    path === undefined ? [] : [{ kind, matches: compilePath(path) }],
  )

  const verdictOf = (key: string): Verdict | undefined => {
    const rule = keyRules.find((one) => one.key.test(key))
    if (rule !== undefined) return { kind: rule.kind, strength: 'hard' }
    const strength = byKeyName ? keyStrength(key) : undefined
    return strength && { kind: kindOfKey(key), strength, byName: true }
  }

  return (root) => {
    let redacted = 0
    const path: (string | number)[] = []

    const string = (text: string, verdict: Verdict | undefined): string => {
      if (text === '' || isPlaceholder(text)) return text
      const cleaned = clean(text, /^[\w-]+$/.test(text) && isNamedId(path))
      let out = cleaned.text
      let count = cleaned.count
      // The same secret keeps the same placeholder, whether its key or its shape gave it away.
      if (
        verdict !== undefined &&
        !isPlaceholder(out) &&
        (verdict.strength === 'hard'
          ? !(verdict.byName && (isLabel(text) || isReference(text)))
          : isGenerated(text))
      ) {
        out = formatPlaceholder(verdict.kind, fingerprint(text))
        count = 1
      }
      redacted += count
      if (own === undefined) return out
      const last = own(out, [...path])
      if (last !== out) redacted++
      return last
    }

    const keyText = (key: string): string => {
      const cleaned = clean(key)
      redacted += cleaned.count
      return cleaned.text
    }

    const array = (items: JsonValue[], verdict: Verdict | undefined): JsonValue[] => {
      let copy: JsonValue[] | undefined
      const named = items.length > 0 && items.every(isPair)
      for (const [i, item] of items.entries()) {
        path.push(i)
        const next = named
          ? pair(item as Pair, verdict)
          : visit(item, i === 1 && isLogin(items, verdict) ? { ...verdict, strength: 'hard' } : verdict)
        path.pop()
        if (next !== item) {
          copy ??= items.slice()
          copy[i] = next
        }
      }
      return copy ?? items
    }

    /** An entry of a map or a header list: the name stands beside the value instead of above it. */
    const pair = (item: Pair, verdict: Verdict | undefined): JsonValue => {
      const [name, value] = item
      path.push(1)
      const next = visit(value, verdict ?? verdictOf(name))
      path.pop()
      const key = keyText(name)
      return next === value && key === name ? item : [key, next]
    }

    const object = (source: Record<string, JsonValue>): Record<string, JsonValue> => {
      const copy: Record<string, JsonValue> = {}
      let changed = false
      for (const [key, value] of Object.entries(source)) {
        path.push(key)
        const next = visit(value, verdictOf(key) ?? besideOf(key, source))
        path.pop()
        let name = keyText(key)
        while (name !== key && Object.hasOwn(copy, name)) name += '~'
        setKey(copy, name, next)
        if (next !== value || name !== key) changed = true
      }
      return changed ? copy : source
    }

    const besideOf = (key: string, source: Record<string, JsonValue>): Verdict | undefined =>
      key === 'value'
        ? besideVerdict(source)
        : key === 'text' && byKeyName
          ? fieldVerdict(source)
          : byKeyName && isShortName(key) && hasUser(source)
            ? { kind: 'password', strength: 'hard', byName: true }
            : byKeyName && isPrivateMember(key) && isWebKey(source)
              ? { kind: 'private-key', strength: 'hard' }
              : undefined

    /** What a browser tool types into a field. */
    const fieldVerdict = (source: Record<string, JsonValue>): Verdict | undefined =>
      typesPassword(source) ? { kind: 'password', strength: 'hard' } : undefined

    /** `{ name, value }` and `{ key, value: { stringValue } }`, as headers and attributes are often listed. */
    const besideVerdict = ({ name, key, keyName, value }: Record<string, JsonValue>): Verdict | undefined => {
      if (byKeyName && typeof keyName === 'string') return { kind: 'api-key', strength: 'soft' }
      const label = typeof name === 'string' ? name : key
      return typeof label === 'string' && (typeof value === 'string' || isStringValue(value))
        ? (verdictOf(label) ??
            (byKeyName && isSession(label) ? { kind: 'cookie', strength: 'soft' } : undefined))
        : undefined
    }

    const visit = (value: JsonValue, verdict: Verdict | undefined): JsonValue => {
      const rule = pathRules.length > 0 ? pathRules.find((one) => one.matches(path)) : undefined
      const judged: Verdict | undefined = rule ? { kind: rule.kind, strength: 'hard' } : verdict
      if (typeof value === 'string') return string(value, judged)
      if (Array.isArray(value)) return array(value, judged)
      if (typeof value !== 'object' || value === null) return value
      if (judged && isStringValue(value)) {
        const next = string(value['stringValue'], judged)
        return next === value['stringValue'] ? value : { stringValue: next }
      }
      return object(value)
    }

    return { value: visit(root, undefined), redacted }
  }
}

/** Whether the name nearest to a string says that it is an id, a digest or the like. */
const isNamedId = (path: readonly (string | number)[]): boolean => {
  const name = path.findLast((step) => typeof step === 'string')
  return name !== undefined && (isIdName(name) || /^[xyn]$/.test(name))
}

/** `{ element: 'Password field', text: '…' }`. */
export const typesPassword = ({ element, selector }: Readonly<Record<string, JsonValue>>): boolean =>
  (typeof element === 'string' && element.length < 200 && FIELD.test(element)) ||
  (typeof selector === 'string' && selector.length < 200 && FIELD.test(selector))
const FIELD = /pass(?:word|wort|wd|phrase|code)|mot de passe|contraseña/i

/** `{ user, pass }`. */
export const isShortName = (key: string): boolean => /^(?:pass|pw)$/i.test(key)
const hasUser = ({ user, username, login, email }: Readonly<Record<string, JsonValue>>): boolean =>
  [user, username, login, email].some((one) => typeof one === 'string')

/** The name of a cookie. */
export const isSession = (label: JsonValue | undefined): boolean =>
  typeof label === 'string' && /(?:^|[._-])(?:sid|sess|session|session_?id)$|SESSID$|SESSIONID$/.test(label)

/** `auth: [name, password]`. */
const isLogin = (items: readonly JsonValue[], verdict: Verdict | undefined): verdict is Verdict =>
  verdict?.kind === 'authorization' &&
  items.length === 2 &&
  typeof items[0] === 'string' &&
  typeof items[1] === 'string' &&
  items[1].length >= 6 &&
  isPassword(items[1])

type Pair = [string, JsonValue]
const isPair = (item: JsonValue): item is Pair =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'

const isStringValue = (value: JsonValue | undefined): value is { stringValue: string } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value['stringValue'] === 'string' &&
  Object.keys(value).length === 1

/** A `g` or `y` flag would make `test` remember where it was. */
const unstated = (pattern: RegExp): RegExp => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
