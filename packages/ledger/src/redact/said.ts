import { isGenerated, isPassword } from './checks.ts'
import { anyCase, keyStrength } from './keys.ts'
import type { Detector } from './rules.ts'

/**
 * Secrets that somebody tells: "the password for staging is …", "PIN: 4821", "**Passwort** | …". A name, at most a few words
 * that say what it is for, a word or a sign that says what it is, the value. Only spaces stand between them, never a tab or
 * the end of a line, so that the prefilter sees the same in the text as JSON escapes it.
 */

/** What people choose themselves. */
const PASSWORD = [
  anyCase('pass(?:word|wort|wd|phrase|code)'),
  `${anyCase('mot de passe')}|[kK]ennwort|[cC]ontraseña|[lL]ösenord(?:et)?|[hH]asło`,
  '[пП]арол[ьяи]|密[码碼]|パスワード|비밀번호',
].join('|')

/** What machines make. */
const KEY_OWNER =
  'api|access|secret|private|licen(?:c|s)e|auth|encryption|signing|master|account|service|subscription|deploy|admin|root|write|' +
  'webhook|app|application|client|consumer|storage|activation|setup|algolia|aws|azure|cloudflare|cohere|datadog|deepgram|heroku|' +
  'mailgun|mistral|okta|openai|pinecone|sendgrid|twilio'
const GENERATED = [
  `(?<![A-Za-z])${anyCase(`(?:${KEY_OWNER})[ _-]key`)}`,
  anyCase('secret'),
  `(?<![A-Za-z])${anyCase('(?:token|credential)')}`,
].join('|')

/** What is typed on a keypad. */
const CODE_OWNER =
  'verification|security|one-time|unlock|access|door|gate|alarm|login|sign-in|2fa|mfa|otp|auth|authentication|sms|backup|recovery'
const DIGITS = [
  '(?<![A-Za-z])(?:PIN|[pP]in)(?:[ -]?(?:[cC]ode|[nN]umber|[nN]ummer))?',
  `(?<![A-Za-z])${anyCase(`(?:${CODE_OWNER})[ -]code`)}`,
  '(?<![A-Za-z])(?:OTP|CVV2?|CVC2?)|[bB]estätigungscode|[cC]ode de vérification|[cC]ódigo de verificación',
].join('|')

const WORD = '[^\\s"\'`<>=:;!?,|\\\\\\[\\]]{0,39}[^\\s"\'`<>=:;!?,|\\\\.\\[\\]]'
/** Whose it is. The first word tells a secret of something from a property of secrets, such as the length of a password. */
const OWNER =
  'for|of|on|to|in|at|from|used|I|we|you|it|für|von|vom|zum|zur|des|der|pour|du|de|para|del|da|do|till|dla|для'
const GAP = `(?: \\([^()\\s"'\`\\\\]{1,40}\\)| (?:${OWNER})(?: ${WORD}){1,6}?)?`
/** Marks of a quotation, a table or bold type may close behind the name. */
const SIGN = '[*_`"\'\\\\)]{0,6} {0,3}(?::=|=>|->|→|[:=：|])[*_]{0,2} {0,3}'
const ADVERB =
  '(?: (?:now|currently|still|just|simply|set|changed|reset|jetzt|nun|ahora|maintenant|nu|teraz))?(?: to)?'
const VERB = `(?:'s| (?:is|are|was|will be|should be|has been|ist|war|lautet|est|es|era|är|jest))${ADVERB}:? {1,3}`
const CJK = ' {0,2}(?:は|是|为|為|은|는) {0,2}'
const TELLS = `s?${GAP}(?:${SIGN}|${VERB}|${CJK})`

const OPEN_MARK = '\\\\{0,3}["\'`“‘«„]'
const BARE_CHAR = '[^\\s"\'`<>\\\\|“”‘’«»„，。、；]'
const LAST_CHAR = '[^\\s"\'`<>\\\\|“”‘’«»„，。、；.,;:?)\\]}*_]'
const BARE = `(?<secret>${BARE_CHAR}{2,127}${LAST_CHAR})(?!${LAST_CHAR})`
const QUOTED = `${OPEN_MARK}(?<secret>[^"'\`”’»“\\r\\n\\\\]{4,128})(?=\\\\{0,3}["'\`”’»“])`
const MAYBE_MARKED = `(?:${OPEN_MARK}|[*_]{1,2})?`

/** Without a verb the word itself must be beyond doubt. */
const isStrong = (text: string): boolean =>
  text.length >= 8 && /\d/.test(text) && isPassword(text) && !/^[A-Z]?[a-z]*\d{0,4}$/.test(text)

