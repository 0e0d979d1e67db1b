import { ClewError } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { Detector } from './detector.ts'
import { createLook } from './look.ts'
import { PERSONAL } from './personal.ts'
import { assertTame } from './probe-pattern.ts'
import { longRuns, markedRuns } from './long-runs.ts'
import { nearName } from './near-name.ts'
import { recoveryPhrases } from './recovery-phrase.ts'
import { SECRETS } from './rules.ts'
import { createScan } from './scan.ts'
import { cleanText } from './spans.ts'
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
  /** Your own function, applied last to every string. */
  redact?: (text: string, path: readonly (string | number)[]) => string
}

export interface Redactor {
  /** Returns the same reference when nothing changed, which one quick look tells of nearly all values. */
  value(value: JsonValue): { value: JsonValue; redacted: number }
  /** Free text, such as an error message. */
  text(text: string): string
  /** Text that comes in pieces: the pieces together give what `text` gives for the whole. */
  stream(): RedactionStream
}

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
  const { policies = ['secrets'], rules = [], redact: own } = options
  const byKeyName = policies.includes('secrets')
  const groups = [...(byKeyName ? SECRETS : []), ...(policies.includes('personal') ? [PERSONAL] : [])]
  const custom = rules.flatMap(patternDetector)
  for (const { kind, pattern, key } of now ? rules : [])
    for (const each of [pattern, key]) if (each && now) assertTame(kind, each, now)
  const scan = createScan(custom, groups, byKeyName ? [longRuns, nearName, recoveryPhrases] : [])
  const scanId = createScan(custom, groups, byKeyName ? [markedRuns, nearName, recoveryPhrases] : [])

  const alwaysWalk = rules.length > 0 || own !== undefined
  const clean = (text: string, isId = false) => cleanText(text, (isId ? scanId : scan).find, fingerprint)
  const walk = createWalk({
    clean,
    fingerprint,
    rules,
    byKeyName,
    ...(own && { own }),
  })

  const look = createLook(scan, scanId, byKeyName)
  const text = (whole: string): string => {
    const cleaned = clean(whole).text
    return own === undefined ? cleaned : own(cleaned, [])
  }
  return {
    value: (value) => (alwaysWalk || look(value) ? walk(value) : { value, redacted: 0 }),
    text,
    stream: () =>
      createStream({
        find: scan.find,
        unsettled: scan.unsettled,
        fingerprint,
        byLine: custom.length > 0 || own !== undefined,
        own: own && ((part) => own(part, [])),
      }),
  }
}

function patternDetector(rule: RedactionRule): Detector[] {
  if (!/^[a-z0-9-]+$/.test(rule.kind))
    throw new ClewError(
      'bad_option',
      'A redaction rule has a kind that cannot stand in a placeholder',
      'Use small letters, digits and hyphens',
    )
  if (rule.pattern === undefined) return []
  const { kind } = rule
  const pattern = new RegExp(rule.pattern.source, `${rule.pattern.flags.replace(/[gy]/g, '')}g`)
  return [
    {
      kind,
      anchor: '',
      pattern,
      validate: (_, match) => rule.validate?.(match[0]) ?? true,
    },
  ]
}
