import { isGenerated, isLabel, isNamedOnly, isPassword } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { fold } from './fold.ts'
import { ADVERBS } from './kind-in-line.ts'
import { anyCase, keyStrength } from './keys.ts'
import { isPassphrase, isWordPhrase } from './passphrase.ts'
import { isNumberedSaying, isSaidJoined, isSaidPhrase, isSaidWord } from './plain-words.ts'

/**
 * Secrets that somebody tells: "the password for staging is …", "PIN: 4821", "**Passwort** | …". A name, at most a few words
 * that say what it is for, a word or a sign that says what it is, the value. Only spaces stand between them, never a tab or
 * the end of a line, so that the prefilter sees the same in the text as JSON escapes it.
 */

/** What people choose themselves. */
export const PASSWORD = [
  anyCase('pass(?:word|wort|wd|phrase|code)'),
  `${anyCase('mot de passe')}|Kennwort|[cC]ontraseña|[lL]ösenord(?:et)?|[hH]asł[oa]|Senha|Wachtwoord|Heslo|Jelszó|[pP]assord(?:et)?|Adgangskoden?|Salasana|[pP]arol[aă]|Kata sandi|[şŞ]ifre(?:si|niz)?|[mM]ật khẩu`,
  '[пП]арол[ьяи]|密[码碼]|パスワード|暗証番号|비밀번호|암호|पासवर्ड|รหัสผ่าน|סיסמה|[κΚ]ωδικός',
].join('|')

/** What machines make. */
const KEY_OWNER =
  'api|access|secret|private|licen(?:c|s)e|auth|encryption|signing|master|account|service|subscription|deploy|admin|root|write|' +
  'unseal|recovery|gossip|fernet|pre-?shared|shared|decryption|product|server|bot|host|function|webhook|app|application|client|consumer|storage|activation|setup|algolia|aws|azure|cloudflare|cohere|datadog|deepgram|heroku|' +
  'mailgun|mistral|okta|openai|pinecone|sendgrid|twilio'
const GENERATED = [
  `(?<![A-Za-z])${anyCase(`(?:${KEY_OWNER})[ _-]key(?: \\d{1,2})?`).replaceAll('\\[dD]', '\\d')}`,
  anyCase('secret'),
  `(?<![A-Za-z])${anyCase('(?:token|credential)')}`,
].join('|')

/** What is typed on a keypad. */
const CODE_OWNER =
  'verification|security|one-time|unlock|access|door|gate|alarm|login|sign-in|2fa|mfa|otp|auth|authentication|sms|backup|recovery'
const DIGITS = [
  '(?<![A-Za-z])(?:PIN|[pP]in)(?:[ -]?(?:[cC]ode|[nN]umber|[nN]ummer))?',
  `(?<![A-Za-z])${anyCase(`(?:${CODE_OWNER})[ -]code`)}`,
  '(?<![A-Za-z])(?:OTP|otp|CVV2?|CVC2?|cvv|cvc)|(?:otp|mfa|2fa|totp|verification|sms)_code|[bB]estätigungscode|[cC]ode de vérification|[cC]ódigo de verificación',
].join('|')

const WORD = '[^\\s"\'`<>=:;!?,|\\\\\\[\\]]{0,39}[^\\s"\'`<>=:;!?,|\\\\.\\[\\]]'
/** Whose it is. The first word tells a secret of something from a property of secrets, such as the length of a password. */
const OWNER =
  "for|of|on|to|in|at|from|used|I(?:['’](?:m|ve))?|we(?:['’](?:re|ve))?|you|he|she|they|it|für|von|vom|zum|zur|des|der|pour|du|de|para|del|da|do|di|della|van|voor|na|pro|för|til|till|dla|для|от|к|на"
