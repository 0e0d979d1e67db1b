import { isBasicCredentials, isGenerated, isPassword, isTemplate, looksAssigned } from './checks.ts'
import { HARD_KEY, KEY_ENDING, keyStrength, kindOfKey, SOFT_KEY } from './keys.ts'
import type { Detector } from './rules.ts'

/** `password: hunter…`, `OPENAI_API_KEY=…`, `"api_key": "…"` and headers inside text. */

const QUOTE = `\\\\{0,3}["'\`]`
const KEY = `(?<key>${HARD_KEY}|${SOFT_KEY})`
const kind = (match: RegExpExecArray): string => kindOfKey(match.groups?.key ?? '')

const nameBefore = (match: RegExpExecArray): string => {
  const end = match.index + (match.groups?.key?.length ?? 0)
  return /[\w-]*$/.exec(match.input.slice(Math.max(0, end - 64), end))?.[0] ?? ''
}

const judge = (secret: string, match: RegExpExecArray, hard: (secret: string) => boolean): boolean => {
  const strength = keyStrength(nameBefore(match))
  // The key with which git signs is told by its public fingerprint.
  if (/signing[-_]?key$/i.test(nameBefore(match)) && /^[0-9A-F]{8,40}$/.test(secret)) return false
  return strength === 'hard' ? hard(secret) : strength === 'soft' && isGenerated(secret)
}

/** One anchor for all of them: the `:` or `=`, seen from which the key name is looked up backwards. */
const BEFORE = `["'\`\\\\]{0,9} {0,3}[:=]`
const SHORT = '(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|[pP]sk|PSK)'
const ASSIGNMENT = `[:=](?<=(?:${KEY_ENDING}|[sS][sSkK]|[pP][wW])${BEFORE})(?<=(?:${HARD_KEY}|${SOFT_KEY}|${SHORT})${BEFORE})`
const FLAG = `--(?:[a-z]{1,12}-){0,3}${KEY}`

/** For a second anchor of the same detector. */
const NEVER = /(?!)/g
const IN_QUOTES = '\\\\{0,9}["\'`].'
const IN_QUOTES_THEN = '\\\\{0,9}["\'`]\\]? {0,2}.'
const NAMED_IN_QUOTES = `(?<=${KEY_ENDING}${IN_QUOTES})(?<=(?:${HARD_KEY}|${SOFT_KEY})${IN_QUOTES})`

