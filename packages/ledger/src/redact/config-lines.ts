import { judge, KEY, kind } from './assignments.ts'
import { isJoinedHere } from './joined-words.ts'
import { isGenerated, isLabel, isReference, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isNameWord, isNumberedPair } from './passphrase.ts'
import { isCertain } from './plain-words.ts'
import { formOf } from './secret-words.ts'
import { QUOTE } from './pieces.ts'

/** Passwords in lines of configurations and logs, which people have chosen of plain words or which follow a user. */

const LINE_END = '(?=["\'`]?[ \\t]{0,8}(?:\\r|\\n|\\\\{1,9}[rn"]|$))'
const SPACES = '(?:[ \\t]|\\\\{1,9}t)'
const NAMES =
  '(?:[pP]ass(?:word|wd|phrase|wort|code)|PASS(?:WORD|WD|PHRASE)?|(?<![A-Za-z])[pP]ass|(?<=[a-z_])[pP]ass|[pP]wd|PWD|(?<![a-z])[pP][wW]|[kK]ennwort|[sS]enha|[wW]achtwoord|[hH]eslo|[cC]ontrase(?:ñ|n)a|[sS]ifre|[lL]osenord|[hH]aslo|[mM]ot[-_]de[-_]passe)'
const PAIR = '[A-Za-z]{3,14}[-_.](?:[A-Za-z]{3,14}[-_.]?\\d{1,4}|\\d{4})[!?#]?'

/** A name of code may look alike: it stands bare, with spaces around the sign. */
const isPairHere = (secret: string, { 0: found }: RegExpExecArray): boolean =>
  isNumberedPair(secret) &&
  (secret.includes('-') || !/\w {1,8}:?= {0,8}$/.test(found.slice(0, -secret.length)))

/** The anchors of the assignments serve them. */
export const configAssignments: readonly Detector[] = [
  // `password='puffin_velvet77'`, `NEXUS_PASS: kotek-mailbox-1`.
  simple(
    'password',
    [],
    `${NAMES}(?:${QUOTE})? {0,8}(?::=|=>|[:=]) {0,8}(?:${QUOTE})?(?<secret>${PAIR})(?![\\w.(\\[/@:-])`,
    isPairHere,
  ),
  // `level=info msg="password created" password=…`.
  simple(
    'password',
    [],
    `(?:password|passwd|passphrase)=(?<=(?:level|lvl|msg|time|ts)=[^\\r\\n]{0,240} [\\w.-]{0,30}pass[a-z]{2,6}=)(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=["'\`\\\\\\s]|$)`,
    isJoinedHere,
  ),
  // `sifre=kartopuvespa`, as a line of a file in other languages.
  simple(
    'password',
    '[:=](?<=(?:CLAVE|GESLO|LOZINKA|MDP) ?.)',
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,16}[\\w.-]{0,40})(?:[kK]ennwort|[sS]enha|[wW]achtwoord|[hH]eslo|[cC]ontrasena|[sS]ifre|[lL]osenord|[hH]aslo|[mM]ot[-_]de[-_]passe|CLAVE|CONTRASENA|SENHA|GESLO|LOZINKA|MDP)(?:: {1,8}| ?= ?)(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,64})${LINE_END}`,
    isJoinedHere,
  ),
  // `psk=…` of a wireless network.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,8})psk=(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\,;(){}<>]{8,64})${LINE_END}`,
    (secret) => !isTemplate(secret) && !/pass|secret/i.test(secret),
  ),
  simple(
    'password',
    [],
    `(?<![\\w-])psk=(?<quote>\\\\{0,9}")(?<secret>[^"\\r\\n\\\\]{8,63})(?=\\k<quote>)`,
    (secret) => !isTemplate(secret) && !/pass|secret/i.test(secret),
  ),
  // `Usr="kim";Pwd="…";`.
  simple(
    'password',
    [],
    `(?<=;)(?:Pwd|PWD|pwd|Password)=${QUOTE}(?<secret>[^\\s"'\`\\\\;]{5,128})(?=${QUOTE};)`,
    isJoinedHere,
  ),
]

/** Told by the word password. */
export const configPasswords: readonly Detector[] = [
  // "A temporary password is generated for root@localhost: …".
  simple(
    'password',
    [],
    `[pP]assword (?:is |was |has been )?(?:generated|created|set|reset|changed)(?: (?:for|of|to) [^\\r\\n:]{1,40})?: ?(?<secret>[^\\s"'\`\\\\<>(){}]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
]

/** Letters that nobody can say. */
const isDrawnName = (text: string): boolean => /^[A-Z]{8,16}$/.test(text) && /[B-DF-HJ-NP-TV-Z]{5}/.test(text)

const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]{32,}={0,2}$/.test(text) && /\d/.test(text)

/** A user is no way to make a digest, and the password no part of a name. */
const isOfUser = (secret: string, match: RegExpExecArray): boolean => {
  if (
    isTemplate(secret) ||
    /[:= "'`](?:sha\d*|md5|hmac|rsa|ecdsa|oauth2?|bearer|basic|digest|http|user\w*):[^:]*$/i.test(match[0])
  )
    return false
  const form = formOf(secret)
  if (form === 'chosen' || form === 'drawn' || form === 'weak' || isNumberedPair(secret) || isBase64(secret))
    return true
  return (
    /info|auth|pass|pwd|ials/i.test(match[0].slice(0, -secret.length)) &&
    isCertain(secret) &&
    !isNameWord(secret)
  )
}