const GAP = `(?:, which| \\([^()\\r\\n"'\`\\\\]{1,40}\\)| \\[[\\w*.-]{0,40}\\]| (?:${OWNER})(?: ${WORD}){1,6}?)?`
/** Marks of a quotation, a table or bold type may close behind the name. */
const SIGN = '[*_`"\'\\\\)]{0,6} {0,3}(?::=|=>|->|→|[:=：|])[*_]{0,2} {0,3}'
const ADVERB = `(?: (?:${ADVERBS}|set|changed|reset))?(?: to)?`
const VERB = `(?:'s| (?:is|are|was|will be|should be|has been|used to be|remains|stays|ist|war|lautet|bleibt|heißt|est|sera|reste|es|era|será|queda|sarà|blijft|wordt|är|jest|este|é|è))${ADVERB}:? {1,3}`
const CJK = ' {0,2}(?:は|是|为|為|은|는) {0,2}'
const TELLS = `s?${GAP}(?:${SIGN}|${VERB}|${CJK})`

const OPEN_MARK = '\\\\{0,3}["\'`“‘«»„]'
const BARE_CHAR = '[^\\s"\'`<>\\\\|“”‘’«»„，。、；]'
/** Scripts that put no spaces between words would make one word of a sentence. */
const LATIN_CHAR = BARE_CHAR.replace(']', '\\u0250-\\uffff]')
const LAST_CHAR = '[^\\s"\'`<>\\\\|“”‘’«»„，。、；.,;:?)\\]}*_]'
const BARE = `(?<secret>(?!\\*\\*)${BARE_CHAR}{2,127}${LAST_CHAR})(?!${LAST_CHAR})`
const QUOTED = `${OPEN_MARK}(?<secret>[^"'\`”’»“\\r\\n\\\\]{4,128})(?=\\\\{0,3}["'\`”’»“])`
const MAYBE_MARKED = `(?:${OPEN_MARK}|[*_]{1,2})?`

/** Without a verb the word itself must be beyond doubt. */
const isStrong = (text: string): boolean =>
  text.length >= 8 &&
  /\d/.test(text) &&
  isPassword(text) &&
  !/^[A-Z]?[a-z]*\d{0,4}$|^[A-Za-z]+[?,]/.test(text)

/** Several words that were set in quotation marks as one. */
const isPhrase = (text: string): boolean =>
  !isLabel(text) && /^\S+(?: \S+){2,11}(?<!\?)$/.test(text) && !/[<>{}$=.:]/.test(text)

/** The cursors of a listing are called tokens as well. */
const CURSOR = 'next|page|continuation|sync'
const BEFORE_CURSOR = new RegExp(`(?:${CURSOR}) $`, 'i')
const isNoCursor = (secret: string, match: RegExpExecArray): boolean => {
  if (isNamedOnly(match) || !isGenerated(secret) || /^[&*]|[()[\]{}]|^[^,]{0,15},/.test(secret)) return false
  if (!/^token/i.test(match[0])) return true
  const before = match.input.slice(Math.max(0, match.index - 24), match.index)
  const name = `${/[\w-]*$/.exec(before)?.[0] ?? ''}token`
  return keyStrength(name) !== undefined && !BEFORE_CURSOR.test(before)
}

const kindOfGenerated = ({ 0: text }: RegExpExecArray): string =>
  /^[a-z]+[ _-]key/i.test(text) ? 'api-key' : /^token/i.test(text) ? 'token' : 'secret'

/** The name may go on for some letters, and be the first of two words. */
const SPOKEN = `[^\\s:=|]{0,14}?(?:[ -][a-zA-Z]{4,8}| \\d{1,2}| de v[a-zé]{10,12}n)?${TELLS}${MAYBE_MARKED}`
  // JSON in JSON has more of them.
  .replaceAll('{0,6}', '{0,14}')
  .replaceAll('\\\\{0,3}', '\\\\{0,9}')

/** Seldom a word of a phrase, and often the next one of the sentence. */
const PHRASE_WORD = '(?!(?:the|and|for|with|is|are|was|of|to|in|it|or|as|at|on|by|not)[ ,.])[a-zA-ZÀ-ɏ]{2,12}'
const AS = 'as|als|comme|como|come|jako|som|is|ist|est|es|é|è|for|für|pour|para'
const CHANGED = '(?:set|chang|reset|updat|rotat|setz|änder|cambi)[a-zé]{0,4}'
const CHANGED_WORDS = '(?: [^\\s"\'`<>=:;!?,|\\\\.]{1,24})'
const NO_USER =
  'the|my|your|our|his|her|their|this|that|no|an?|which|what|reset|new|old|change|with|by|has|is|and|und|et|en|y|e|ou|oder|or|for|to|in|on|le|la|les|mon|das|mein|dein|el|mi|il|o|typed|types|entered|enters|forgot|changed|gave|sent|set|says|said|lost|needs|wants|can|must|should|will|may|does|did|was|had|got|pass\\w*'
