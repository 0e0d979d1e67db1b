import { ClewError } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import { createTextMemo } from '../hash/text-memo.ts'
import { compilePath } from './path-rule.ts'
import { PERSONAL, type TextRule } from './policies.ts'
import { assertTame } from './probe-pattern.ts'
import { scanText } from './scan.ts'
import { outsidePlaceholders, replaceSpans, settleSpans, type Span } from './spans.ts'
import { createStream, type RedactionStream } from './stream.ts'
import { createWalk } from './walk.ts'

/** One rule of your own: by key name, by path (`$.a.b[*].c`, `**` for any depth) or by pattern. */
export interface RedactionRule {
  kind: string
  key?: RegExp
  path?: string
  pattern?: RegExp
  validate?(match: string): boolean
}

export interface RedactOptions {
  policies?: readonly ('secrets' | 'personal')[]
  rules?: readonly RedactionRule[]
  /** Exceptions that are never redacted: a pattern that fits the found text, or a path such as `$.headers.**`. */
  allow?: readonly (RegExp | string)[]
  /** Your own function, applied last to every string. */
  redact?: (text: string, path: readonly (string | number)[]) => string
}

export interface Redactor {
  /** Returns the same reference when nothing changed. */
  value(value: JsonValue): { value: JsonValue; redacted: number }
  /** Free text, such as an error message. */
  text(text: string): string
  /** Text that comes in pieces: the pieces together give what `text` gives for the whole. */
  stream(): RedactionStream
}

/** No mark is shorter. */
const SHORTEST_MARK = 16

const OFF: Redactor = {
  value: (value) => ({ value, redacted: 0 }),
  text: (text) => text,
  stream: () => ({ push: (chunk) => chunk, end: () => '' }),
}

/**
 * `false` switches redaction off; `fingerprint` is a keyed hash, so that equal secrets stay equal (P2). With a clock,
 * patterns of the user's are tried before they are trusted.
 */
export function createRedactor(
  options: RedactOptions | false,
  fingerprint: (secret: string) => string,
  now?: () => number,
): Redactor {
  if (options === false) return OFF
  const { policies = ['secrets'], rules = [], allow = [], redact: own } = options
  const hasSecrets = policies.includes('secrets')
  for (const rule of rules) checkRule(rule, now)
  const textRules = [...rules.flatMap(toTextRule), ...(policies.includes('personal') ? PERSONAL : [])]
  const { isAllowedText, isAllowedPath } = createAllowed(allow)
  /** Texts in which the built-in scan found nothing: it depends on the text alone. Hits are never remembered. */
  const cleanTexts = createTextMemo<true>()

  function builtIn(text: string): readonly Span[] {
    if (!hasSecrets || cleanTexts.get(text)) return []
    const { spans } = scanText(text)
    if (spans.length === 0) cleanTexts.set(text, true)
    return spans
  }

  const settle = (text: string, spans: readonly Span[]): readonly Span[] =>
    spans.length === 0
      ? spans
      : settleSpans(spans.filter(({ start, end }) => !isAllowedText(text.slice(start, end))))

  function clean(text: string, more: readonly Span[] = []): { text: string; count: number } {
    const custom = textRules.length === 0 ? [] : outsidePlaceholders(text, matchRules(text, textRules))
    const found = builtIn(text)
    if (found.length + custom.length + more.length === 0) return { text, count: 0 }
    const spans = settle(text, [...more, ...custom, ...found])
    return spans.length === 0
      ? { text, count: 0 }
      : { text: replaceSpans(text, spans, fingerprint), count: spans.length }
  }

  const walk = createWalk({
    clean,
    fingerprint,
    rules,
    byName: hasSecrets,
    shortestKey: textRules.length > 0 ? 0 : SHORTEST_MARK,
    isAllowed: isAllowedPath,
    own,
  })
  return {
    value: walk,
    text(whole) {
      const { text } = clean(whole)
      return own === undefined ? text : own(text, [])
    },
    stream: () =>
      createStream({
        find(text, from) {
          const custom = textRules.length === 0 ? [] : outsidePlaceholders(text, matchRules(text, textRules))
          const { spans, open } = hasSecrets
            ? scanText(text, { growing: true, from })
            : { spans: [], open: text.length }
          return { spans: settle(text, [...custom, ...spans]), open }
        },
        fingerprint,
        byLine: textRules.length > 0 || own !== undefined,
        own: own && ((part) => own(part, [])),
      }),
  }
}

function matchRules(text: string, rules: readonly TextRule[]): Span[] {
  const spans: Span[] = []
  for (const { kind, pattern, validate } of rules)
    for (const match of text.matchAll(pattern)) {
      const [found] = match
      if (found !== '' && (validate?.(found) ?? true))
        spans.push({ start: match.index, end: match.index + found.length, kind })
    }
  return spans
}

function createAllowed(allow: readonly (RegExp | string)[]): {
  isAllowedText(found: string): boolean
  isAllowedPath(path: readonly (string | number)[]): boolean
} {
  const patterns: RegExp[] = []
  const paths: ReturnType<typeof compilePath>[] = []
  for (const each of allow)
    if (typeof each === 'string') paths.push(compilePath(each))
    else patterns.push(new RegExp(each.source, each.flags.replace(/[gy]/g, '')))
  return {
    isAllowedText: (found) => patterns.some((pattern) => pattern.test(found)),
    isAllowedPath: (path) => paths.some((matches) => matches(path)),
  }
}

function checkRule({ kind, pattern, key }: RedactionRule, now: (() => number) | undefined): void {
  if (!/^[a-z0-9-]+$/.test(kind))
    throw new ClewError(
      'bad_option',
      'A redaction rule has a kind that cannot stand in a placeholder',
      'Use small letters, digits and hyphens',
    )
  for (const each of [pattern, key]) if (each && now) assertTame(kind, each, now)
}

function toTextRule(rule: RedactionRule): TextRule[] {
  const { kind, pattern } = rule
  if (pattern === undefined) return []
  const global = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
  return [{ kind, pattern: global, validate: (text) => rule.validate?.(text) ?? true }]
}
