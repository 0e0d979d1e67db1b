import { entropyOf, isGenerated, isMixed, isPassword, isRandom, isTemplate, looksAssigned } from './checks.ts'
import type { Detector, Place } from './detector.ts'
import { anyCase } from './keys.ts'
import { isJoinedBare, isJoinedHere } from './joined-words.ts'
import { isCertain } from './plain-words.ts'
import { PASSWORD } from './said.ts'
import { type Cell, type Column, columnOf, cellsBelow, unsettledBelow } from './table-rows.ts'

/** A name at the head of a column, and the values below it. */

type Judge = (cell: string) => boolean
export const isPasswordCell: Judge = (cell) =>
  !isTemplate(cell) && !/[\s/]|^[\d.,-]+$/.test(cell) && (isPassword(cell) || looksAssigned(cell))
export const isSecretCell: Judge = (cell) =>
  (!/[\s/]/.test(cell) && isGenerated(cell)) ||
  (/^[A-Za-z0-9+/]{40}$/.test(cell) && isRandom(cell)) ||
  (/^[\w+/.=*-]{16,512}$/.test(cell) &&
    isMixed(cell) &&
    entropyOf(cell) > 2.8 &&
    !/^[a-z]+(?:[-_/.][a-z0-9]{1,8})+$/.test(cell))