/** Their signs are few elsewhere. */
export const configSigns: readonly Detector[] = [
  // `basic.auth.user.info=KEY:…`, `user=jitsi:…`, `user_password = admin:…`.
  simple(
    'password',
    `:(?!\\d\\d\\D)(?=[^\\s:/"'\`][^\\s:"'\`]{5})(?<=(?:[uU]ser|USER|[uU]ser[-_. ]?[iI]nfo|USER_INFO|[aA]uth|AUTH|ogin|assword|ials?|IALS?|pwd|PWD)["'\`\\\\]{0,4} {0,3}(?:=|:(?=[ "'\`\\\\])) {0,3}["'\`\\\\]{0,4}[\\w.@+-]{1,40}.)`,
    `(?:[uU]ser|USER|[uU]ser[-_. ]?[iI]nfo|USER_INFO|[aA]uth|AUTH|[lL]ogin|[pP]assword|[cC]redentials?|CREDENTIALS?|[uU]ser[pP]wd|USERPWD)(?:${QUOTE})? {0,3}(?:=|:(?=[ "'\`\\\\])) {0,3}(?:${QUOTE})?[\\w.@+-]{1,40}:(?!\\d\\d\\D)(?<secret>[^\\s:/"'\`\\\\,;<>(){}@][^\\s:"'\`\\\\,;<>(){}@]{5,127})(?=[\\s"'\`\\\\,;]|$)`,
    isOfUser,
  ),
  // `[smtp.example.org]:587 name:…`, the table of a mail server.
  simple(
    'password',
    `:(?!\\d)(?=[^\\s:/]{5})(?<=\\w\\]?:\\d{2,5}${SPACES}{1,16}[\\w.@+-]{2,64}.)`,
    `(?:\\]|\\w\\.[a-z]{2,20}):\\d{2,5}${SPACES}{1,16}[\\w.@+-]{2,64}:(?!\\d)(?<secret>[^\\s:/"'\`\\\\][^\\s:"'\`\\\\]{4,127})(?=[\\s\\\\"']|$)`,
    (secret, match) =>
      isGenerated(secret) || (match[0].startsWith(']') && (isJoinedHere(secret) || isNumberedPair(secret))),
  ),
  // `"password": { "S": "…" }` of DynamoDB.
  simple(
    kind,
    `:(?<=\\{\\s{0,12}\\\\{0,9}["']S\\\\{0,9}["'] {0,2}.)`,
    `${KEY}${QUOTE} {0,2}: {0,2}\\{\\s{0,12}${QUOTE}S${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,4096})(?=${QUOTE})`,
    (secret, match) => judge(secret, match, (text) => !isLabel(text) && !isReference(text)),
  ),
  // What Consul and Nomad call a token.
  simple(
    'token',
    [':', '='].map(
      (sign) =>
        `${sign}(?<=[sS]ecret[ _]?(?:ID|id)["'\`\\\\]{0,4} {0,12}.)(?= {0,12}["'\`\\\\]{0,4}[0-9a-f]{8}-)`,
    ),
    `[sS]ecret[ _]?(?:ID|id)(?:${QUOTE})? {0,12}[:=] {0,12}(?:${QUOTE})?(?<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\\w-])`,
  ),
  // `CONNECT TO bank USER batch USING '…'`.
  simple(
    'password',
    `["'](?<=(?:USING|using) \\\\{0,9}.)`,
    `(?:USER|user) :?(?:${QUOTE})?[\\w.-]{1,32}(?:${QUOTE})? (?:USING|using) ${QUOTE}(?<secret>[^"'\`\\s\\\\]{4,64})(?=${QUOTE})`,
    (secret) => !isTemplate(secret),
  ),
]

/** A line with a user, and below it one of capital letters in no order, as they are printed on devices. */
export const deviceLabels: readonly Detector[] = [
  simple(
    'password',
    [],
    `(?:[lL]ogin|[uU]ser(?:name)?): [\\w.@-]{1,40}(?:\\r?\\n|\\\\{1,9}n)[ \\t]{0,12}(?:pass|password|Password|pw): (?<secret>[A-Z]{8,16})${LINE_END}`,
    isDrawnName,
  ),
]