export const assignmentDetectors: readonly Detector[] = [
  {
    // JSON inside a string, such as the arguments of a tool call: the same rule as for real object keys.
    kind,
    anchor: ASSIGNMENT,
    pattern: new RegExp(
      `${KEY}${QUOTE} {0,3}: {0,3}(?<quote>${QUOTE})(?!\\k<quote>)(?<secret>[^\\r\\n]{1,8192}?)(?=(?<!\\\\)\\k<quote>)`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, () => true),
  },
  {
    kind: 'authorization',
    anchor: '',
    pattern: new RegExp(
      `authorization(?:${QUOTE})? {0,3}[:=] {0,3}(?:${QUOTE})?(?<scheme>[a-z][a-z-]{2,20}) +(?<secret>[^\\s"'\`\\\\,;]{6,})`,
      'gi',
    ),
    validate: (secret, match) =>
      /^(?:bearer|basic|token|apikey|digest|negotiate)$/i.test(match.groups?.scheme ?? '')
        ? !isTemplate(secret) && !/^[A-Za-z]?[a-z_.-]*$/.test(secret)
        : isGenerated(secret),
  },
  {
    // `curl -u name:password`, but not `docker run -u 1000:1000`.
    kind: 'password',
    anchor: `-(?=(?:u|-user)[ =]{1,2}["'\`\\\\]{0,9}[^\\s"':]{0,64}:)`,
    pattern: new RegExp(
      `(?<![\\w-])-(?:u|-user)[ =]{1,2}(?:${QUOTE})?[^\\s"'\`:\\\\]{0,64}:(?<secret>[^\\s"'\`\\\\]{8,128})`,
      'g',
    ),
    validate: looksAssigned,
  },
  {
    kind: 'cookie',
    anchor: '',
    pattern: new RegExp(
      `cookie(?:${QUOTE})? {0,3}: {0,3}(?:${QUOTE})?(?<secret>[\\w.%-]{1,64}=[^\\s;"'\\\\]{1,4096}(?:; ?[^;\\r\\n"'\\\\]{1,4096}){0,64})`,
      'gi',
    ),
    validate: (secret) => !/=[<$]/.test(secret),
  },
  {
    // A line of an environment dump: the shape is evidence enough, so the value may be a plain word.
    kind,
    anchor: '',
    pattern: new RegExp(
      `(?<![\\w-])[A-Z0-9_]{0,60}?${KEY.replaceAll(/\[([a-z])([A-Z])\]/g, '$2')}=["']?(?<secret>[^\\s"'\`\\\\,;&]{6,512})`,
      'g',
    ),
    validate: (secret, match) => {
      const name = /[A-Z0-9_]+(?==)/.exec(match[0])?.[0] ?? ''
      return keyStrength(name) === 'hard' ? !isTemplate(secret) && !/^[/.]/.test(secret) : isGenerated(secret)
    },
  },
  {
    kind,
    anchor: '',
    pattern: new RegExp(
      `${KEY}(?:${QUOTE})? {0,3}(?::=|=>|[:=])[ \\t]{0,3}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{8,1536})(?![^\\s"'\`\\\\,;&)}<>])`,
      'g',
    ),
    validate: (secret, match) =>
      judge(
        secret,
        match,
        (text) => looksAssigned(text) || (/^\d{8,}$/.test(text) && kind(match) === 'password'),
      ),
  },
  {
    kind,
    anchor: `-(?=${FLAG.replace('?<key>', '?:').slice(1)} )`,
    pattern: new RegExp(`${FLAG}[ =]["']?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{8,512})`, 'g'),
    validate: (secret) => looksAssigned(secret) && !secret.startsWith('-'),
  },
  {
    // Short names of passwords, which are words elsewhere.
    kind: 'password',
    anchor: '',
    pattern: new RegExp(
      `(?<![A-Za-z])${SHORT}(?:${QUOTE})? {0,3}[:=] {0,3}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{6,512})(?![^\\s"'\`\\\\,;&)}<>])`,
      'g',
    ),
    validate: isPassword,
  },
  {
    // What Docker keeps of a login.
    kind: 'basic-credentials',
    anchor: '',
    pattern: new RegExp(
      `(?<![A-Za-z])auth${QUOTE} {0,3}: {0,3}${QUOTE}(?<secret>[A-Za-z0-9+/]{8,}={0,2})(?=${QUOTE})`,
      'g',
    ),
    validate: isBasicCredentials,
  },
]

/** The name and the value in other places than around a sign. Their anchors have characters of their own, so they are a group. */
export const labelledDetectors: readonly Detector[] = [
  {
    // `config.set('api_key', '…')`, `environ["API_KEY"] = "…"`, `var apiKey string = "…"`, `gh secret set API_KEY --body "…"`.
    kind,
    anchor: `,${NAMED_IN_QUOTES}`,
    pattern: new RegExp(
      `${KEY}(?:${QUOTE}\\]? {0,2}(?:,|=|=>)| [A-Za-z*&]{3,8} ?=| --body) {0,3}${QUOTE}(?<secret>[^\\s"'\`\\\\]{6,4096})(?=${QUOTE})`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, (text) => looksAssigned(text) || isPassword(text)),
  },
  {
    kind,
    anchor: `>(?<=${KEY_ENDING}.)(?<=(?:${HARD_KEY}|${SOFT_KEY}).)`,
    pattern: new RegExp(`(?<=(?<!\\?)<[A-Za-z0-9_.-]{0,40})${KEY}>(?<secret>[^\\s<>]{6,4096})(?=<)`, 'g'),
    validate: (secret, match) => judge(secret, match, (text) => looksAssigned(text) || isPassword(text)),
  },
  { kind, anchor: `\\]${NAMED_IN_QUOTES}`, pattern: NEVER },
  { kind, anchor: '-(?=-body )', pattern: NEVER },
  {
    kind,
    anchor: `=(?<=${KEY_ENDING}${IN_QUOTES_THEN})(?<=(?:${HARD_KEY}|${SOFT_KEY})${IN_QUOTES_THEN})`,
    pattern: NEVER,
  },
  {
    kind,
    anchor: `=(?<= [A-Za-z*&]{3,8} ?.)(?<=(?:${HARD_KEY}|${SOFT_KEY}) [A-Za-z*&]{3,8} ?.)`,
    pattern: NEVER,
  },
]
