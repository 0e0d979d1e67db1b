import {
  isBasicCredentials,
  isGenerated,
  isLabel,
  isReference,
  isNamedOnly,
  isPassword,
  isTemplate,
  looksAssigned,
} from './checks.ts'
import { isCertain } from './certain.ts'
import { HARD_KEY, KEY_ENDING, keyStrength, kindOfKey, SOFT_KEY } from './keys.ts'
import type { Detector } from './detector.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'

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
  if (isNamedOnly(match)) return false
  // The key with which git signs is told by its public fingerprint.
  if (/signing[-_]?key$/i.test(nameBefore(match)) && /^[0-9A-F]{8,40}$/.test(secret)) return false
  return strength === 'hard' ? hard(secret) : strength === 'soft' && isGenerated(secret)
}

/** One anchor for all of them: the `:` or `=`, seen from which the key name is looked up backwards. */
const BEFORE = `["'\`\\\\]{0,9} {0,40}[:=]`
const SHORT = '(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|PW|[pP]sk|PSK)'
const ASSIGNMENT = `[:=](?<=(?:${KEY_ENDING}|[sS][sSkK]|[pP][wW])${BEFORE})(?<=(?:${HARD_KEY}|${SOFT_KEY}|${SHORT})${BEFORE})`
const FLAG = `--(?:[a-z]{1,12}[-.]){0,3}${KEY}`

const IN_QUOTES = '\\\\{0,9}["\'`].'
const IN_QUOTES_THEN = '\\\\{0,9}["\'`]\\]? {0,2}.'
const NAMED_IN_QUOTES = `(?<=${KEY_ENDING}${IN_QUOTES})(?<=(?:${HARD_KEY}|${SOFT_KEY})${IN_QUOTES})`

/** Only the choices of a visitor: consent, language, colours. */
const isPreference = (cookies: string): boolean =>
  cookies
    .split(/; ?/)
    .every((one) =>
      /^(?:[\w.-]*(?:consent|lang|language|locale|theme|dark|color|colour|currency|timezone|tz|country|region|banner|seen|dismissed|sidebar|layout|gdpr|cookies?)[\w.-]*=[^=]{0,40}|path=.*|domain=.*|max-age=.*|expires=.*|samesite=.*|secure|httponly)$/i.test(
        one,
      ),
    )

const isFallback = (text: string): boolean =>
  !isTemplate(text) && (isPassword(text) || looksAssigned(text) || isPassphrase(text))

const XML_NAMED = `(?:${HARD_KEY}|${SOFT_KEY})(?:${QUOTE}[^<>"'\`\\r\\n]{0,60}|<\\/[A-Za-z]{1,10})`