const NAMED_USER = `(?<![A-Za-z])(?:[lL]ogin|[uU]ser|[uU]sername|[uU]ser name|[aA]ccount|creds|credentials|[iI]dentifiant|usuário|Kennung|SSID|[nN]etwork|Benutzer|Benutzername|Nutzername|usuario|utilisateur|utente|gebruiker|użytkownik)[ :=]{1,3}(?!(?:${NO_USER})[ ,])`
/** "user kim, password swordfish" has the look of "user ids and password lengths": a sign or a name of no word has to tell. */
const isNamedUser = ({ 0: found }: RegExpExecArray, secret: string): boolean =>
  /[:=`"'@_\d.\n\\]/.test(found.slice(0, -secret.length))
const WITH = '(?:with|using|use|and|enter|typed?|mit|avec|con)(?: (?:the|a|my|your))?'

/** What all the keys and numbers have that are told. */
export const TELLABLE_CODE = /\d(?:(?=\d\d)|(?=\S{8})|(?<=\S{8}))/

/** Behind the word of one language its own verb. */
const FOREIGN = `(?:[hH]asło${GAP} to|Heslo${GAP} je|Salasana${GAP} on|(?:Adgangskoden?|[pP]assord(?:et)?)${GAP} er)`

/** Behind the verbs of these languages stand words that end so: "è sbagliata", "est vide", "ist kaputt". */
const isSaidHere = (text: string, { 0: found, input, index }: RegExpExecArray): boolean => {
  if (/(?:has|is|needs|show|forgot)_$/.test(input.slice(Math.max(0, index - 8), index))) return false
  const before = found.slice(0, -text.length)
  const verb =
    / (jest|è|é|es|era|será|queda|sarà|est|sera|reste|ist|war|bleibt|heißt)(?: \S+)?:? {1,3}[*_]{0,2}$/.exec(
      before,
    )?.[1]
  if (verb === undefined) return isSaidWord(text)
  return (
    isSaidWord(text) &&
    !(/^[iwbh]/.test(verb) ? /(?:t|en|er|ig|ch|bar|los|al|iv)$/ : /[aeioy]$/).test(fold(text))
  )
}

/** The sentence or the line ends with the word. */
const SAID_END =
  '(?=[*_]{0,2}\\\\{0,3}["\'`”’»“]?(?:[.,;!)](?:\\s|\\\\|$)| {0,40}│| {0,2}(?:[\\r\\n]|\\\\{1,9}[rn]|$)| ?(?:です|입니다|。|，)))'

