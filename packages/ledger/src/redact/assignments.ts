import {
  entropyOf,
  isBasicCredentials,
  isGenerated,
  isLabel,
  isReference,
  isNamedOnly,
  isPassword,
  isTemplate,
  looksAssigned,
} from './checks.ts'
import { isCertain, isNoPassword, isSaidWord } from './plain-words.ts'
import { HARD_KEY, KEY_ENDING, keyStrength, kindOfKey, SOFT_KEY } from './keys.ts'
import { isJoinedBare, isJoinedHere } from './joined-words.ts'
import type { Detector } from './detector.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'

/** `password: hunter…`, `OPENAI_API_KEY=…`, `"api_key": "…"` and headers inside text. */

const looksGiven = (text: string): boolean => looksAssigned(text) || isPassword(text)

export const QUOTE = `\\\\{0,3}["'\`]`
export const KEY = `(?<key>${HARD_KEY}|${SOFT_KEY})`
export const kind = (match: RegExpExecArray): string => kindOfKey(match.groups?.key ?? '')

const nameBefore = (match: RegExpExecArray): string => {
  const end = match.index + (match.groups?.key?.length ?? 0)
  return /[\p{L}\w.-]*$/u.exec(match.input.slice(Math.max(0, end - 64), end))?.[0] ?? ''
}

export const judge = (secret: string, match: RegExpExecArray, hard: (secret: string) => boolean): boolean => {
  const strength = keyStrength(nameBefore(match))
  if (isNamedOnly(match)) return false
  // The key with which git signs is told by its public fingerprint.
  if (/signing[-_]?key$/i.test(nameBefore(match)) && /^[0-9A-F]{8,40}$/.test(secret)) return false
  if (/jwt$/i.test(nameBefore(match)) && /^[0-9a-f]+$/.test(secret)) return false
  if (isPreference(secret) || isUnset(secret)) return false
  return strength === 'hard' ? hard(secret) : strength === 'soft' && isGenerated(secret)
}

/** One anchor for all of them: the `:` or `=`, seen from which the key name is looked up backwards. */
const BEFORE = `["'\`\\\\]{0,9} {0,40}[:=]`
const SHORT = '(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|PW|[pP]sk|PSK)'
const ASSIGNMENT = `[:=](?<![^_]\\d.)(?<=(?:${KEY_ENDING}|[sS][sSkK]|[pP][wW])${BEFORE})(?<=(?:${HARD_KEY}|${SOFT_KEY}|${SHORT})${BEFORE})`
/** `dbPass`, but not the passes of a renderer, a compiler or a traveller. */
const INNER_SHORT =
  '(?<=[a-z0-9])(?<!first|second|third|render|depth|shadow|post|pre|main|color|blur|bloom|geometry|light|forward|deferred|single|multi|next|last|final|compile|compute|effect|shader|type|check|boarding|season|day|travel|gate|test|each|did|has|all|over|under|one|two)(?:Pass|Pwd|Pw)'
/** `dbpass`, `remotepass`. */
const JOINED_SHORT =
  '(?<=(?<![a-zA-Z])(?:db|remote|local|user|root|admin|mail|smtp|imap|ftp|ssh|bind|store|key|http|proxy|vpn|wifi|sql|mysql|pg|redis|ldap|login|master|web|app|host|server))(?:pass|pwd|pw)'
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

/** A cookie that is taken back, or that code fills in: `sid=; Path=/`, `sid=${id}; HttpOnly`. */
const isUnset = (cookie: string): boolean =>
  /^[^=;\s]+=(?:\$\{[^{}]*\})?; ?(?:path|max-age|expires|domain|httponly|samesite|secure)/i.test(cookie)

