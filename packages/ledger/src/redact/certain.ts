import { isLabel, isMixed, isPassword, isReference, isScrambled, isTemplate } from './checks.ts'
import { PASS_OWNER } from './keys.ts'
import { isNoSentence } from './blocks.ts'
import { type Detector, NAME_START, simple } from './detector.ts'
import { isJoinedBare, isJoinedHere, isJoinedInQuotes } from './joined-words.ts'
import { isDrawnBracketed, isListing } from './machine-lines.ts'
import { isWordPhrase } from './passphrase.ts'
import { isCertain, isNoPassword, isSaidWord } from './plain-words.ts'
import { formOf } from './secret-words.ts'

/** Places where nothing but a password stands, so that plain words are one as well. */

const QUOTE = `\\\\{0,9}["'\`]`
const LINE = '(?:\\r?\\n|\\\\{1,9}r?\\\\{0,9}n)'
const LINE_START = '(?:^|\\n|\\\\n)'
const LINE_END = `(?=["'\`]{0,1}[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`

const SHORT_NAMES = '(?:(?<![A-Za-z])|(?<=_))(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|PW)|(?<=[a-z])(?:Pass|Pwd|Pw)'
const LONG_NAMES =
  '[pP]ass(?:word|wd|phrase|wort)|PASS(?:WORD|WD|PHRASE|WORT)|(?<=[a-z])P(?:assword|assphrase)'
const SECRETS = '(?:client|jwt|session|app|shared|auth)[-_]?[sS]ecret|_SECRET'
const USER = '(?:[uU]ser(?:_?[nN]ame)?|[lL]ogin|[eE]-?mail)'
const NO_TYPE = '(?!(?:string|text|required|optional|invalid|missing|username|user|name)(?![\\w.@-]))'
const PHRASE = '[a-zA-Z]{3,12}(?:[-_.][a-zA-Z]{3,12}){2,7}'

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

const USER_STATEMENT =
  '(?:CREATE|ALTER|create|alter|Create|Alter) (?:USER|ROLE|LOGIN|user|role|login|User|Role|Login) [^\\r\\n;]{1,160}?'