export const saidDetectors: readonly Detector[] = [
  // "The password is swordfish."
  simple(
    'password',
    [],
    `(?:${PASSWORD}|(?<![A-Za-z])[pP][wW]d?)(?: here| there)?${TELLS}${MAYBE_MARKED}(?<secret>[A-Za-zÀ-ɏ]{5,20})${SAID_END}`,
    isSaidHere,
  ),
  // "The passphrase is lantern gravel orbit walrus".
  simple(
    'password',
    [],
    `(?:${PASSWORD})${TELLS}(?<secret>[a-zA-ZÀ-ɏ]{3,12}(?: [a-zA-ZÀ-ɏ]{3,12}){3,7})${SAID_END}`,
    isSaidPhrase,
  ),
  // "Log in with kim@example.org and the password swordfish".
  simple(
    'password',
    [],
    `[\\w.+-]{1,40}@[\\w.-]{3,60}(?:,? (?:and|with|using|mit|und|avec|et|con|y|e)|,)(?: the| das| le| la)? (?:${PASSWORD}) ${MAYBE_MARKED}(?<secret>[A-Za-zÀ-ɏ]{5,20})${SAID_END}`,
    isSaidWord,
  ),
  // "The passphrase is crimson otter 42".
  simple(
    'password',
    [],
    `(?:(?:${PASSWORD})${TELLS}|[pP]assphrase )${MAYBE_MARKED}(?<secret>[a-zA-Z]{3,12}(?: [a-zA-Z]{3,12}){1,4} \\d{1,4})${SAID_END}`,
    isNumberedSaying,
  ),
  simple(
    'password',
    '[pP](?=[aA][sS][sS](?:[wWpPcCeE]|ord)|arol[aă]|(?:[wW]|ass|ASS)(?: |: (?<=[,;/] .{4,6})))',
    `(?:${PASSWORD})${TELLS}(?:\\*\\*(?!\\*))?${BARE}`,
    (text) => isPassword(text) || isWordPhrase(text),
  ),
  {
    ...simple(
      'password',
      // Letters that are rare in English, or stand at the beginning of a rare word.
      '[пП密パ暗비암ñöłşŞậपרκΚรי](?<=[пП密パ暗비암şŞपκΚร]|[eE]ñ|[lL]ö|[sS]ł|[mM]ậ|סי)',
      `(?:${PASSWORD})${TELLS}${QUOTED}`,
      (text) => isPassword(text) || isPhrase(text),
    ),
    alone: true,
  },
  simple(
    'password',
    ['K(?=ennwort|ata sandi)', '[SWHAJ](?=enha|achtwoord|eslo|alasana|dgangskode|elszó)'],
    `${CHANGED}${CHANGED_WORDS}{0,4}? (?:${PASSWORD})${GAP} (?:to|auf|en|a|à):? ${MAYBE_MARKED}${BARE}`,
    isPassword,
  ),
  simple('password', [], `${FOREIGN}:? ${MAYBE_MARKED}${BARE}`, isPassword),
  // "I took « … » as the password", "… is the password".
  simple(
    'password',
    [],
    `(?:${OPEN_MARK}|«[ \\u00a0])(?<secret>[^\\s"'\`”’»«“\\\\]{5,64})(?=[ \\u00a0]?\\\\{0,3}["'\`”’»«“] (?:${AS})(?: [^\\s.,;:]{1,16}){0,3} (?:${PASSWORD}))`,
    (text) => isPassword(text) || isPassphrase(text),
  ),
  simple(
    'password',
    [],
    `(?<![^\\s(])(?<secret>${LATIN_CHAR}{6,64})(?= (?:${AS})(?: (?:the|a|my|your|our|its|das|dein|mein|le|la|el|mi|o|a|il|root|admin|new|temporary)){0,3} (?:${PASSWORD})(?![A-Za-z]))`,
    isStrong,
  ),
  // `WITH PASSWORD '…'`, `rejected, adminPassword "…"`.
  simple(
    'password',
    [],
    `(?:${PASSWORD})(?:(?: [a-zà-ÿ]{2,12}){1,2} \\(| )${OPEN_MARK}(?<secret>[^"'\`”“\\r\\n\\\\]{5,128})(?=\\\\{0,3}["'\`”“])`,
    (text) => isPassword(text) || isPhrase(text),
  ),
  // A line of a netrc, also over several lines, and the like.
  simple(
    'password',
    [],
    'machine\\s{1,4}\\S{1,128}\\s{1,8}login\\s{1,4}\\S{1,128}\\s{1,8}password {1,4}(?<secret>\\S{3,128})',
    (secret) => !/^[a-z]+$/.test(secret) || secret.length > 7,
  ),
  simple(
    'password',
    [],
    `${NAMED_USER}\\S{1,64}[\\s,;/]{1,3}(?:and |with |the |und |et |y |e ){0,2}(?:[pP]assword|passwd|[pP]ass|[pP][wW]|Kennwort|Passwort|contraseña|mot de passe|(?<=SSID[ :][^\\r\\n]{1,48})key)[:=]? ${MAYBE_MARKED}${BARE}`,
    (text, match) =>
      // "… for the user. Pass `offset` to start later."
      !/[.!?)]\s{1,3}Pass ["'`]/.test(match[0]) &&
      (isPassword(text) || isSaidJoined(text) || (isSaidWord(text) && isNamedUser(match, text))),
  ),
  // "you can use login demo / swordfish", "sign in as `kim` / `swordfish`".
  simple(
    'password',
    '\\/(?<=\\S .)(?= \\S{6})',
    `(?:[lL]ogins?|[cC]reds|[cC]redentials|[aA]ccount|(?:[sS]ign|[lL]og) ?in (?:as|with))(?: is| are)?[ :]{1,3}${MAYBE_MARKED}[\\w.@+-]{2,48}["'\`]? \\/ ${MAYBE_MARKED}(?<secret>[^\\s"'\`<>\\\\/]{5,64}[^\\s"'\`<>\\\\/.,;:)])(?![^\\s"'\`.,;:)])`,
    (text) => isPassword(text) || isSaidWord(text) || isSaidJoined(text) || isWordPhrase(text),
  ),
  simple('password', [], `${WITH} (?:${PASSWORD}) ${MAYBE_MARKED}${BARE}`, isStrong),
  simple(
    'recovery-phrase',
    '[pP](?=hrase)',
    `(?:[sS]eed|[rR]ecovery|[bB]ackup|[mM]nemonic|[wW]allet|[sS]ecret) [pP]hrase${TELLS}${MAYBE_MARKED}(?<secret>(?:${PHRASE_WORD}[ ,]{1,3}){11,32}${PHRASE_WORD})(?![a-zA-ZÀ-ɏ])`,
  ),
]

