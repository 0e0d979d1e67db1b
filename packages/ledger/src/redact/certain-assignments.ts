import { isNoSentence } from './blocks.ts'
import { isLabel, isReference, isTemplate } from './checks.ts'
import { type Detector, NAME_START, simple } from './detector.ts'
import { isJoinedBare, isJoinedHere, isJoinedInQuotes } from './joined-words.ts'
import { PASS_OWNER } from './keys.ts'
import { isDrawnBracketed } from './machine-lines.ts'
import { isWordPhrase } from './passphrase.ts'
import { LINE, LINE_START, QUOTE } from './pieces.ts'
import { isCertain, isNoPassword, isSaidWord } from './plain-words.ts'

/** Names and values where nothing but a password stands, so that plain words are one as well. */

export const LINE_END = `(?=["'\`]{0,1}[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`
const SHORT_NAMES = '(?:(?<![A-Za-z])|(?<=_))(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|PW)|(?<=[a-z])(?:Pass|Pwd|Pw)'
export const LONG_NAMES =
  '[pP]ass(?:word|wd|phrase|wort)|PASS(?:WORD|WD|PHRASE|WORT)|(?<=[a-z])P(?:assword|assphrase)'
const SECRETS = '(?:client|jwt|session|app|shared|auth)[-_]?[sS]ecret|_SECRET'
const USER = '(?:[uU]ser(?:_?[nN]ame)?|[lL]ogin|[eE]-?mail)'
const NO_TYPE = '(?!(?:string|text|required|optional|invalid|missing|username|user|name)(?![\\w.@-]))'
export const PHRASE = '[a-zA-Z]{3,12}(?:[-_.][a-zA-Z]{3,12}){2,7}'