/** Told by the word password. */
export const certainPasswords: readonly Detector[] = [
  // `password    …`, as a table of names and values.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,8}[\\w.-]{0,30})(?:${LONG_NAMES})(?: {2,40}|\\t|\\\\{1,9}t)(?<secret>[^\\s"'\`\\\\<>|=]{5,128})${LINE_END}`,
    (secret, match) =>
      isJoinedHere(secret) &&
      (!/^[A-Z]?[a-z]+$/.test(secret) || isSaidWord(secret) || isScrambled(secret)) &&
      !isListing(match),
  ),
  // `["password"]=> string(7) "…"`, as PHP shows what it has.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|(?<=[_"])(?:pass|pwd|pw))(?:\\\\{0,9}":?[\\w:"\\\\]{0,40})?\\] ?=>(?:\\s|\\\\{1,9}n){0,16}(?:string\\(\\d{1,4}\\) )?(?:${QUOTE})?(?<secret>[^\\s"'\`]{4,128})(?=${QUOTE}|[\\s\\\\]|$)`,
    (secret) =>
      !isTemplate(secret) && !isNoPassword(secret) && !/^(?:NULL|string\(|bool\(|int\(|Array)/.test(secret),
  ),
  // `[sudo] password for kim: …`, `- **Password:** \`…\``, what stands behind a prompt or a label to the end of its line.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|[mM]ot de passe|[cC]ontraseña)(?: (?:for|of|für|de) [^\\r\\n:]{1,40}(?::\\/\\/[^\\r\\n:]{1,60})?)?[*_]{0,2} {0,4}[:：][*_]{0,2} {1,4}[*\`]{0,3}(?<secret>[^\\s"'\`\\\\,;(){}<>*]{5,64})(?=[*\`]{0,3}[ \\t]{0,4}(?:${LINE}|$))`,
    isJoinedBare,
  ),
  // `env[DB_PASSWORD] = …` of PHP.
  simple(
    'password',
    [],
    `env\\[[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASS)\\] ?= ?(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\$;]{4,128})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // "user `kim`, pass `salt-and-lemon`".
  simple(
    'password',
    [],
    `(?:[uU]ser(?:name)?|[lL]ogin)(?: is)? {0,2}[:=]? ?\`?[\\w.@-]{1,64}\`?(?:,| and| \\/|;) {0,2}(?:pass|pw|password|passphrase) \`(?<secret>[^\\s\`]{5,64})(?=\`)`,
    isJoinedHere,
  ),
  // `set system password …`, `d-i passwd/user-password password …`, `setx DB_PASSWORD …`.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n|[$>] )[ \\t]{0,12}(?:set|d-i|setx|nmcli|ppp)(?: [^\\s]{1,40}){0,8} [\\w./-]{0,30})(?:password|passwd|PASSWORD|PASSWD)(?: \\d)? (?:${QUOTE})?(?<secret>[^\\s"'\`\\\\<>(){}]{5,64})${LINE_END}`,
    isJoinedInQuotes,
  ),
  // `UPDATE settings SET value = '…' WHERE name = 'smtp_password'`.
  simple(
    'password',
    [],
    `(?:SET|set) \\w{0,20}value\\w{0,10} ?= ?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}'[^;\\r\\n]{0,40} (?:WHERE|where) [^;\\r\\n]{0,60}(?:password|passwd|_pass|_pw)\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `remote_password …`, `set imap_pass …`, as a line of a file.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,8}(?:set )?[\\w.-]{0,30}[a-z0-9][_.-])(?:password|passwd|passphrase|pass)[ \\t]{1,40}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\<>|=:][^\\s"'\`\\\\<>|]{4,127})${LINE_END}`,
    (secret) => isJoinedHere(secret) && !/^[A-Z]?[a-z]+$/.test(secret),
  ),
  // `| Password | … |`, a row of names and values.
  simple(
    'password',
    [],
    `(?<=[|│┃] {0,40}[\\w.* \`-]{0,40})(?<!\\d)(?:${LONG_NAMES})[*\` ]{0,60}[|│┃] {0,4}\`?(?<secret>[^\\s|│┃\`"'\\\\]{5,128})(?=\`? {0,80}[|│┃])`,
    (secret) => !/^[\d.:-]+$|^[A-Za-z]?[a-z]+$/.test(secret) && (isJoinedHere(secret) || isPassword(secret)),
  ),
  // "A temporary password is generated for root@localhost: …", whatever signs it has.
  simple(
    'password',
    [],
    `(?:[tT]emporary|[iI]nitial|[gG]enerated|[dD]efault|[rR]andom|[nN]ew|[rR]oot|[aA]dmin)(?: [a-z]{2,10})? (?:${LONG_NAMES})[^\\r\\n:\\\\]{0,80}: (?<secret>[^\\s"'\`\\\\]{8,64})${LINE_END}`,
    (secret) =>
      !isTemplate(secret) &&
      isMixed(secret) &&
      /[;,(){}[\]<>|&%$#@!*^+=?~]/.test(secret) &&
      !/:\/\/|^[\w.]+\(|^\w+=|^[[({]/.test(secret),
  ),
  simple(
    'password',
    [],
    `${USER_STATEMENT}(?:PASSWORD|password|Password)(?: ?= ?| )N?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  simple(
    'password',
    [],
    `(?:SET PASSWORD|set password)[^\\r\\n;]{1,80}?= ?(?:PASSWORD|password)?\\(?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  simple(
    'password',
    [],
    `@[a-z_]{0,20}(?:password|passwd|pwd) ?= ?N?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `ENV DB_PASSWORD …` of a Dockerfile.
  simple(
    'password',
    [],
    `${NAME_START}(?:ENV|ARG|SetEnv) [A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASS|PW|PWD|PASSPHRASE) (?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
  // `username kim password …` of a switch, `nmcli dev wifi connect net password …`.
  simple(
    'password',
    [],
    `(?:user(?:name)? [\\w.-]{1,32}(?: privilege \\d{1,2})?|wifi connect [^\\s]{1,40}|${NAME_START}enable) password (?:\\d )?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    (secret) => isJoinedHere(secret) && (!/^[a-z]+$/.test(secret) || isSaidWord(secret)),
  ),
  simple(
    'password',
    [],
    `${NAME_START}(?:bindpw|rootpw|auth_pass|plain-text-password|insecure-password|rabbitmqctl change_password [\\w.-]{1,32})[ \\t]{1,12}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
  // What a client of FTP or POP says.
  simple(
    'password',
    [],
    `USER [\\w.@-]{1,64}${LINE}(?:[^\\r\\n\\\\]{0,80}${LINE})?[>< ]{0,4}PASS (?<secret>[^\\s"'\`\\\\]{4,128})(?=[\\s\\\\"']|$)`,
    (secret) => !isTemplate(secret),
  ),
  simple(
    'password',
    [],
    `${NAME_START}PASS (?<secret>${PHRASE})(?=${LINE}[< ]{0,4}2\\d\\d[ -])`,
    isWordPhrase,
  ),
  // `requirepass …`, also as an argument.
  simple(
    'password',
    [],
    `${NAME_START}(?:requirepass|REQUIREPASS) (?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isJoinedHere,
  ),
  // `# password field`, and what is typed into it.
  simple(
    'password',
    [],
    `[pP]ass(?:word|wort|wd)[^\\r\\n\\\\]{0,60}${LINE}[^\\r\\n\\\\]{0,40}(?:input text|xdotool type|ydotool type|keystroke|send-keys(?: -t \\S{1,30})?)(?: --delay \\d{1,4}| --)? (?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{4,64})(?=${QUOTE}|[\\s\\\\]|$)`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret) && !/^[CM]-|^(?:Enter|Tab|Return)$/.test(secret),
  ),
  // What `redis-cli config get requirepass` prints.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n))requirepass${LINE}(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  simple(
    'password',
    [],
    `--requirepass[ =](?:${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})|(?<secret>[^\\s"'\`\\\\<$-][^\\s"'\`\\\\<]{3,127}))`,
    (secret) => !isTemplate(secret),
  ),
]

/** Their signs are few elsewhere. */
export const certainSigns: readonly Detector[] = [
  // `wireless.radio0.key='…'`, `option key '…'` of OpenWrt.
  simple(
    'password',
    [
      `["'](?<=wireless\\.[\\w@[\\].-]{1,40}\\.(?:key|psk|password|sae_password)=\\\\{0,9}.)`,
      `["'](?<=option (?:key|psk|password|sae_password) \\\\{0,9}.)`,
    ],
    `(?:wireless\\.[\\w@[\\].-]{1,40}\\.|option )(?:key|psk|password|sae_password)[ =]\\\\{0,9}["'](?<secret>[^"'\`\\r\\n\\\\]{8,63})(?=\\\\{0,9}["'])`,
    (secret) => !isTemplate(secret),
  ),
  // A line of the secrets of pppd.
  simple(
    'password',
    '["\'](?<=\\*[ \\t]{1,8}\\\\{0,9}.)',
    `(?<=(?:^|\\\\n|\\n)(?:${QUOTE})?[\\w.@*-]{1,40}(?:${QUOTE})?[ \\t]{1,8}\\*[ \\t]{1,8})\\\\{0,9}["'](?<secret>[^"'\\r\\n\\\\]{4,64})(?=\\\\{0,9}["'][ \\t]{0,8}(?:\\*|${LINE}|$))`,
    (secret) => !isTemplate(secret),
  ),
  // The three digits of a card, in whatever a program writes of it.
  simple(
    'pin',
    `[vV](?=[cCvV]2?["'\`\\\\]{0,10} ?[:=] ?["'\`\\\\]{0,10}\\d{3})(?<=[cC].)`,
    `(?<![A-Za-z])[cC][vV][vVcC]2?(?:${QUOTE})? ?[:=] ?(?:${QUOTE})?(?<secret>\\d{3,4})(?![\\w.])`,
  ),
  // `btoa('kim:…')`, `Buffer.from("kim:…")`, `b64encode(b"kim:…")`.
  simple(
    'password',
    `\\((?<=(?:btoa|from|encode|encode64|byte|String).)(?=[bru]?["'\`\\\\]{1,4}[\\w.@-]{1,64}:)`,
    `(?:btoa|Buffer\\.from|b64encode|base64_encode|encode64|\\[\\]byte|encodeToString)\\([bru]?${QUOTE}[\\w.@-]{1,64}:(?<secret>(?:[^"'\`\\r\\n\\\\$]|\\$(?!\\{)){4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `kim@example.com:…`, as lists of stolen accounts and files of mail servers have them.
  simple(
    'password',
    '@(?=[\\w-]{1,40}(?:\\.[\\w-]{2,20}){1,3}:[^\\s:/"\'`\\\\]{8})',
    '(?<![\\w.+:/-])[\\w.+-]{1,64}@[\\w-]{1,40}(?:\\.[\\w-]{2,20}){1,3}:(?<secret>[^\\s:/"\'`\\\\,;<>()]{8,64})(?=[\\s:"\'`\\\\,;<]|$)',
    (secret) =>
      formOf(secret) === 'chosen' ||
      (formOf(secret) === 'weak' && /[*$!?#]$/.test(secret)) ||
      isWordPhrase(secret) ||
      isJoinedBare(secret) ||
      /^(?:[A-Z][a-z]{3,}){2,3}\d{2,4}[!#]?$/.test(secret),
  ),
  simple(
    'password',
    `["'](?<=[bByY] \\\\{0,9}.)(?<=(?:IDENTIFIED|identified|Identified)(?: (?:WITH|with) \\w{1,40})? (?:BY|by) \\\\{0,9}.)`,
    `(?:IDENTIFIED|identified|Identified)(?: (?:WITH|with) \\w{1,40})? (?:BY|by) \\\\{0,9}["'](?<secret>[^"'\\r\\n\\\\]{4,128})(?=\\\\{0,9}["'])`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  simple(
    'password',
    `["'](?<=sp_addlogin N?\\\\{0,9}.)`,
    `sp_addlogin N?${QUOTE}[^"'\`\\r\\n\\\\]{1,64}${QUOTE}, ?N?${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `stats auth name:…` of HAProxy.
  simple(
    'password',
    `:(?=[^\\s"'\`\\\\]{4})(?<=stats auth [\\w.@-]+.)`,
    'stats auth [\\w.@-]{1,40}:(?<secret>[^\\s"\'`\\\\]{4,128})',
    (secret) => !isTemplate(secret),
  ),
  // `CURLOPT_USERPWD, "name:…"`.
  simple(
    'password',
    `["'](?<=USERPWD, ?\\\\{0,9}.)(?=[\\w.@-]{1,64}:)`,
    `USERPWD, ?${QUOTE}[\\w.@-]{1,64}:(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // A line of a .pgpass with a plain word.
  simple(
    'password',
    ':(?=\\*:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{5})',
    '(?<![\\w.:/-])(?:[\\w.-]{0,79}[a-zA-Z][\\w.-]{0,79}|\\*|(?:\\d{1,3}\\.){3}\\d{1,3}):(?:\\d{4,5}|\\*):(?!\\d+:)[^\\s:"\'\\\\]{1,64}:[a-zA-Z_][^\\s:"\'\\\\]{0,64}:(?<secret>[^\\s:"\'\\\\]{5,128})(?=\\s|\\\\|["\'`]|$)',
    isJoinedHere,
  ),
]