/** "A senha do banco é …". */
export const saidInPortuguese: readonly Detector[] = [
  simple('password', '[é](?= )', `[sS]enha${GAP} é:? ${MAYBE_MARKED}${BARE}`, isPassword),
  simple(
    'password',
    [],
    `[sS]enha${GAP} é:? ${MAYBE_MARKED}(?<secret>[A-Za-z]{5,20})${SAID_END}`,
    isSaidHere,
  ),
]

/** Keys and numbers: a long word with a digit in it, or several digits. */
/** "482193 is your verification code", but not the code of an error or of a place. */
const IS_YOURS =
  '(?:is|as|ist|es|est|è|é|to) (?:your|my|Ihr|dein|votre|ton|tu|su|il tuo|il suo|o seu|seu|je|uw|[tT]wój)'
const CODE = '(?:[cC]ode|code|[cC]ódigo|[cC]odice|[kK]od(?= wer)|OTP)'
const NO_SECRET = '(?:status|error|exit|response|zip|postal|country|area|promo|discount|coupon|number|limit)'

/** What a code is typed in for. */
const FOR_LOGIN =
  ' to (?:sign|log|verify|confirm|complete|activate|unlock|authenticate|finish|reset your)(?![a-z])'

/** The number on the back of a card: names of nothing else, and such as mean more. */
const CARD_CODE =
  '[cC][vV][vVcCnN]2?|CSC|(?:[kK]arten)?[pP]r(?:ü|ue)f(?:nummer|ziffer)|[cC]ryptogramme(?: visuel)?|[kK]od zabezpieczający'
const SECURITY_CODE =
  '[sS]ecurity code|[sS]icherheitscode|[cC]ode de sécurité|[cC]ódigo de (?:seguridad|segurança)|[cC]odice di sicurezza|(?:[bB]eveiligings|[vV]eiligheids)code|[kK]od bezpieczeństwa'
const IS = '(?:is|was|are|ist|war|lautet|est(?: le)?|es(?: el)?|é|è(?: il)?|jest|to)'
const SHORT = '[^\\r\\n\\d]{0,48}\\d{3,4}(?!\\d)'
const HASHED = '[^\\r\\n\\d.;]{0,60}\\d{3,8}[#*]'
const ON_CARD = new RegExp(`^(?:${CARD_CODE})`)
const IS_SAID = new RegExp(`(?: ${IS} |:[ =]?)$`)
const isOfCard = (secret: string, { 0: found, input, index }: RegExpExecArray): boolean => {
  const name = found.slice(0, -secret.length)
  if (ON_CARD.test(name)) return true
  const after = input.slice(index + found.length, index + found.length + 5)
  if (/^ [a-zà-ÿ]/.test(after) && !/^ (?:and|und|et|y|e|en|i|on) /.test(after)) return false
  return (
    IS_SAID.test(name) ||
    /\d\d ?[/-] ?\d\d|card|[kK]arte|carte|tarjeta|cartão|carta|kaart|kart[aąy]/.test(
      input.slice(Math.max(0, index - 80), index),
    )
  )
}