/** Several words that were set in quotation marks as one. */
const isPhrase = (text: string): boolean => /^\S+(?: \S+){2,11}$/.test(text) && !/[<>{}$=.:]/.test(text)

/** The cursors of a listing are called tokens as well. */
const CURSOR = 'next|page|continuation|sync'
const BEFORE_CURSOR = new RegExp(`(?:${CURSOR}) $`, 'i')
const isNoCursor = (secret: string, match: RegExpExecArray): boolean => {
  if (!isGenerated(secret) || /^[&*]|[()[\]{}]/.test(secret)) return false
  if (!/^token/i.test(match[0])) return true
  const before = match.input.slice(Math.max(0, match.index - 24), match.index)
  const name = `${/[\w-]*$/.exec(before)?.[0] ?? ''}token`
  return keyStrength(name) !== undefined && !BEFORE_CURSOR.test(before)
}

const kindOfGenerated = ({ 0: text }: RegExpExecArray): string =>
  /^[a-z]+[ _-]key/i.test(text) ? 'api-key' : /^token/i.test(text) ? 'token' : 'secret'

/** The name may go on for some letters, and be the first of two words. */
const SPOKEN = `[^\\s:=|]{0,14}?(?:[ -][a-zA-Z]{4,8}| de v[a-zé]{10,12}n)?${TELLS}${MAYBE_MARKED}`
  // JSON in JSON has more of them.
  .replaceAll('{0,6}', '{0,14}')
  .replaceAll('\\\\{0,3}', '\\\\{0,9}')

const detector = (
  kind: Detector['kind'],
  anchor: string,
  pattern: string,
  validate?: Detector['validate'],
): Detector => ({ kind, anchor, pattern: new RegExp(pattern, 'g'), ...(validate && { validate }) })

/** Seldom a word of a phrase, and often the next one of the sentence. */
const PHRASE_WORD = '(?!(?:the|and|for|with|is|are|was|of|to|in|it|or|as|at|on|by|not)[ ,.])[a-zA-ZÀ-ɏ]{2,12}'
const CHANGED = '(?:set|chang|reset|updat|rotat|setz|änder|cambi)[a-zé]{0,4}'
const CHANGED_WORDS = '(?: [^\\s"\'`<>=:;!?,|\\\\.]{1,24})'
const NAMED_USER = '(?<![A-Za-z])(?:login|user|username|user name|account|creds|credentials)[ :=]{1,3}'
const WITH = '(?:with|using|use|and|enter|typed?|mit|avec|con)(?: (?:the|a|my|your))?'