/** In code, words that dots or underscores join are names; in quotation marks or right behind the sign they are not. */
const isPhraseHere = (secret: string, match: RegExpExecArray): boolean =>
  isWordPhrase(secret) &&
  (secret.includes('-') || /(?:["'`]|[^\s]=)$/.test(match[0].slice(0, -secret.length)) || isYaml(match))
/** The name begins its line, and the value ends it. */
const isYaml = ({ 0: found, input, index }: RegExpExecArray): boolean =>
  /: [^\s]+$/.test(found) &&
  /(?:^|\n|\\n)[\s-]*[\w.-]*$/.test(input.slice(Math.max(0, index - 60), index)) &&
  /^(?:$|[\r\n\\])/.test(input.slice(index + found.length, index + found.length + 1))

const isTwoWords = (text: string): boolean => / /.test(text) && text.split(' ').every(isSaidWord)

/** The anchors of the assignments serve them. */
export const certainAssignments: readonly Detector[] = [
  simple(
    'password',
    [],
    `(?:${SHORT_NAMES}|${LONG_NAMES}|${SECRETS})(?:${QUOTE})? {0,8}(?::=|=>|[:=]) {0,8}(?:${QUOTE})?(?<secret>${PHRASE})(?![\\w.(\\[/@:-])`,
    isPhraseHere,
  ),
  // `"root_pw": "…"`, as in an object.
  simple(
    'password',
    [],
    `(?<=["'_.-])(?:${PASS_OWNER})[-_.]?(?:[pP]ass|[pP]wd|[pP]w|[pP]sk)(?<quote>${QUOTE}) ?: {0,3}\\k<quote>(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=\\k<quote>)`,
    (secret) =>
      !isLabel(secret) && !isReference(secret) && !isTemplate(secret) && !/^[/~]|:\/\//.test(secret),
  ),
  // `secret_key = "…"`, `session({ secret: '…' })`: what a program signs with.
  simple(
    'secret',
    [],
    `(?:(?:client|jwt|session|cookie|webhook|signing|hmac|shared|csrf)[-_]?[sS]ecret|secret_key|SECRET_KEY|(?<=session\\(\\{[^{}]{0,80})secret)(?:${QUOTE})? {0,3}[:=] {0,3}(?<quote>${QUOTE})(?<secret>[^"'\`\\r\\n\\\\]{6,128})(?=\\k<quote>)`,
    (secret) => isSaidWord(secret) || isJoinedInQuotes(secret) || isTwoWords(secret),
  ),
  // `export ROOT_PW=…`, as a line of an environment.
  simple(
    'password',
    [],
    `${NAME_START}[A-Z][A-Z0-9_]{0,40}(?:(?<!BY|COM|OLD|SUR|TRES)PASS|_PWD|_PW|_PSK)=(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\;&(){}<>]{5,64})(?=[\\s"'\`\\\\]|$)`,
    isJoinedHere,
  ),
  // `Server=db;User ID=sa;Password=…;`, `?user=app&password=…`, `host=db user=app password=…`.
  simple(
    'password',
    [],
    `(?<=[;&?] ?|(?:-F|-d|--form|--data(?:-urlencode|-raw)?)[ =]["'\\\\]{0,4}|\\s-[DP][\\w.-]{0,60})(?:${LONG_NAMES}|Pwd|PWD|pwd|Pass|pass)=(?<secret>[^\\s;&"'\`\\\\]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
    (secret) => isJoinedHere(secret) || isDrawnBracketed(secret),
  ),
  simple(
    'password',
    [],
    `(?<=(?:user(?:name)?|name|login)=[^\\s=\\\\]{1,64}(?: |\\n|\\\\n)(?:[a-z_]{2,20}=[^\\s=]{1,64} ){0,4})(?:password|passwd|pass|pwd)=(?<secret>[^\\s;&"'\`\\\\,(){}<>]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
    isJoinedHere,
  ),
  // `user / password: kim / …`.
  simple(
    'password',
    [],
    `(?:[uU]ser(?:name)?|[lL]ogin) ?\\/ ?(?:${LONG_NAMES}|[pP]ass|pw)[*_]{0,2} ?[:=] ?[*_]{0,2} ?[\\w.@-]{1,64} ?\\/ ?(?<secret>[^\\s"'\`\\\\/,;()<>]{5,128})`,
    (secret) => isCertain(secret.replace(/[.!?]$/, '')),
  ),
  // `{ username: 'kim', password: '…' }`.
  simple(
    'password',
    [],
    `${USER}(?:${QUOTE})? ?(?:[:=]|=>) ?${QUOTE}${NO_TYPE}[^"'\`\\r\\n\\\\\\s]{1,64}${QUOTE},(?:[^{}\\r\\n]{0,120}?[ ,]|(?:\\s|\\\\{1,9}[nt]){1,24})?(?:${QUOTE})?(?:password|passwd|pass|pwd|pw)(?:${QUOTE})? ?(?:[:=]|=>) ?${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,128})(?=${QUOTE})`,
    isJoinedHere,
  ),
  // `Username: kim`, and in the next line `Password: …`.
  simple(
    'password',
    [],
    `${USER}[*_]{0,2} ?[:=][*_]{0,2} ?\`?${NO_TYPE}[\\w.@+-]{1,64}\`?(?:${LINE}|, ?| ?\\/ ?| \\| | )[ \\t*_>-]{0,12}(?:${LONG_NAMES}|[pP]ass|[pP]wd?|PW)[*_]{0,2} ?[:=][*_]{0,2} ?\`?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[*\`,;]{0,3}(?: \\| |${LINE}|\\r|["'\\\\]|$))`,
    isJoinedHere,
  ),
  // `MYSQL_PASSWORD: …` of a compose file.
  simple(
    'password',
    [],
    `${NAME_START}[A-Z][A-Z0-9_]{0,40}(?:(?<!BY|COM|OLD|SUR|TRES)PASS|_PWD|_PW|PASSWORD|PASSWD): (?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
  simple(
    'password',
    [],
    `stringData:(?:${LINE}[ \\t]{1,12}[\\w.-]{1,40}: ?[^\\r\\n\\\\]{0,120}){0,8}?${LINE}[ \\t]{1,12}[\\w.-]{0,30}(?:password|pass): (?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
  // `--set auth.password=…`, `--from-literal=password=…`, `-var db_password=…`, `vault kv put path password=…`.
  simple(
    'password',
    [],
    `(?:--set(?:-string)?[ =]|--from-literal[ =]|-var[ =]|kv put [^\\r\\n\\\\]{1,80}? )(?:${QUOTE})?[\\w.-]{0,60}(?:[pP]assword|[pP]asswd|pass|pw)=(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[\\s"'\`\\\\,]|$)`,
    isJoinedHere,
  ),
  simple(
    'password',
    [],
    `(?:ansible_(?:[a-z]{2,8}_)?pass(?:word)?|wpa_passphrase)(?:=|: )(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[\\s"'\`\\\\]|$)`,
    isJoinedHere,
  ),
  simple(
    'password',
    [],
    `(?<=${LINE_START}[ \\t]{0,8})wpa_passphrase=(?<secret>[^\\r\\n"'\`\\\\]{8,63})(?=${LINE}|\\r|\\\\{0,9}["'\`]|$)`,
    (secret) => !isTemplate(secret),
  ),
  // `db_password = "…"`.
  simple(
    'password',
    [],
    `(?<![A-Za-z])(?:db|database|admin|root|smtp|mail|imap|redis|mysql|postgres|pg|master|ftp|ssh|ldap|bind|svc|mqtt)_(?:password|passwd|pass|pwd|pw)(?:${QUOTE})? {0,8}[:=] {0,8}${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,128})(?=${QUOTE})`,
    isJoinedHere,
  ),
  simple(
    'secret',
    [],
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,8})secret ?= ?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,64})${LINE_END}`,
    isJoinedBare,
  ),
  // `password='…', secret='…'` of a device.
  simple(
    'secret',
    [],
    `(?<=password ?= ?${QUOTE}[^"'\`\\r\\n\\\\]{1,64}${QUOTE}, {0,2})secret ?= ?${QUOTE}(?<secret>[^\\s"'\`\\\\]{4,64})(?=${QUOTE})`,
    isJoinedHere,
  ),
  // `client-secret: Salt-Lemon`, `jwt.secret=saltAndLemon`.
  simple(
    'secret',
    [],
    `(?:(?:client|jwt|session|cookie|app|shared|auth|signing|webhook|hmac|CLIENT|JWT|SESSION|COOKIE|APP|SHARED|AUTH|SIGNING|WEBHOOK|HMAC)[-_.]?[sS](?:ecret|ECRET))(?:${QUOTE})? {0,8}(?::=|=>|[:=]) {0,8}${QUOTE}?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,64})(?=${QUOTE}|[ \\t]{0,4}(?:${LINE}|$))`,
    (secret, { 0: found }) => {
      const before = found.slice(0, -secret.length)
      return isJoinedBare(secret) || (/["'`=]$/.test(before) && isJoinedInQuotes(secret))
    },
  ),
  // `password = 'salt-and-lemon'`, `keychain_pass: "Salt.Lemon"`.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|(?:(?<=[A-Za-z0-9][_.-]|\\\\[nrt])|(?<![A-Za-z]))(?:pass|pwd|pw|psk|PASS|PWD|PW|PSK)|(?<=db)(?:pass|pw|pwd))(?:${QUOTE})?(?:: [A-Za-z]{3,10}(?:\\[[a-z]{2,6}\\])?)? {0,8}(?::=|=>|[:=]) {0,8}[bru]?${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,128})(?=${QUOTE})`,
    isJoinedInQuotes,
  ),
  simple(
    'secret',
    [],
    `(?:session\\(\\{[^{}]{0,200}?secret: ?|secret_key ?= ?)${QUOTE}(?<secret>[a-zA-Z]{3,12}(?:[- ][a-zA-Z]{3,12}){1,6})(?=${QUOTE})`,
    (secret) => !/secret|your|change|\bkey|env|replace/i.test(secret.replace('keyboard', '')),
  ),
  // `password = "silverpaddleriver"`, `pw: 'swordfish'`: one word, or several in one.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|(?:(?<=_)|(?<![A-Za-z]))(?:pass|pw|pwd|psk)|(?:COOKIE|JWT|SESSION|AUTH|APP|SIGNING|WEBHOOK)_SECRET)(?:${QUOTE})? {0,8}(?:[:=]|=>) {0,8}(?<quote>${QUOTE})(?<secret>[a-zA-Z]{5,40})(?=\\k<quote>)`,
    isSaidWord,
  ),
  // `password: swordfish` as a line of a file, of a difference, or of what grep has found.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)(?:[\\w./-]{1,80}:(?:\\d{1,5}:)?)?[ \\t+-]{0,16}[\\w.-]{0,40})(?:${LONG_NAMES})(?:: {1,8}| ?= ?)(?<secret>[A-Za-z]{5,20})(?=[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`,
    isSaidWord,
  ),
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)(?:[\\w./-]{1,80}:(?:\\d{1,5}:)?)?[ \\t+-]{0,16}[\\w.-]{0,40})(?:${LONG_NAMES}|(?:(?<=[._-]|\\\\[nrt])|(?<![A-Za-z]))(?:pass|pwd|pw|psk)|(?<=db)pass)(?:: {1,8}| ?= ?)(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,64})${LINE_END}`,
    isJoinedBare,
  ),
  // `jasypt.encryptor.password=jardin-Bleu`, `releaseStorePassword=saltLemon`, as a line of properties.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)[\\w.-]{0,60})(?:${LONG_NAMES})=(?<secret>[A-Za-z]{2,14}(?:[-+&.]?[A-Za-z]{2,14}){1,4})${LINE_END}`,
    (secret) => /[-+&.]|[a-z][A-Z]/.test(secret) && isJoinedHere(secret),
  ),
  // `add name=one wpa2-pre-shared-key=Salt+Lemon mode=x`.
  simple(
    'password',
    [],
    `(?<=\\s[\\w-]{0,20})(?:${LONG_NAMES}|pre-shared-key|psk)=(?<secret>[A-Za-z]{2,14}(?:[-+&][A-Za-z]{2,14}){1,4})(?= [a-z-]{2,30}=|${LINE}|$)`,
    isJoinedHere,
  ),
  // What a tool takes from the environment.
  simple(
    'password',
    [],
    `${NAME_START}(?:REDISCLI_AUTH|MYSQL_PWD|SSHPASS|RSYNC_PASSWORD|PGPASSWORD|BORG_PASSPHRASE|RESTIC_PASSWORD)=(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\;&<>]{4,128})(?=[\\s"'\`\\\\;&]|$)`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // The passwords that Google makes for one program.
  simple(
    'password',
    [],
    `(?:${SHORT_NAMES}|${LONG_NAMES})(?:${QUOTE})? {0,8}(?:[:=]|=>) {0,8}(?:${QUOTE})?(?<secret>(?:[a-z]{4} ){3}[a-z]{4})(?=${QUOTE}|[ \\t]{0,8}(?:${LINE}|$))`,
    isNoSentence,
  ),
  // `{User:app Password:swordfish Host:db}`, as Go shows what it has.
  simple(
    'password',
    [],
    `(?<=\\{[^{}()\\r\\n]{0,160}[{ ])(?:${LONG_NAMES}):(?<secret>[^\\s"'\`\\\\,;:(){}<>]{5,64})(?= [A-Z]\\w{0,40}:|\\})`,
    isJoinedHere,
  ),
  simple(
    'password',
    [],
    `(?<=\\{[^{}()\\r\\n]{0,160}[{ ,])(?:${LONG_NAMES}): (?<secret>[^\\s"'\`\\\\,;:(){}<>]{5,64})(?=,|\\})`,
    isJoinedBare,
  ),
  // `{user=app, password=swordfish, host=db}`.
  simple(
    'password',
    [],
    `(?<=\\{[^{}()\\r\\n]{0,160}[{, ][\\w.-]{0,40})(?:${LONG_NAMES})=(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,64})(?=,|\\})`,
    (secret) => isSaidWord(secret) || isJoinedBare(secret),
  ),
]
