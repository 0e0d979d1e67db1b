import { isPassword, isTemplate, looksAssigned } from './checks.ts'
import { type Detector, type Place, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { formOf } from './secret-words.ts'
import { LINE } from './pieces.ts'

/** A line names secrets, and the lines below it are nothing but these. */

const MOST_LINES = 64

/** One code to a line, or several in columns: groups of letters and digits, with a number, a bullet or a box in front. */
const CODES =
  /(?:\r?\n|\\{1,9}r?\\{0,9}n)[ \t]{0,12}(?:[-*•☐>|]|\d{1,2}[.):])?[ \t]{0,4}(?:\[[ x]?\])?[ \t`|]{0,8}((?:[A-Za-z0-9]{3,8}(?:[- ][A-Za-z0-9]{3,8}){0,4}(?:[ \t|,]{2,12}|[ \t`|,]{0,3}(?=[\r\n\\]|$))){1,6})/y

/** The lines of codes below a heading; `rest` is the place from which on nothing is a code, or nothing yet. */
function codesBelow(match: RegExpExecArray): { places: Place[]; rest: number } {
  const { input: text } = match
  const places: Place[] = []
  let rest = match.index + match[0].length
  for (let line = 0; line < MOST_LINES; line++) {
    const blank = /^(?:\r?\n|\\{1,9}n)[ \t=-]{0,24}(?=\r?\n|\\{1,9}n)/.exec(text.slice(rest, rest + 32))
    if (blank && places.length === 0) rest += blank[0].length
    CODES.lastIndex = rest
    const found = CODES.exec(text)
    const codes = found?.[1]?.replace(/[ \t`|,]+$/, '') ?? ''
    if (!found || !/\d/.test(codes) || /[a-z]{7}/i.test(codes)) break
    const start = found.index + found[0].lastIndexOf(found[1] ?? '')
    places.push({ start, end: start + codes.length })
    rest = found.index + found[0].length
  }
  return { places, rest }
}

/** A line of codes is one when its end has come. */
function unsettledBelow(match: RegExpExecArray): ReturnType<NonNullable<Detector['unsettled']>> {
  const { input: text, index: head } = match
  const { places, rest } = codesBelow(match)
  const last = places.at(-1)
  if (last && text.slice(last.end).trim() === '') return { from: last.start, head }
  return /^[\r\n\\nt\s]{0,40}[^\r\n]{0,120}$/.test(text.slice(rest)) ? { from: rest, head } : undefined
}

const NAMES =
  '(?:recovery|backup|scratch|emergency|2fa|mfa|one-time|single-use|rescue|fallback|wiederherstellungs-?|ersatz-?|notfall-?|secours|respaldo|recuperaci(?:ó|o)n|recupero|resgate)'

const CODE = '[A-Za-z0-9]{3,8}(?:[- ][A-Za-z0-9]{3,8}){0,4}'
/** Each has a digit, and none is a word. */
const areCodes = (list: string): boolean =>
  list.split(/[,;|] ?/).every((code) => /\d/.test(code) && code.length >= 6 && !/[a-z]{5}/i.test(code)) &&
  /\d.*\d.*\d/.test(list)

/** Below a heading such as "Save these recovery codes:". */
export const codeBlocks: readonly Detector[] = [
  {
    kind: 'recovery-code',
    anchor: [
      `[cC](?=[oOóÓ][dD](?:[eE]|ig|IG|ic|IC))(?:(?<=${anyCase(NAMES)}[- ]?.)|(?=.[a-zA-Z]{2,5} (?:de |d.|di )?${anyCase(NAMES)}))`,
    ],
    pattern: new RegExp(
      `(?:${anyCase(NAMES)}[- ]?${anyCase('(?:codes?|c(?:ó|o)digos?|codici)')}|${anyCase('c(?:odes?|(?:ó|o)digos|odici) (?:de |d.|di )?')}${anyCase(NAMES)})[^\\r\\n\\\\]{0,80}(?=${LINE})`,
      'g',
    ),
    locate: (match) => codesBelow(match).places,
    unsettled: unsettledBelow,
  },
  // "Backup codes: 8F3K-2L9Q, 7M4N-1P6R", in one line.
  simple(
    'recovery-code',
    [],
    `(?:${anyCase(NAMES)}[- ]?${anyCase('(?:codes|c(?:ó|o)digos|codici)')}|${anyCase('c(?:odes|(?:ó|o)digos|odici) (?:de |d.|di )?')}${anyCase(NAMES)})[^\\r\\n\\\\:]{0,40}[:：] {0,2}(?<secret>${CODE}(?:(?:[,;|] ?| {1,3})${CODE}){1,15})(?![\\w-])`,
    (list) => areCodes(list) || areCodes(list.replace(/ +/g, ',')),
  ),
]

/** Four characters of base32 at a time, as they are typed into a phone. */
const isSetupKey = (groups: string): boolean =>
  /\d/.test(groups) ? /^(?:[A-Z2-7 -]+|[a-z2-7 -]+)$/.test(groups) : /^[A-Z -]+$/.test(groups)

export const keyBlocks: readonly Detector[] = [
  // "HomeKit setup code: 733-65-115", "Matter code: 3497-011-2332".
  simple(
    'pairing-code',
    '-(?<=\\d{3}.)(?=\\d{2,3}-\\d{3})',
    '(?:[sS]etup|[pP]airing|HomeKit|Matter)[ -](?:[cC]ode|PIN|pin)[^\\r\\n\\d]{0,24}(?<secret>\\d{3}-\\d{2}-\\d{3}|\\d{4}-\\d{3}-\\d{4})(?![\\w-])',
  ),
  // The user and the password of OpenVPN, and the key that both sides have.
  simple(
    'password',
    '>(?<=<auth-user-pass.)',
    `<auth-user-pass>${LINE}[^\\s<\\\\]{1,64}${LINE}(?<secret>[^\\s<\\\\]{4,128})(?=[\\s\\\\])`,
  ),
  simple(
    'private-key',
    '-(?=----BEGIN OpenVPN)',
    `-----BEGIN OpenVPN Static key V1-----(?<secret>(?:[0-9a-f]|${LINE}|\\s){64,1200})`,
  ),
  {
    // The private half of a key of PuTTY.
    kind: 'private-key',
    anchor: ['-(?<=Private.)(?=Lines: )'],
    pattern: new RegExp(
      `Private-Lines: \\d{1,3}${LINE}(?<secret>(?:[A-Za-z0-9+/=]{4,64}${LINE}?){1,64})`,
      'g',
    ),
  },
]

/** "Setup key: JBSW Y3DP EHPK 3PXP". */
export const setupKeys: readonly Detector[] = [
  simple(
    'totp-secret',
    '[kK](?=[eE][yY][^\\r\\n:]{0,40}[:：][ *_`"\']{0,4}(?:[A-Za-z2-7]{4}[ -]){3}[A-Za-z2-7]{2,4}(?![a-z]))',
    '(?:[sS]etup|[sS]ecret|[eE]ntry|[aA]uthenticator|TOTP|totp|2FA|MFA|[tT]his|[sS]ecurity|[aA]ccount)[ -][kK]ey[^\\r\\n:]{0,40}[:：][ *_`"\']{0,4}(?<secret>(?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{2,4})(?![A-Za-z0-9])',
    isSetupKey,
  ),
  // "Recovery key: EsTc 5rr1 4Jhp …".
  simple(
    'recovery-key',
    '[kK](?=[eE][yY][^\\r\\n:]{0,24}: {0,3}(?:[A-Za-z0-9]{4} ){4})',
    '(?:[rR]ecovery|[sS]ecurity|[bB]ackup|[eE]mergency)[ -][kK]ey[^\\r\\n:]{0,24}: {0,3}(?<secret>(?:[A-Za-z0-9]{4} ){4,15}[A-Za-z0-9]{2,4})(?![A-Za-z0-9])',
    (groups) => /\d.*\d/.test(groups) && isNoSentence(groups.toLowerCase()),
  ),
]

/** The bytes of a key as a list of numbers, as Solana keeps them: 64 of them and nothing else. */
export const byteLists: readonly Detector[] = [
  // Of a network of lamps and switches.
  simple(
    'private-key',
    '\\[(?=\\s{0,4}(?:(?:0x)?[0-9a-fA-F]{1,3},\\s{0,4}){15})(?<=[kK]ey["\'\\\\]{0,4} ?[:=] ?.)',
    '(?:network|encryption|aes|nwk|secret|app|master)[-_]?[kK]ey["\'\\\\]{0,4} ?[:=] ?\\[\\s{0,4}(?<secret>(?:(?:0x)?[0-9a-fA-F]{1,3},\\s{0,4}){15,31}(?:0x)?[0-9a-fA-F]{1,3})(?=\\s{0,4}\\])',
  ),
  // `const uint8_t APPKEY[16] = { 0x2B, … }`.
  simple(
    'private-key',
    '\\{(?=\\s{0,4}(?:0x[0-9a-fA-F]{1,2},\\s{0,4}){15})(?<=(?:[kK]ey|KEY|[pP]sk|PSK|[sS]ecret|SECRET)(?:_?\\d{1,2})?(?:\\[\\w{0,12}\\])? ?=\\s{0,2}.)',
    '(?:[kK]ey|KEY|[pP]sk|PSK|[sS]ecret|SECRET)(?:_?\\d{1,2})?(?:\\[\\w{0,12}\\])? ?=\\s{0,2}\\{\\s{0,4}(?<secret>(?:0x[0-9a-fA-F]{1,2},\\s{0,4}){15,63}0x[0-9a-fA-F]{1,2})(?=,?\\s{0,4}\\})',
    (_, { input, index }) => !/pub(?:lic)?[_-]?$/i.test(input.slice(Math.max(0, index - 8), index)),
  ),
  {
    kind: 'private-key',
    anchor: ['\\[(?=(?:\\d{1,3}, ?){24})'],
    pattern: /(?<=\[\s{0,4})(?:\d{1,3},\s{0,4}){63}\d{1,3}(?=\s{0,4}\])/g,
    validate: (bytes) => {
      const numbers = bytes.split(',').map(Number)
      return (
        numbers.every((one) => one < 256) &&
        new Set(numbers).size > 36 &&
        numbers.some((one, at) => one < (numbers[at - 1] ?? 0))
      )
    },
  },
]

const isFit = (secret: string): boolean =>
  !isTemplate(secret) && (isPassword(secret) || looksAssigned(secret))
const isChosen = (secret: string): boolean => formOf(secret) === 'chosen'

const PASSWORD_LINE = anyCase('pass(?:word|wd|phrase|code)')

export const isNoSentence = (groups: string): boolean =>
  !/(?:^|[ -])(?:that|this|will|need|with|from|your|page|have|when|then|must|they|more|only|used|been|each|also|some|into|were|what|over|made|sent|here|just|once|very)(?:[ -]|$)/.test(
    groups,
  )

/** What a block says further down than the line with the word. */
export const passwordBlocks: readonly Detector[] = [
  // `password: >-`, and the value in the next line.
  simple(
    'password',
    [],
    `${PASSWORD_LINE}(?:\\\\{0,3}["'])?: ?[>|][+-]?${LINE} {1,40}(?<secret>[^\\s"'\\\\]{4,512})(?=[\\s\\\\]|$)`,
    isFit,
  ),
  // `# user, password`, a line with the user, a line with the password.
  simple(
    'password',
    [],
    `${PASSWORD_LINE}[^\\r\\n\\\\]{0,60}${LINE}[\\w.@-]{2,64}${LINE}(?<secret>[^\\s"'\\\\<>]{8,128})(?=[\\r\\n\\\\]|$)`,
    isChosen,
  ),
  // `5) "password"`, and `6) "…"`: the fields of a hash of Redis.
  simple(
    'password',
    [],
    `${PASSWORD_LINE}\\\\{0,9}"${LINE}[ \\t]{0,4}\\d{1,3}\\) \\\\{0,9}"(?<secret>[^"\\r\\n\\\\]{4,128})(?=\\\\{0,9}")`,
    (secret) => !isTemplate(secret),
  ),
  // What Terraform has drawn.
  simple(
    'password',
    [],
    `random_password[^]{0,600}?\\\\{0,3}"(?:result|bcrypt_hash)\\\\{0,3}" ?: ?\\\\{0,3}"(?<secret>[^"\\r\\n\\\\]{4,256})(?=\\\\{0,3}")`,
  ),
  // And Apple.
  simple(
    'password',
    [],
    `${PASSWORD_LINE}[^\\r\\n\\\\]{0,60}?[ :="'\`](?<secret>[a-z]{4}(?:-[a-z]{4}){3})(?![\\w-])`,
  ),
  simple(
    'password',
    [],
    `${anyCase('app(?:lication)?[- ](?:specific )?')}${PASSWORD_LINE}[^\\r\\n\\\\]{0,40}${LINE}{1,2}[ \\t>*\`-]{0,4}(?<secret>(?:[a-z]{4} ){3}[a-z]{4})(?=["'\`]?(?:[\\r\\n\\\\]|$))`,
    isNoSentence,
  ),
  // And WordPress.
  simple(
    'password',
    [],
    `${anyCase('application[- ]')}${PASSWORD_LINE}[^\\r\\n\\\\]{0,60}?[ :="'\`](?<secret>[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){5})(?![A-Za-z0-9])`,
    (secret) => /\d/.test(secret),
  ),
  // The passwords that Google makes for one program.
  simple(
    'password',
    [],
    `${anyCase('app(?:lication)?[- ](?:specific )?')}${PASSWORD_LINE}[^\\r\\n\\\\]{0,80}?(?:["'\`:=“„«]|is) ?(?<secret>(?:[a-z]{4}[ -]){3}[a-z]{4})(?![a-z])`,
    isNoSentence,
  ),
]
