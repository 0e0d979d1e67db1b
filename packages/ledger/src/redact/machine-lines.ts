import { judge, KEY, kind } from './assignments.ts'
import {
  entropyOf,
  isGenerated,
  isLabel,
  isPassword,
  isReference,
  isTemplate,
  looksAssigned,
} from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isJoinedHere } from './joined-words.ts'
import { keyStrength, kindOfKey } from './keys.ts'
import { isPassphrase, isWordPhrase } from './passphrase.ts'
import { isNoPassword, isSaidPhrase } from './plain-words.ts'
import { LINE, LINE_START, QUOTE } from './pieces.ts'

/** Lines that programs write or read, in which a place or a name says that the value is a secret. */

const LINE_END = `(?=[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`

const isGiven = (text: string): boolean => !isTemplate(text) && !isNoPassword(text)

/** A call, a member, a type, a range or a number of a pattern, a name to be filled in, a list in brackets. */
const WRITTEN =
  /[\w.]\([^()]*\)|[A-Za-z_]{4,}\(|^\w+\(|[A-Za-z]{3,}<|\w\[[\w,]*\]|\[[^\]]{0,40}-[^\]]{0,40}\]|[\].)d*+]\{\d+,?\d*\}|[$#%@{<(\\][{(]|\}\}|:\/\/|=>|->|::|^(?:<.*>|[{[(].*)$/

/** With brackets, braces and commas among its letters, as code does not have them; what ends a line of code is no part of it. */
const isBracketed = (text: string): boolean =>
  /[(){}[\],;<>]/.test(text.replace(/[(){}[\],;<>]+$/, '')) &&
  !WRITTEN.test(text) &&
  !isTemplate(text) &&
  /[A-Za-z]/.test(text) &&
  /[A-Z\d]/.test(text)

/** The same where only the kinds of its characters tell it from code. */
export const isDrawnBracketed = (text: string): boolean =>
  isBracketed(text) &&
  /[A-Z]/.test(text) &&
  /[a-z]/.test(text) &&
  /\d/.test(text) &&
  !/[A-Za-z]{9}/.test(text)

const isQuoted = (text: string): boolean =>
  isBracketed(text) && !/=|pass|required|min|max|string|^\w+(?:, ?\w+)+$/i.test(text)

const isOfPassword =
  (isSecret: (secret: string) => boolean) =>
  (secret: string, match: RegExpExecArray): boolean =>
    /password|secret/.test(kind(match)) && isSecret(secret) && judge(secret, match, isSecret)

/** What stands in the place of a password in an environment: a reference, a path, a member of code, another name of it. */
const isNone = (text: string): boolean =>
  !isGiven(text) ||
  isReference(text) ||
  isLabel(text) ||
  /^(?:[~.]{0,2}\/[\w.-]+(?:\/[\w.-]*)*|[A-Za-z_$]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+|[\w.$]*\(.*|.*:\/\/.*|\d{1,3})$/.test(
    text,
  ) ||
  (/pass|secret|pwd|credential|vault|token|env|kennwort/i.test(text) && !/\d/.test(text)) ||
  (/\s.*\s.*\s.*\s|[.:?]$/.test(text) && !isSaidPhrase(text))

const VARIABLE = '(?<![\\w-])[A-Z][A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|_PW)'

/** The anchors of the assignments serve them. */
export const lineAssignments: readonly Detector[] = [
  // `MYSQL_ROOT_PASSWORD=toor`, `DB_PASSWORD="three pears"`: of a variable, all but what is none.
  simple(
    'password',
    [],
    `${VARIABLE}=(?<secret>[^\\s"'\`\\\\]{4,128})${LINE_END}`,
    (secret) => !isNone(secret),
  ),
  simple(
    'password',
    [],
    `${VARIABLE}=(?<quote>${QUOTE})(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=\\k<quote>)`,
    (secret) => !isNone(secret),
  ),
  simple(
    'password',
    [],
    `(?<=${LINE_START}[ \\t]{0,24})${VARIABLE}: (?<secret>[^\\s"'\`\\\\]{3,64}[-_.!#$%&*+][^\\s"'\`\\\\]{0,64})${LINE_END}`,
    (secret) => !isNone(secret) && !/[,({[]$/.test(secret),
  ),
  // `db_password = "fV8}tq[2Ls,Xh"`.
  simple(
    kind,
    [],
    `${KEY}(?:${QUOTE})? {0,40}(?::=|=>|[:=]) {0,16}[bru@]?(?<quote>${QUOTE})(?<secret>[^\\s"'\`\\\\]{7,128})(?=\\k<quote>)`,
    isOfPassword((secret) => isQuoted(secret) || isDrawnBracketed(secret)),
  ),
  // `Password: fV8}tq[2Ls,Xh`, to the end of its line.
  simple(
    kind,
    [],
    `${KEY}[*_]{0,2}(?: {0,4}= {0,4}|:[*_]{0,2} {1,4})(?<secret>[^\\s"'\`\\\\]{7,64})${LINE_END}`,
    isOfPassword(isDrawnBracketed),
  ),
  // `keystore.password=water,ball9`, where the name begins the line.
  simple(
    'password',
    [],
    `(?<=${LINE_START}[ \\t]{0,16}[\\w.-]{0,60})(?:[pP]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE))(?:=|: )(?<secret>[^\\s"'\`\\\\=()<>]{7,64})${LINE_END}`,
    isQuoted,
  ),
  // `Pwd={…};`, as drivers of databases quote it.
  simple(
    'password',
    [],
    '(?<=;)(?:[pP]assword|PWD|Pwd|pwd)=\\{(?<secret>[^{}\\r\\n]{5,64})(?=\\})',
    (secret) => isGiven(secret) && /[\d!@#$%^&*;,?+]/.test(secret),
  ),
]

const COLUMN_NAME =
  '(?:[A-Z][A-Z0-9]{0,30}_){1,6}(?:PASSWORD|PASSWD|PASS|PWD|PW|PASSPHRASE|SECRET|SECRET_KEY|SECRET_KEY_BASE|SECRET_ACCESS_KEY|ACCESS_KEY|API_KEY|KEY|TOKEN|SALT)|SECRET_KEY|SECRET_KEY_BASE|API_KEY|PGPASSWORD|APP_KEY'

/** A listing may show what was made of the values, or when they were set. */
export const isListing = ({ input, index }: RegExpExecArray): boolean =>
  /(?<![A-Za-z_])(?:DIGEST|CHECKSUMS?|FINGERPRINT|HASH|VERSION|UPDATED|CREATED)(?![A-Za-z_])[^\r\n]*(?:\n|\\n)/i.test(
    input.slice(Math.max(0, index - 800), index),
  )

const isInColumn = (secret: string, match: RegExpExecArray): boolean => {
  if (isTemplate(secret) || /^[/.~]|^\d{4}-\d\d|:\/\/|^sha\d+:/.test(secret) || isListing(match)) return false
  if (
    /^(?:[a-z]+|\d+)(?:[-_:.](?:[a-z]+|\d+))+$/.test(secret) &&
    !isWordPhrase(secret) &&
    !isPassphrase(secret)
  )
    return false
  const name = match[0].slice(0, -secret.length).trim()
  if (/PASS|PWD|PW$/.test(name)) return isJoinedHere(secret) || isPassword(secret)
  const strength = keyStrength(name)
  if (strength === 'soft') return isGenerated(secret)
  return strength === 'hard' && (looksAssigned(secret) || isWordPhrase(secret))
}

/** Told by the sign inside of a name or at the end of a value. */
export const machineTables: readonly Detector[] = [
  // `DATADOG_API_KEY        …`, a table of the environment.
  simple(
    (match) => kindOfKey(/[A-Z0-9_]+/.exec(match[0])?.[0] ?? ''),
    '_(?=[A-Z_]{2,24}(?: {2}|\\t|\\\\{1,9}t))(?<=[A-Z0-9].)(?=(?:[A-Z]{2,10}_){0,3}(?:PASS|PWD|PW|SECRET|KEY|TOKEN|SALT|BASE))',
    `(?<=${LINE_START}[ \\t│|]{0,8})(?:${COLUMN_NAME})(?: {2,60}|\\t{1,6}|\\\\{1,9}t)(?<secret>[^\\s"'\`\\\\|│]{5,512})${LINE_END}`,
    isInColumn,
  ),
  // `| AUTH_SALT | … |`, a row of the same.
  simple(
    (match) => kindOfKey(/[A-Z0-9_]+/.exec(match[0])?.[0] ?? ''),
    '_(?=[A-Z_]{2,24} {0,60}[|│])(?<=[A-Z0-9].)(?=(?:[A-Z]{2,10}_){0,3}(?:PASS|PWD|PW|SECRET|KEY|TOKEN|SALT|BASE))',
    `(?<=[|│] {0,8}\`?)(?:${COLUMN_NAME})\`? {0,60}[|│] {0,8}\`?(?<secret>[^\\s"'\`\\\\|│]{8,512})(?=\`? {0,80}[|│])`,
    (secret, match) =>
      isInColumn(secret, match) ||
      (secret.length >= 32 && entropyOf(secret) >= 4.5 && !/[A-Za-z]{9}/.test(secret)),
  ),
  // What Vault is opened with.
  simple('secret', '=(?<=unseal [A-Za-z0-9+/]{43}.)', '(?<=operator unseal )[A-Za-z0-9+/]{43}=(?!=)'),
  // What Zabbix answers to a login, and Proxmox to the wish for a token.
  simple(
    'token',
    ':(?<=result\\\\{0,9}" ?.)(?= ?\\\\{0,9}"[0-9a-f]{32}\\\\{0,9}")',
    'user\\.login[^]{0,400}?result\\\\{0,9}" ?: ?\\\\{0,9}"(?<secret>[0-9a-f]{32})(?=\\\\{0,9}")',
  ),
  simple(
    'token',
    '-(?<=value {1,40}[|│] {0,4}[0-9a-f]{8}.)',
    'tokenid[^]{0,500}?value {1,40}[|│] {0,4}(?<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?!\\w)',
  ),
]

/** Told by quotation marks. */
export const machineLines: readonly Detector[] = [
  // What Redis answers to `CONFIG GET requirepass`.
  simple(
    'password',
    `["'](?<=\\d\\) \\\\{0,9}.)(?<=(?:requirepass|masterauth|sentinel-pass)\\\\{0,9}["']${LINE}[ \\t]{0,8}\\d{1,3}\\) \\\\{0,9}.)`,
    `(?:requirepass|masterauth|sentinel-pass)${QUOTE}${LINE}[ \\t]{0,8}\\d{1,3}\\) ${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,256})(?=${QUOTE})`,
    isGiven,
  ),
  // A line of the users of PgBouncer.
  simple(
    'password',
    `["'](?<=${LINE_START}\\\\{0,9}["'][\\w.@-]{1,63}\\\\{0,9}["'] \\\\{0,9}.)`,
    `(?<=userlist[^]{0,400}${LINE_START}\\\\{0,9}"[\\w.@-]{1,63}\\\\{0,9}" \\\\{0,9}")[^"\\s\\\\]{4,256}(?=\\\\{0,9}"[ \\t]{0,8}(?:${LINE}|\\r|$))`,
    isGiven,
  ),
  simple(
    'password-hash',
    [],
    `(?<=${LINE_START}\\\\{0,9}"[\\w.@-]{1,63}\\\\{0,9}" \\\\{0,9}")(?:SCRAM-SHA-256\\$[\\w+/=:$]{40,256}|md5[0-9a-f]{32})(?=\\\\{0,9}")`,
  ),
]
