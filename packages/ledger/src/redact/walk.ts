import { type JsonValue, setKey } from '../json.ts'
import { isLabel, isMixed, isPassword, isRandom, isReference } from './checks.ts'
import { isCookie, isSession } from './cookies.ts'
import { isPrivateMember, isSecretFlag, isWebKey } from './key-objects.ts'
import { type KeyStrength, keyStrength, kindOfKey } from './keys.ts'
import { isIdName } from './long-runs.ts'
import {
  hasUser,
  isCodeName,
  isDeclared,
  isDirectory,
  isDrawn,
  isRepeat,
  isShortName,
  isTypedCode,
  isTypedName,
  isValueName,
  kindOfCode,
  labelsOf,
  typesCode,
  typesPassword,
} from './members.ts'
import {
  headBeside,
  headOf,
  isPair,
  isRows,
  isStringValue,
  type Pair,
  questionBefore,
  textNameOf,
  TURN,
} from './messages.ts'
import { compilePath } from './path-rule.ts'
import { formatPlaceholder, isPlaceholder } from './placeholder.ts'
import type { RedactionRule } from './redact.ts'
import type { Cleaned } from './spans.ts'
import { isPasswordCell, isSecretCell } from './table-columns.ts'

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
  strength: KeyStrength | 'code' | 'cell'
  byName?: boolean | undefined
}