/** Fields of a page into which such a number is typed. */
const CODE_FIELD =
  '(?:[cC][vV][vVcC]2?|[oO][tT][pP]|[sS]ecurity[-_ ]?[cC]ode|(?:[#=_-]|[eE]nter )[pP][iI][nN](?![a-z])|(?<![a-zA-Z])(?:[pP]in[-_ ](?:input|field|code)|PIN(?![a-z])))(?!\\\\{0,9}["\'] ?:)'
const INTO = `[^\\r\\n{}]{0,100}?(?:(?:text|value|val|content|input|keys|string|fill|characters)\\\\{0,9}["']? ?[:=] ?|(?:[fF]ill|[tT]ype|[sS]endKeys|send_keys|[sS]equentially|[sS]etValue|Text)\\(|[\\])"'\`]{1,3}, {0,2})\\\\{0,9}["'\`]`
const TYPED_CODE = `${INTO}\\d{3,8}\\\\{0,9}["'\`]`

export const saidCodes: readonly Detector[] = [
  // `type(ref="card-cvc", text="…")`, `page.fill('#otp', '…')`.
  simple(
    'pin',
    [
      `[cC](?=[vV][vVcC]2?${TYPED_CODE})`,
      `[cC](?=ode${TYPED_CODE})(?<=[sS]ecurity[-_ ]?.)`,
      `[pP](?<=[oO][tT].)(?=${TYPED_CODE})`,
      `[pP](?=[iI][nN](?![a-z])${TYPED_CODE})(?<![a-zA-Z].)`,
    ],
    `${CODE_FIELD}${INTO}(?<secret>\\d{3,8})(?=\\\\{0,9}["'\`])`,
  ),
  // The key of a network is often a long number: `WLAN-Schlüssel: 7568…`.
  simple(
    'password',
    ['W(?=LAN[- ]|[iI]-?F[iI][- ]|i-?[fF]i[- ]|PA\\d?[- ])', 'P(?=SK[- ])'],
    '(?:WLAN|W[iI]-?F[iI]|Wi-?[fF]i|WPA\\d?|PSK)[- ](?:[kK]ey|KEY|[sS]chlüssel|[sS]chluessel)[: =]{1,3}(?<secret>\\d{8,24})(?!\\w)',
  ),
  // "The code is 482193".
  simple(
    'pin',
    "[cC](?=ode(?: from| [iI]| they| we| you| right now|'s| is|:) )(?<=(?:he|our|ew|fa|FA) .|^.|[\\s\"'].(?=ode from))",
    "(?<![A-Za-z])(?:(?:[tT]he|[yY]our|[nN]ew|2fa|2FA) code|[cC]ode(?= from))(?: (?:[iI]|they|we|you)(?: [a-z]{2,9}){1,3}| right now| from (?:my|the|your|his|her)(?: [a-zA-Z]{2,16})? (?:authenticator|app|phone|SMS|sms|text|email|mail))?(?:'s| is|:)(?: now)? (?<secret>\\d{6}|\\d{3}[- ]\\d{3})(?![\\w%]|[.,:/-]\\d| [a-z])",
  ),
  // "Use code 482193 to sign in", "Enter 482193 to verify your account".
  simple(
    'pin',
    ['[cC](?=[oO][dD][eE]:? \\d)', '[EU](?=(?:nter|se) (?:the code )?\\d)'],
    `(?:[cC]ode|Enter|Use|Enter the code):? (?<secret>\\d{4,8}|\\d{3}[- ]\\d{3})(?=${FOR_LOGIN})`,
  ),
  simple(
    'pin',
    'F(?<=[2M].)(?=A[: ])',
    '(?<![A-Za-z\\d])(?:2FA|MFA)(?: code| token)?[:=]? (?<secret>\\d{6}|\\d{3}[ -]\\d{3})(?![\\w%]|[.,:/ -]\\d)',
  ),
  simple(
    'pin',
    [
      `[cCkK](?=[oOóÓ][dD])(?<=\\d ${IS_YOURS} [^.,\\r\\n\\d\\\\]{0,48}.)`,
      `O(?=TP)(?<=\\d ${IS_YOURS} [^.,\\r\\n\\d\\\\]{0,48}.)`,
    ],
    `(?:(?<![\\w.,:/-])|(?<=\\\\[bfnrt]|(?<![A-Za-z])G-))\\d{4,8}(?= ${IS_YOURS} (?![^.\\r\\n]{0,48}${NO_SECRET})[^.,\\r\\n\\d\\\\]{0,48}?${CODE}(?![A-Za-z]))`,
  ),
  simple(
    kindOfGenerated,
    `[kK](?:(?=[eE][yY])(?<=[ _-].)|(?=[eE][nN](?!s?":\\d))(?<=[tT][oO].))(?=${SPOKEN}[^\\s"'\`<>\\\\|,]{16})`,
    `(?:${GENERATED})${TELLS}${MAYBE_MARKED}${BARE}`,
    isNoCursor,
  ),
  simple(
    'pin',
    `[cC](?:(?<=[sS][eE].)(?=[rR][eE][tT])|(?=[rR][eE][dD][eE])|(?<=[ -].|gs.)(?=[oO][dD][eE])|(?=(?:ode|ódigo) de v))(?=${SPOKEN}(?:[^\\s"'\`<>\\\\|,]{16}|\\d{3}))`,
    `(?:${DIGITS})${TELLS}${MAYBE_MARKED}(?<secret>\\d{4,10}|\\d{3}[- ]\\d{3})(?![\\w%]|[.,:/-]\\d)`,
  ),
  simple(
    'pin',
    `[pP](?:(?=[iI][nN])(?<![ac-eg-mo-qsu-zA-Z].)|(?<=OT.))(?=${SPOKEN}\\d{3}|(?:IN)? \\d{3})`,
    '(?<![A-Za-z])(?<!GPIO |gpio )(?:PIN|CVV2?|CVC2?|OTP) (?<secret>\\d{3,8})(?![\\w%]|[.,:/-]\\d)',
  ),
  // "My card is …, expiry 09/28, security code 188", "the CVV on the back is 937".
  simple(
    'pin',
    [
      `[cC](?=[vV][vVcCnN]2?${SHORT}|[sS][cC]${SHORT}|ode de s|ódigo de s|odice di s|ryptogramme)`,
      `[cC](?<=(?:rity |eits|gs|eids).)(?=ode${SHORT})`,
      `[pP](?=r(?:ü|ue)f(?:nummer|ziffer))`,
      `[kK](?=od (?:zabezp|bezp))`,
    ],
    `(?<![A-Za-z])(?:${CARD_CODE}|${SECURITY_CODE})(?: (?:code|number))?(?:[:= ]{1,2}|(?: [a-zA-Zà-ÿ]{1,12}){0,4}? ${IS} )(?<secret>\\d{3,4})(?![\\w%:]|[.,/-]\\d|-| (?:digits?|characters|or |Ziffern|chiffres|d[íi]gitos|cifre|cijfers|cyfr))`,
    isOfCard,
  ),
  // A number that ends in the key of a keypad is typed there: "I told her the code is 7352#".
  simple(
    'pin',
    [`[cC](?=(?:ode|odice|ódigo)${HASHED})`, `[kK](?=od${HASHED})`],
    `(?<![A-Za-z])(?:[cC]od(?:e|ice)|[cC]ódigo|[kK]od)(?: [^\\s\\d.;:#]{1,16}){0,8}?(?: ${IS}|:)? (?<secret>[#*]?\\d{3,8}[#*])(?![\\w#*])`,
  ),
]