export const assignmentDetectors: readonly Detector[] = [
  {
    // JSON inside a string, such as the arguments of a tool call: the same rule as for real object keys.
    kind,
    anchor: ASSIGNMENT,
    pattern: new RegExp(
      `${KEY}${QUOTE} {0,3}: {0,3}(?<quote>${QUOTE})(?!\\k<quote>)(?<secret>[^\\r\\n]{1,8192}?)(?=(?<!\\\\)\\k<quote>)`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, (text) => !isLabel(text) && !isReference(text)),
  },
  {
    kind: 'authorization',
    anchor: [],
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
    // In quotation marks it may have spaces, as those of WordPress do.
    kind: 'password',
    anchor: [],
    pattern:
      /(?<![\w-])-(?:u|-user)[ =]\\{0,3}(?<quote>["'])[^\s"':\\]{1,64}:(?<secret>[^"'\r\n\\]{8,128})(?=\\{0,3}\k<quote>)/g,
    validate: (secret) => !isTemplate(secret),
  },
  {
    kind: 'cookie',
    anchor: [],
    pattern: new RegExp(
      `cookie(?:${QUOTE})? {0,3}: {0,3}(?:${QUOTE})?(?<secret>[\\w.%-]{1,64}=[^\\s;"'\\\\]{1,4096}(?:; ?[^;\\r\\n"'\\\\]{1,4096}){0,64})`,
      'gi',
    ),
    validate: (secret) => !/=[<$]/.test(secret) && !isPreference(secret),
  },
  {
    // A line of an environment dump: the shape is evidence enough, so the value may be a plain word.
    kind,
    anchor: [],
    pattern: new RegExp(
      `(?<![\\w-])[A-Z0-9_]{0,60}?${KEY.replaceAll(/\[([a-z])([A-Z])\]/g, '$2')}=["']?(?<secret>[^\\s"'\`\\\\,;&]{6,512})`,
      'g',
    ),
    validate: (secret, match) => {
      const name = /[A-Z0-9_]+(?==)/.exec(match[0])?.[0] ?? ''
      return keyStrength(name) === 'hard'
        ? !isTemplate(secret) && !/^<?[a-z]{3,}[-_][a-z]+>?$/.test(secret) && !/^[/.]/.test(secret)
        : isGenerated(secret)
    },
  },
  {
    kind,
    anchor: [],
    pattern: new RegExp(
      `${KEY}(?:${QUOTE})? {0,40}(?::=|=>|[:=])[ \\t]{0,16}[bru@]?(?:${QUOTE})?(?=(?<secret>[^\\s"'\`\\\\,;&(){}<>]{8,1536}))\\k<secret>(?![^\\s"'\`\\\\,;&)}<>])`,
      'g',
    ),
    validate: (secret, match) =>
      judge(
        secret,
        match,
        (text) =>
          looksAssigned(text) || isPassphrase(text) || (/^\d{8,}$/.test(text) && kind(match) === 'password'),
      ),
  },
  {
    // `password: process.env.DB_PASS ?? "…"`, `password = os.getenv("DB") or "…"`.
    kind,
    anchor: [],
    pattern: new RegExp(
      `${KEY}(?:${QUOTE})? {0,40}[:=] {0,8}[\\w.$:]{1,60}(?:[[(]{1,2}(?:${QUOTE})?[\\w.-]{0,60}(?:${QUOTE})?[\\])]{1,2})?(?: {0,2}(?:\\?\\?|\\|\\||\\?:)| or| if .{1,40} else) {0,2}(?:${QUOTE})(?<secret>[^\\s"'\`\\\\]{4,512})(?=${QUOTE})`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, isFallback),
  },
  {
    // `${DB_PASSWORD:-…}`, `${db.password:…}`.
    kind,
    anchor: [],
    pattern: new RegExp(
      `\\{[\\w.-]{0,60}?(?:${KEY}|${SHORT}):[-=]?(?<secret>[^\\s"'\`{}$\\\\]{4,256})(?=\\})`,
      'g',
    ),
    validate: (secret) => isFallback(secret) && /[\d!@#%^&*+]/.test(secret),
  },
  {
    // `SSHPASS=…`, in capitals and joined to the word before.
    kind: 'password',
    anchor: [],
    pattern: new RegExp(
      `(?<![\\w-])[A-Z][A-Z0-9_]{0,40}(?<!BY|COM|OLD|SUR|TRES)(?:PASS|PWD|PSK)=["']?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{6,512})(?![^\\s"'\`\\\\,;&)}<>])`,
      'g',
    ),
    validate: (secret) => isPassword(secret) && !secret.startsWith('/'),
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
    anchor: [],
    pattern: new RegExp(
      `(?:(?<![A-Za-z])|(?<=\\\\[bfnrt]))${SHORT}(?:${QUOTE})? {0,3}[:=] {0,3}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{6,512})(?![^\\s"'\`\\\\,;&)}<>])`,
      'g',
    ),
    validate: (secret) => isPassword(secret) || /^[A-Za-z0-9+/]{8,}={1,2}$/.test(secret),
  },
  {
    // `DB_PASS=lemon-cabin-frost`, `?password=…`; no code has hyphens there.
    kind: 'password',
    anchor: [],
    pattern:
      /(?:[pP]assword|PASSWORD|(?:(?<![A-Za-z])|(?<=_))(?:[pP]ass|PASS|[pP]wd|PWD|PW))=(?<secret>[a-z]{4,10}-[a-z]{4,10}-[a-z]{4,10})(?![\w.(-])/g,
    validate: isShortPhrase,
  },
  {
    // What Docker keeps of a login.
    kind: 'basic-credentials',
    anchor: [],
    pattern: new RegExp(
      `(?<![A-Za-z])auth${QUOTE} {0,3}: {0,3}${QUOTE}(?<secret>[A-Za-z0-9+/]{8,}={0,2})(?=${QUOTE})`,
      'g',
    ),
    validate: isBasicCredentials,
  },
]

/** `gh secret set DB_PASSWORD --body …`. */
const isBodyPassword = (text: string, match: RegExpExecArray): boolean =>
  match[0].includes(' --body') && isCertain(text)

/** The name and the value in other places than around a sign. Their anchors have characters of their own, so they are a group. */
export const labelledDetectors: readonly Detector[] = [
  {
    // `config.set('api_key', '…')`, `environ["API_KEY"] = "…"`, `var apiKey string = "…"`, `gh secret set API_KEY --body "…"`.
    kind,
    anchor: [
      `,${NAMED_IN_QUOTES}`,
      `\\]${NAMED_IN_QUOTES}`,
      '-(?=-body )',
      `=(?<=${KEY_ENDING}${IN_QUOTES_THEN})(?<=(?:${HARD_KEY}|${SOFT_KEY})${IN_QUOTES_THEN})`,
      `\\|(?=\\|| default )(?<=${KEY_ENDING}["'\`\\\\)\\]]{0,9} {0,2}.)(?<=(?:${HARD_KEY}|${SOFT_KEY})["'\`\\\\)\\]]{0,9} {0,2}.)`,
      `=(?<= [A-Za-z*&]{3,8} ?.)(?<=${KEY_ENDING} [A-Za-z*&]{3,8} ?.)(?<=(?:${HARD_KEY}|${SOFT_KEY}) [A-Za-z*&]{3,8} ?.)`,
    ],
    pattern: new RegExp(
      `${KEY}(?:${QUOTE}[\\])]{0,2} {0,2}(?:,|=|=>|\\|\\|)| [A-Za-z*&]{3,8} ?=| --body| {0,2}(?:\\|\\||\\| default)) {0,16}(?:default ?= ?|fallback: ?)?[bru@]?${QUOTE}(?<secret>[^\\s"'\`\\\\]{6,4096})(?=${QUOTE})`,
      'g',
    ),
    validate: (secret, match) =>
      judge(secret, match, (text) => looksAssigned(text) || isPassword(text) || isBodyPassword(text, match)),
  },
  {
    kind,
    anchor: `>(?<=${KEY_ENDING}.)(?<=(?:${HARD_KEY}|${SOFT_KEY}).)`,
    pattern: new RegExp(
      `(?<=(?<!\\?)<[A-Za-z0-9_.-]{0,40})${KEY}>(?:<!\\[CDATA\\[)?(?<secret>[^\\s<>\\]]{6,4096})(?=<\\\\{0,3}\\/|\\]\\])`,
      'g',
    ),
    validate: (secret, match) =>
      judge(
        secret,
        match,
        (text) => looksAssigned(text) || isPassword(text) || (kind(match) === 'password' && isCertain(text)),
      ),
  },
  {
    // The salts of WordPress have all signs, the space too.
    kind: 'secret',
    anchor: [],
    pattern:
      /define\(\s{0,4}\\{0,3}['"][A-Z_]{0,20}(?:KEY|SALT)\\{0,3}['"],\s{0,16}\\{0,3}'(?<secret>[^'\r\n]{24,160}?)(?=\\{0,3}')/g,
    validate: (secret) => /\d/.test(secret) && /[A-Za-z]/.test(secret) && !secret.startsWith('put your'),
  },
]

/** Names and values in XML. The anchor has a sign that the others do without. */
export const xmlDetectors: readonly Detector[] = [
  {
    // `<key>password</key><string>…</string>`, `<property name="password">…</property>`, `<th>Password</th><td>…</td>`.
    kind,
    anchor: `>(?<=${XML_NAMED}.)`,
    pattern: new RegExp(
      `${KEY}(?:${QUOTE}[^<>"'\`\\r\\n]{0,60}|<\\/[A-Za-z]{1,10})>(?:\\s|\\\\{1,9}[nrt]){0,24}(?:<[A-Za-z]{1,16}[^<>]{0,60}>(?:\\s|\\\\{1,9}[nrt]){0,24}){0,2}(?<secret>[^\\s<>]{5,4096})(?=<\\\\{0,3}\\/)`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, (text) => looksAssigned(text) || isPassword(text)),
  },
]