const isGenerated = (text: string): boolean =>
  text.length >= 12 &&
  isMixed(text) &&
  (!/[\s/]|\[redacted:/.test(text) ||
    (/^[A-Za-z0-9+/]{32,}={0,2}$/.test(text) && isRandom(text) && !/(?:^|\/)[a-z]+\//.test(text)))

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
    if (!byKeyName) return undefined
    const strength = keyStrength(key)
    if (strength !== undefined) return { kind: kindOfKey(key), strength, byName: true }
    return isCodeName(key) ? { kind: kindOfCode(key), strength: 'code', byName: true } : undefined
  }

  return (root) => {
    let redacted = 0
    /** How many objects around are of what was drawn at random. */
    let drawn = 0
    /** What the message before asks, and under which name this one answers. */
    let question: string | undefined
    let textName: string | undefined
    const path: (string | number)[] = []

    /** The answer to the message before, of which more is known when both are read together. */
    const answered = (text: string): Cleaned | undefined => {
      if (question === undefined || path.at(-1) !== textName) return undefined
      const both = clean(question + text)
      const at = both.text.indexOf(TURN)
      const count = both.count - clean(question).count
      return at < 0 || count <= 0 ? undefined : { text: both.text.slice(at + TURN.length), count }
    }

    const string = (text: string, verdict: Verdict | undefined): string => {
      if (text === '' || isPlaceholder(text)) return text
      const cleaned = answered(text) ?? clean(text, /^[\w-]+$/.test(text) && isNamedId(path))
      let out = cleaned.text
      let count = cleaned.count
      // The same secret keeps the same placeholder, whether its key or its shape gave it away.
      if (
        verdict !== undefined &&
        !isPlaceholder(out) &&
        (verdict.strength === 'code'
          ? isTypedCode(text, verdict.kind)
          : verdict.strength === 'cell'
            ? isCell(text)
            : verdict.strength === 'hard'
              ? !(verdict.byName && (isLabel(text) || isReference(text) || /^[*•]+$/.test(text)))
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
      const head = byKeyName && !named ? headOf(items)?.map((name) => cellVerdict(name)) : undefined
      const texts = byKeyName ? textNameOf(items) : undefined
      for (const [i, item] of items.entries()) {
        path.push(i)
        const next = named
          ? pair(item as Pair, verdict)
          : head !== undefined && i > 0 && Array.isArray(item)
            ? row(item, head)
            : message(
                items,
                i,
                texts,
                i === 1 && isLogin(items, verdict)
                  ? { ...verdict, strength: 'hard' }
                  : (verdict ?? argumentVerdict(items, i)),
              )
        path.pop()
        if (next !== item) {
          copy ??= items.slice()
          copy[i] = next
        }
      }
      return copy ?? items
    }

    const argumentVerdict = (items: JsonValue[], at: number): Verdict | undefined => {
      const [argument, flag] = [items[at], items[at - 1]]
      return byKeyName &&
        typeof argument === 'string' &&
        /^(?!\w+=\w)[^-\s]\S{3,}$/.test(argument) &&
        isSecretFlag(flag, items[0])
        ? { kind: 'password', strength: 'hard', byName: true }
        : undefined
    }

    const message = (
      items: JsonValue[],
      at: number,
      texts: string | undefined,
      verdict: Verdict | undefined,
    ): JsonValue => {
      const asked = texts === undefined ? undefined : questionBefore(items, at, texts)
      if (asked === undefined) return visit(items[at] as JsonValue, verdict)
      ;[question, textName] = [asked, texts]
      const next = visit(items[at] as JsonValue, verdict)
      question = undefined
      return next
    }

    const table = (rows: JsonValue[], head: readonly string[]): JsonValue[] => {
      const verdicts = head.map(cellVerdict)
      const next = rows.map((cells, i) => {
        path.push(i)
        const cleaned = Array.isArray(cells) ? row(cells, verdicts) : visit(cells, undefined)
        path.pop()
        return cleaned
      })
      return next.every((cells, i) => cells === rows[i]) ? rows : next
    }

    const row = (cells: JsonValue[], verdicts: readonly (Verdict | undefined)[]): JsonValue[] => {
      let copy: JsonValue[] | undefined
      for (const [i, cell] of cells.entries()) {
        path.push(i)
        const next = visit(cell, verdicts[i])
        path.pop()
        if (next === cell) continue
        copy ??= cells.slice()
        copy[i] = next
      }
      return copy ?? cells
    }
    const cellVerdict = (name: string): Verdict | undefined => {
      const verdict = verdictOf(name)
      return verdict && verdict.strength !== 'code' ? { ...verdict, strength: 'cell' } : verdict
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

    const object = (
      source: Record<string, JsonValue>,
      above: Verdict | undefined,
    ): Record<string, JsonValue> => {
      const copy: Record<string, JsonValue> = {}
      let changed = false
      if (isDrawn(source)) drawn++
      for (const [key, value] of Object.entries(source)) {
        path.push(key)
        const head = byKeyName && isRows(key) ? headBeside(source, value) : undefined
        const next = head
          ? table(value as JsonValue[], head)
          : visit(
              value,
              (isShortName(key) ? undefined : verdictOf(key)) ??
                besideOf(key, source, above) ??
                verdictOf(key),
            )
        path.pop()
        let name = keyText(key)
        while (name !== key && Object.hasOwn(copy, name)) name += '~'
        setKey(copy, name, next)
        if (next !== value || name !== key) changed = true
      }
      if (isDrawn(source)) drawn--
      return changed ? copy : source
    }

    const besideOf = (
      key: string,
      source: Record<string, JsonValue>,
      above: Verdict | undefined,
    ): Verdict | undefined =>
      isValueName(key)
        ? ((above?.byName ? above : undefined) ?? besideVerdict(source, source[key]))
        : drawn > 0 && key === 'result'
          ? { kind: 'password', strength: 'hard' }
          : isTypedName(key) && byKeyName
            ? fieldVerdict(source)
            : byKeyName &&
                isRepeat(key) &&
                Object.keys(source).some((name) => /pass(?:word|wd|phrase)$/i.test(name))
              ? { kind: 'password', strength: 'hard', byName: true }
              : byKeyName && isShortName(key) && hasUser(source) && !isDirectory(source[key])
                ? { kind: 'password', strength: 'hard', byName: true }
                : byKeyName && isPrivateMember(key) && isWebKey(source)
                  ? { kind: 'private-key', strength: 'hard' }
                  : undefined

    /** What a browser tool types into a field. */
    const fieldVerdict = (source: Record<string, JsonValue>): Verdict | undefined =>
      typesPassword(source)
        ? { kind: 'password', strength: 'hard', byName: true }
        : typesCode(source)
          ? { kind: 'pin', strength: 'code' }
          : undefined

    /** `{ name, value }` and `{ key, value: { stringValue } }`, as headers and attributes are often listed. */
    const besideVerdict = (
      source: Record<string, JsonValue>,
      value: JsonValue | undefined,
    ): Verdict | undefined => {
      if (byKeyName && typeof source['keyName'] === 'string') return { kind: 'api-key', strength: 'soft' }
      if (typeof value !== 'string' && !isStringValue(value)) return undefined
      if (byKeyName && (isDeclared(source) || typesPassword(source)))
        return { kind: 'secret', strength: 'hard', byName: true }
      if (byKeyName && typesCode(source)) return { kind: 'pin', strength: 'code' }
      if (byKeyName && isCookie(source)) return { kind: 'cookie', strength: 'hard' }
      for (const label of labelsOf(source)) {
        const verdict =
          verdictOf(label) ??
          (byKeyName && isSession(label) ? { kind: 'cookie', strength: 'soft' as const } : undefined)
        if (verdict !== undefined) return verdict
      }
      return undefined
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
      return object(value, judged)
    }

    return { value: visit(root, undefined), redacted }
  }
}

const isCell = (text: string): boolean => isPasswordCell(text) || isSecretCell(text)

/** Whether the name nearest to a string says that it is an id, a digest or the like. */
const isNamedId = (path: readonly (string | number)[]): boolean => {
  const name = path.findLast((step) => typeof step === 'string')
  return name !== undefined && (isIdName(name) || /^[xyn]$/.test(name))
}

/** `auth: [name, password]`. */
const isLogin = (items: readonly JsonValue[], verdict: Verdict | undefined): verdict is Verdict =>
  verdict?.kind === 'authorization' &&
  items.length === 2 &&
  typeof items[0] === 'string' &&
  typeof items[1] === 'string' &&
  items[1].length >= 6 &&
  isPassword(items[1])

/** A `g` or `y` flag would make `test` remember where it was. */
const unstated = (pattern: RegExp): RegExp => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