/** Drawn from letters, digits and all signs, as Django does it; code has words between its signs. */
const isDrawnOfSigns = (text: string): boolean =>
  !isTemplate(text) &&
  entropyOf(text) >= 4.2 &&
  !/[A-Za-z]{9}|:\/\//.test(text.replace('django-insecure', '')) &&
  new Set(text.match(/[!@#$^*()+]/g)).size >= (/[A-Za-z]{3}\(|\)$/.test(text) ? 6 : 3)

const isFallback = (text: string): boolean =>
  !isTemplate(text) && (isPassword(text) || looksAssigned(text) || isPassphrase(text) || isSaidWord(text))

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
      /^(?:bearer|basic|token|apikey|negotiate)$/i.test(match.groups?.scheme ?? '')
        ? !isTemplate(secret) && !/^[A-Za-z]?[a-z_.-]*$|^[A-Z_]+(?:<\/|$)/.test(secret)
        : isGenerated(secret),
  },
  {
    // What a Digest, a Hawk or a MAC proves the password with.
    kind: 'authorization',
    anchor: [],
    pattern: new RegExp(
      `authorization(?:${QUOTE})? {0,3}[:=] {0,3}(?:${QUOTE})?(?:digest|hawk|mac|hmac|[a-z0-9-]{2,20}hmac[a-z0-9-]{0,20}) [^\\r\\n]{0,600}?(?:response|mac|signature)=(?:${QUOTE})?(?<secret>[\\w+/=-]{20,128})`,
      'gi',
    ),
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
    validate: (secret) => !/=(?:[<$]|\{\w*\})/.test(secret) && !isPreference(secret),
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
      // The first word of several in quotation marks; whether they are a password is asked elsewhere.
      if (
        /PASS|PWD/.test(name) &&
        /["']$/.test(match[0].slice(0, -secret.length)) &&
        match.input[match.index + match[0].length] === ' '
      )
        return false
      if (isNoPassword(secret)) return false
      return keyStrength(name) === 'hard'
        ? !isTemplate(secret) &&
            !/^<?[a-z]{3,}[-_][a-z]+>?$/.test(secret) &&
            !/^[/.]|^-----BEGIN|^[a-z_]+\.[A-Z_]+$/.test(secret)
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
    kind,
    anchor: [],
    pattern: new RegExp(
      `${KEY}(?:${QUOTE})? {0,40}[:=] {0,16}[bru]?(?:${QUOTE})?(?<secret>[\\w!@#$%^&*()=+-]{24,256})(?=["'\`\\s\\\\]|$)`,
      'g',
    ),
    validate: (secret, match) => isDrawnOfSigns(secret) && judge(secret, match, () => true),
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
      `\\$\\\\{0,3}\\{[\\w.-]{0,60}?(?:${KEY}|${SHORT}):[-=]?(?<secret>[^\\s"'\`{}$\\\\]{4,256})(?=\\})`,
      'g',
    ),
    validate: (secret) => (isFallback(secret) && /[\d!@#%^&*+]/.test(secret)) || isJoinedBare(secret),
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
      `(?:(?:(?<![A-Za-z])|(?<=\\\\[bfnrt]))${SHORT}|${INNER_SHORT}|${JOINED_SHORT})(?:${QUOTE})? {0,3}(?:=>|[:=]) {0,3}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;&(){}<>]{6,512})(?![^\\s"'\`\\\\,;&)}<>])`,
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

/** Behind a comma it is the value of a call, not the next name of a list. */
const isNoList = (text: string, { 0: found, input, index }: RegExpExecArray): boolean =>
  !/,\s*[bru@]?\\*["'`]$/.test(found.slice(0, -text.length)) ||
  /(?:define|env|put|property|set|var)\(\s*\\*["'`][\w.-]*$/i.test(
    input.slice(Math.max(0, index - 48), index),
  )

/** `['Authorization', 'A2A-Version']`. */
const isHeader = (text: string, match: RegExpExecArray): boolean =>
  /^(?:authorization|cookie|x-.*)$/i.test(match.groups?.key ?? '') &&
  /^[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z]*)+$/.test(text)

/** Of a variable. */
const TYPE = "(?:&'static )?[A-Za-z*&?.]{3,16}"

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
      `=(?<= ${TYPE} ?.)(?<=${KEY_ENDING}:? ${TYPE} ?.)(?<=(?:${HARD_KEY}|${SOFT_KEY}):? ${TYPE} ?.)`,
    ],
    pattern: new RegExp(
      `${KEY}(?:${QUOTE}[\\])]{0,2} {0,2}(?:,|=|=>|\\|\\|=?)|:? ${TYPE} ?=| --body| {0,2}(?:\\|\\||\\| default)) {0,16}(?:default ?= ?|fallback: ?)?[bru@]?${QUOTE}(?<secret>[^\\s"'\`\\\\]{6,4096})(?=${QUOTE})`,
      'g',
    ),
    validate: (secret, match) =>
      !isHeader(secret, match) &&
      judge(
        secret,
        match,
        (text) =>
          looksGiven(text) ||
          isBodyPassword(text, match) ||
          ((kind(match) === 'password' || /^(?:secret_key|SECRET_KEY)$/.test(match.groups?.key ?? '')) &&
            (isSaidWord(text) || isJoinedHere(text)) &&
            isNoList(text, match)),
      ),
  },
  {
    // `conf.set("fs.azure.account.key.….net", "…")`.
    kind: 'api-key',
    anchor: `,(?<=account\\.key[^"'\\r\\n]{0,100}["'].)`,
    pattern: /account\.key[^"'\r\n]{0,100}["'],\s{0,24}["'](?<secret>[A-Za-z0-9+/]{40,}={0,2})(?=["'])/g,
  },
  {
    // `(215,'mailserver_pass','…','yes')`, a row of names and values.
    kind: 'password',
    anchor: `,(?<=(?:_pass|_pwd|_pw|assword)\\\\{0,3}'.)`,
    pattern:
      /(?<=\((?:\d{1,9}, ?)?\\{0,3}'[\w.-]{0,40})(?:_pass|_pwd|_pw|[pP]assword)\\{0,3}', ?\\{0,3}'(?<secret>[^'\s\\]{5,128})(?=\\{0,3}')/g,
    validate: isJoinedHere,
  },
  {
    // `<wsse:Password Type="PasswordText">…`, `<AdminPassword><Value>…`.
    kind: 'password',
    anchor: '>(?<=<[\\w:.-]{0,30}[pP]ass(?:word|wd|phrase)(?: [^<>]{1,120}|>\\s{0,24}<[vV]alue).)',
    pattern:
      /<[\w:.-]{0,30}[pP]ass(?:word|wd|phrase)(?: [^<>]{1,120}>|>\s{0,24}<[vV]alue>)(?<secret>[^\s<>]{4,512})(?=<\\{0,3}\/)/g,
    validate: (secret) => isPassword(secret) || isJoinedHere(secret),
  },
  {
    kind: 'pin',
    anchor: '>(?<=<(?:[cC][vV][vVcC]2?|[sS]ecurity_?[cC]ode).)',
    pattern: /(?<=<(?:[cC][vV][vVcC]2?|[sS]ecurity_?[cC]ode)>)\d{3,4}(?=<)/g,
  },
  {
    kind: 'password',
    anchor: '>(?<=<[\\w.-]{0,30}(?:[pP]ass|[pP]wd|[pP]w).)',
    pattern:
      /(?<=<(?:[\w.-]{0,30}[_.-])?)(?:[pP]ass|[pP]wd|[pP]w)>(?:<!\[CDATA\[)?(?<secret>[^\s<>\]]{5,512})(?=<\\{0,3}\/|\]\])/g,
    validate: (secret) => isPassword(secret) || (isJoinedHere(secret) && !/^[A-Z][a-z]*$/.test(secret)),
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
        (text) =>
          looksGiven(text) ||
          (kind(match) === 'password' && isJoinedHere(text)) ||
          (/phrase>/i.test(match[0]) && /^[a-z]{3,12}(?:[-_.][a-z]{3,12}){3,7}$/i.test(text)),
      ),
  },
  {
    // `password%3D…`, `%22token%22%3A%22…`: as an address carries them.
    kind,
    anchor: `%(?=3[DdAa]|22)(?<=${KEY_ENDING}.)(?<=(?:${HARD_KEY}|${SOFT_KEY}).)`,
    pattern: new RegExp(
      `${KEY}(?:%22)?(?:%20)?%3[DdAa](?:%20)?(?:%22)?(?<secret>(?:[\\w.~!*+/=-]|%(?!26|22|2[cC]|7[dD]|20|0[aAdD]|3[bB])[0-9A-Fa-f]{2}){5,2048})`,
      'g',
    ),
    validate: (secret, match) => judge(secret, match, looksGiven),
  },
  {
    // `://name:password@`, the same.
    kind: 'url-password',
    anchor: '%(?<=%3[aA].)(?=2[fF]%2[fF][\\w.-]{1,64}%3[aA])',
    pattern:
      /(?<=%3[aA]%2[fF]%2[fF][\w.-]{1,64}%3[aA])(?:[\w.~!*+-]|%(?!40|2[fF])[0-9A-Fa-f]{2}){3,256}(?=%40)/g,
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