/** The key of a network or of a device is as short as a password. */
const isKeyCell: Judge = (cell) => isPasswordCell(cell) || isSecretCell(cell) || /^\d{8,20}$/.test(cell)
const isCodeCell: Judge = (cell) => /^\d{4,10}[#*]?$/.test(cell)
const isCardCode: Judge = (cell) => /^\d{3,4}$/.test(cell)
const isWordCell: Judge = (cell) =>
  /^[^\s()<>]{4,64}$/.test(cell) && !isTemplate(cell) && (isMixed(cell) || isCertain(cell))

const OWNER = '(?:[A-Za-zÀ-ɏ0-9.]{1,16}[ _-]){0,2}'
const REST =
  '(?:[ _-](?:plain|text|clear|raw|value|initial|temp|new|old|default|prod|dev|staging|1|2|RO|RW|ro|rw))?(?: \\([^()|,;\\t\\r\\n\\\\]{1,40}\\))?'
const LONG_PASSWORD = `(?!(?:has|is|needs)_)(?:[A-Za-z]{1,16}[_ -])?(?:${PASSWORD})(?:[_ -](?:plain|text|clear|raw|value|initial|temp|new|old|default))?`
const WORDS = anyCase(
  'pass|pwd?|psk|passwd|password|passwort|kennwort|erstkennwort|startpasswort|initialpasswort|clave|contraseña|contrasena|senha|mot de passe|mdp|wachtwoord|heslo|hasło|haslo|salasana|adgangskode|lösenord|parola|şifre|jelszó|passphrase|passcode',
)
const SECRETS = anyCase(
  'api[ _-]?(?:key|token|secret)|(?:access|auth|refresh|session|bearer|deploy|bot|app)[ _-]?(?:token|key)|secret(?:[ _-]access)?(?:[ _-]key)?|token|credential|(?:signing|encryption|private|license|master)[ _-]key|totp|otp[ _-]?secret|login_totp|authentication_string|password_hash',
)
const NETWORK = `${anyCase('(?:wpa\\d?|wep|wi-?fi|wlan|network|router|psk)[ _-](?:key|code)').replaceAll('\\[dD]', '\\d')}|[kK]ey|KEY|[sS]chlüssel|[cC]lé|[cC]have`
const CODES =
  'P(?:IN|in)(?: ?[12])?|pin|PUK(?: ?[12])?|CVV2?|CVC2?|cvv2?|cvc2?|(?:[dD]oor|[aA]larm|[aA]ccess|[eE]ntry|[gG]ate|[uU]nlock|[sS]afe)[ _-][cC]ode|Geheimzahl|Türcode'
const COMMUNITY = '[cC]ommunity(?:[ _-][sS]tring)?'

/** Beside the name of a user, any word is the password. */
const OF_USER =
  /(?<![a-z])(?:user(?:[-_ ]?name)?|use?name|login|e-?mail|account|usuario|usuário|benutzer(?:name)?|utilisateur|identifiant|utente|konto|gebruiker|kullanıcı|логин|пользователь|用户名|ユーザー)(?![a-z])/i
const OF_NETWORK = /ssid|wi-?fi|wlan|wpa|network|netz|router|access ?point/i

/** What a column holds, by the name at its head; undefined where other columns would have to say so and do not. */
type Sort = (head: string) => Judge | undefined
const ofPasswords: Sort = (head) =>
  OF_USER.test(head)
    ? (cell) => isPasswordCell(cell) || isJoinedHere(cell) || isCodeCell(cell)
    : (cell) => isPasswordCell(cell) || isJoinedBare(cell)

const cellsOfSecrets = (match: RegExpExecArray, sort: Sort): readonly Cell[] => {
  const column: Column | undefined = columnOf(match)
  if (column === undefined) return []
  const isSecret = sort(match.input.slice(column.head.start, column.head.end))
  return isSecret === undefined
    ? []
    : cellsBelow(match.input, column).cells.filter(({ text }) => isSecret(text))
}

const columns = (kind: string, pattern: string, anchor: Detector['anchor'], sort: Sort): Detector => ({
  kind,
  anchor,
  pattern: new RegExp(pattern, 'g'),
  locate: (match): Place[] =>
    cellsOfSecrets(match, sort).map(({ start, text }) => ({ start, end: start + text.length })),
  unsettled: unsettledBelow,
})

const EDGE = '[^\\s,;|│:"\'`\\\\*<>]'
const NOT_ASSIGNED = `(?!${EDGE}|\\\\{0,9}["'\`]? {0,3}[=])`
/** Their anchor is the word itself. */
export const passwordColumns: readonly Detector[] = [
  columns('password', `(?:(?<!${EDGE})|(?<=\\\\[nrt]))${LONG_PASSWORD}${NOT_ASSIGNED}`, [], ofPasswords),
]

/** Behind the comma of a sentence more than one word follows. */
const NO_PROSE = '(?! [a-z]+ [a-z0-9])'
/** Before the name stands the sign that parts the columns, and behind it another or the end of the line. */
const BEFORE = `(?:[,;]${NO_PROSE}[ "'\\\\]{0,4}|[|│\\t] {0,40}|\\\\t|  | \\/ |<t[hd]>)`
const BEHIND = '["\'\\\\ ]{0,4} {0,40}(?:[,;|│\\t\\r\\n]|\\\\[nrt]| {2}| \\/ |<\\/t)'
const inHead = (names: string): string => `(?<=${BEFORE})${OWNER}(?:${names})${REST}(?=${BEHIND})`
const ANY = `${OWNER}(?:${WORDS}|${SECRETS}|${NETWORK}|${CODES}|${COMMUNITY})${REST}${BEHIND}`

export const secretColumns: readonly Detector[] = [
  columns(
    'password',
    inHead(WORDS),
    [`[,;]${NO_PROSE}(?=[ "'\\\\]{0,4}${ANY})`, `[|│\\t](?= {0,40}${ANY})`, `\\\\(?=t${ANY})`],
    ofPasswords,
  ),
  { ...columns('secret', inHead(SECRETS), `  (?=${ANY})`, () => isSecretCell), alone: true },
  columns('password', inHead(NETWORK), `\\/(?<= .)(?= ${ANY})`, (head) =>
    OF_NETWORK.test(head) ? isKeyCell : undefined,
  ),
  columns('pin', inHead(CODES), `<(?=t[hd]>${ANY})`, () => isCodeCell),
  columns('pin', inHead('[cC][vV][vVcC]2?'), [], () => isCardCode),
  columns('password', inHead(COMMUNITY), [], () => isWordCell),
]