export const saidDetectors: readonly Detector[] = [
  detector(
    'password',
    '[pP](?=[aA][sS][sS][wWpPcCeE]|[hH]rase)',
    `(?:${PASSWORD})${TELLS}${BARE}`,
    isPassword,
  ),
  {
    ...detector(
      'password',
      // Letters that are rare in English, or stand at the beginning of a rare word.
      '[пП密パ비ñöł](?<=[пП密パ비]|[eE]ñ|[lL]ö|[aA]ł)',
      `(?:${PASSWORD})${TELLS}${QUOTED}`,
      (text) => isPassword(text) || isPhrase(text),
    ),
    alone: true,
  },
  detector(
    'password',
    '[kK](?=ennwort)',
    `${CHANGED}${CHANGED_WORDS}{0,4}? (?:${PASSWORD})${GAP} (?:to|auf|en|a|à):? ${MAYBE_MARKED}${BARE}`,
    isPassword,
  ),
  // `WITH PASSWORD '…'`, `rejected, adminPassword "…"`.
  detector(
    'password',
    '',
    `(?:${PASSWORD}) ${OPEN_MARK}(?<secret>[^"'\`\\r\\n\\\\]{5,128})(?=\\\\{0,3}["'\`])`,
    isPassword,
  ),
  // A line of a netrc, also over several lines, and the like.
  detector(
    'password',
    '',
    'machine\\s{1,4}\\S{1,128}\\s{1,8}login\\s{1,4}\\S{1,128}\\s{1,8}password {1,4}(?<secret>\\S{3,128})',
  ),
  detector(
    'password',
    '',
    `${NAMED_USER}\\S{1,64}[\\s,;/]{1,3}(?:and |with |the ){0,2}(?:password|passwd|pass|pw) ${MAYBE_MARKED}${BARE}`,
    isPassword,
  ),
  detector('password', '', `${WITH} (?:${PASSWORD}) ${MAYBE_MARKED}${BARE}`, isStrong),
  detector(
    kindOfGenerated,
    `[kK](?:(?=[eE][yY])(?<=[ _-].)|(?=[eE][nN](?!s?":\\d))(?<=[tT][oO].))(?=${SPOKEN}[^\\s"'\`<>\\\\|,]{16})`,
    `(?:${GENERATED})${TELLS}${MAYBE_MARKED}${BARE}`,
    isNoCursor,
  ),
  detector(
    'recovery-phrase',
    '',
    `(?:[sS]eed|[rR]ecovery|[bB]ackup|[mM]nemonic|[wW]allet|[sS]ecret) [pP]hrase${TELLS}${MAYBE_MARKED}(?<secret>(?:${PHRASE_WORD}[ ,]{1,3}){11,32}${PHRASE_WORD})(?![a-zA-ZÀ-ɏ])`,
  ),
  detector(
    'pin',
    `[cC](?:(?<=[sS][eE].)(?=[rR][eE][tT])|(?=[rR][eE][dD][eE])|(?<=[ -].|gs.)(?=[oO][dD][eE])|(?=(?:ode|ódigo) de v))(?=${SPOKEN}(?:[^\\s"'\`<>\\\\|,]{16}|\\d{3}))`,
    `(?:${DIGITS})${TELLS}${MAYBE_MARKED}(?<secret>\\d{4,10}|\\d{3}[- ]\\d{3})(?![\\w%]|[.,:/-]\\d)`,
  ),
  detector(
    'pin',
    `[pP](?:(?=[iI][nN])(?<![ac-eg-mo-qsu-zA-Z].)|(?<=OT.))(?=${SPOKEN}\\d{3}|(?:IN)? \\d{3})`,
    '(?<![A-Za-z])(?<!GPIO |gpio )(?:PIN|CVV2?|CVC2?|OTP) (?<secret>\\d{3,8})(?![\\w%]|[.,:/-]\\d)',
  ),
  detector(
    'pin',
    '[cC](?=V[VC])',
    '(?<![A-Za-z])(?:CVV2?|CVC2?)[:=] ?(?<secret>\\d{3,4})(?![\\w%]|[.,:/-]\\d)',
  ),
]

const NAMES = `(?:${PASSWORD}|${GENERATED}|${DIGITS}|[a-z]{4,8} [pP]hrase)`
const ANY_WORD = '(?: {1,3}\\S{1,128})'

/** The ends of a text behind which a secret may still be told; each begins where its match does. */
export const SAID_OPEN: readonly string[] = [
  // A part of a name: words end at each letter that is not ASCII.
  '[cC]ontraseñ|[lL]ö|[hH]asł|[пП](?:а(?:р(?:ол?)?)?)?|密|パ(?:ス(?:ワー?)?)?|비(?:밀번?)?',
  // The first of two words.
  anyCase(`(?:mot(?: de)?|${KEY_OWNER}|${CODE_OWNER}|seed|mnemonic|wallet|user|pin|${CURSOR})`),
  // Nothing yet but the name, then whose it is, then what it is.
  `${NAMES}s?[^\\s\\w]{0,8}`,
  `${NAMES}s? (?:\\(\\S{0,42}|(?:${OWNER})${ANY_WORD}{0,12})`,
  `${NAMES}s?(?: \\(\\S{1,42}| (?:${OWNER})${ANY_WORD}{1,6})?(?:[^\\s\\w]{0,6} {0,3}[-:=|→：>]|[は是为為은는]|'s| (?:is|are|was|will|should|has|ist|war|lautet|est|es|era|är|jest))\\S{0,130}(?:${ANY_WORD}{0,6}|[^\\r\\n]{0,12}["'\`“‘«„][^"'\`”’»\\r\\n]{0,130})`,
  `(?:${PASSWORD}) ${OPEN_MARK}[^"'\`\\r\\n\\\\]{0,130}`,
  '[pP]hrase[^\\r\\n]{0,420}',
  `${CHANGED}${ANY_WORD}{0,12}`,
  `machine\\s{1,4}\\S{0,128}(?:\\s{1,8}\\S{0,128}){0,4}`,
  `${NAMED_USER}\\S{0,64}[\\s,;/]{0,3}(?:(?:and|with|the)[ ]?){0,2}(?:pass(?:word|wd)?|pw)?(?: \\S{0,130})?`,
  `${WITH}(?: (?:${PASSWORD})(?: \\S{0,130})?)?`,
  'SSWS',
]
