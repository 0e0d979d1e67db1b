import { isMixed, isScrambled, isTemplate } from './checks.ts'
import { isNoSentence } from './blocks.ts'
import { type Detector, simple } from './detector.ts'
import { isWordPhrase } from './passphrase.ts'
import { isCertain, isNoPassword, isSaidWord } from './plain-words.ts'
import { formOf } from './secret-words.ts'

/** Places where nothing but a password stands, so that plain words are one as well. */

const QUOTE = `\\\\{0,9}["'\`]`
const LINE = '(?:\\r?\\n|\\\\{1,9}r?\\\\{0,9}n)'
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

/** The anchors of the assignments serve them. */
export const certainAssignments: readonly Detector[] = [
  simple(
    'password',
    [],
    `(?:${SHORT_NAMES}|${LONG_NAMES}|${SECRETS})(?:${QUOTE})? {0,8}(?::=|=>|[:=]) {0,8}(?:${QUOTE})?(?<secret>${PHRASE})(?![\\w.(\\[/@:-])`,
    isPhraseHere,
  ),
  // `export ROOT_PW=…`, as a line of an environment.
  simple(
    'password',
    [],
    `(?<![\\w-])[A-Z][A-Z0-9_]{0,40}_(?:PASS|PWD|PW|PSK)=(?:${QUOTE})?(?<secret>[A-Za-z]{6,40})(?=[\\s"'\`\\\\]|$)`,
    isCertain,
  ),
  // `Server=db;User ID=sa;Password=…;`, `?user=app&password=…`, `host=db user=app password=…`.
  simple(
    'password',
    [],
    `(?<=[;&?] ?|(?:-F|-d|--form|--data(?:-urlencode|-raw)?)[ =]["'\\\\]{0,4}|\\s-[DP][\\w.-]{0,60})(?:${LONG_NAMES}|Pwd|PWD|pwd|Pass|pass)=(?<secret>[^\\s;&"'\`\\\\,(){}<>]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
    isCertain,
  ),
  simple(
    'password',
    [],
    `(?<=user(?:name)?=[^\\s=\\\\]{1,64}(?: |\\n|\\\\n)(?:[a-z_]{2,20}=[^\\s=]{1,64} ){0,4})(?:password|passwd|pass|pwd)=(?<secret>[^\\s;&"'\`\\\\,(){}<>]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
    isCertain,
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
    isCertain,
  ),
  // `Username: kim`, and in the next line `Password: …`.
  simple(
    'password',
    [],
    `${USER}[*_]{0,2} ?[:=][*_]{0,2} ?\`?${NO_TYPE}[\\w.@+-]{1,64}\`?(?:${LINE}|, ?| ?\\/ ?| )[ \\t*_>-]{0,12}(?:${LONG_NAMES}|[pP]ass|[pP]wd?|PW)[*_]{0,2} ?[:=][*_]{0,2} ?\`?(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[*\`,;]{0,3}(?:${LINE}|\\r|["'\\\\]|$))`,
    isCertain,
  ),
  // `MYSQL_PASSWORD: …` of a compose file.
  simple(
    'password',
    [],
    `(?<![\\w-])[A-Z][A-Z0-9_]{0,40}_(?:PASSWORD|PASSWD|PASS|PWD|PW): (?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})${LINE_END}`,
    isCertain,
  ),
  simple(
    'password',
    [],
    `stringData:(?:${LINE}[ \\t]{1,12}[\\w.-]{1,40}: ?[^\\r\\n\\\\]{0,120}){0,8}?${LINE}[ \\t]{1,12}[\\w.-]{0,30}(?:password|pass): (?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})${LINE_END}`,
    isCertain,
  ),
  // `--set auth.password=…`, `--from-literal=password=…`, `-var db_password=…`, `vault kv put path password=…`.
  simple(
    'password',
    [],
    `(?:--set(?:-string)?[ =]|--from-literal[ =]|-var[ =]|kv put [^\\r\\n\\\\]{1,80}? )(?:${QUOTE})?[\\w.-]{0,60}(?:[pP]assword|[pP]asswd|pass|pw)=(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[\\s"'\`\\\\,]|$)`,
    isCertain,
  ),
  simple(
    'password',
    [],
    `(?:ansible_(?:[a-z]{2,8}_)?pass(?:word)?|wpa_passphrase)(?:=|: )(?<secret>[^\\s"'\`\\\\,;(){}<>]{5,128})(?=[\\s"'\`\\\\]|$)`,
    isCertain,
  ),
  // `db_password = "…"`.
  simple(
    'password',
    [],
    `(?<![A-Za-z])(?:db|database|admin|root|smtp|mail|redis|mysql|postgres|pg|master|ftp|ssh|ldap|bind|svc|mqtt)_(?:password|passwd|pass|pwd|pw)(?:${QUOTE})? {0,8}[:=] {0,8}${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,128})(?=${QUOTE})`,
    isCertain,
  ),
  simple(
    'secret',
    [],
    `(?:session\\(\\{[^{}]{0,200}?secret: ?|secret_key ?= ?)${QUOTE}(?<secret>[a-zA-Z]{3,12}(?:[- ][a-zA-Z]{3,12}){1,6})(?=${QUOTE})`,
    (secret) => !/secret|your|change|key|env|replace/i.test(secret.replace('keyboard', '')),
  ),
  // `password = "silverpaddleriver"`, `pw: 'swordfish'`: one word, or several in one.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|(?:(?<=_)|(?<![A-Za-z]))(?:pass|pw|pwd|psk)|(?:COOKIE|JWT|SESSION|AUTH|APP|SIGNING|WEBHOOK)_SECRET)(?:${QUOTE})? {0,8}(?:[:=]|=>) {0,8}${QUOTE}(?<secret>[a-zA-Z]{5,40})(?=${QUOTE})`,
    isSaidWord,
  ),
  // `password: swordfish` as a line of a file, of a difference, or of what grep has found.
  simple(
    'password',
    [],
    `(?<=(?:^|\\\\n|\\n)(?:[\\w./-]{1,80}:(?:\\d{1,5}:)?)?[ \\t+-]{0,16}[\\w.-]{0,40})(?:${LONG_NAMES})(?:: {1,8}| ?= ?)(?<secret>[A-Za-z]{5,20})(?=[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`,
    isSaidWord,
  ),
  // What a tool takes from the environment.
  simple(
    'password',
    [],
    `(?<![\\w-])(?:REDISCLI_AUTH|MYSQL_PWD|SSHPASS|RSYNC_PASSWORD|PGPASSWORD|BORG_PASSPHRASE|RESTIC_PASSWORD)=(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\;&<>]{4,128})(?=[\\s"'\`\\\\;&]|$)`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // The passwords that Google makes for one program.
  simple(
    'password',
    [],
    `(?:${SHORT_NAMES}|${LONG_NAMES})(?:${QUOTE})? {0,8}(?:[:=]|=>) {0,8}${QUOTE}(?<secret>(?:[a-z]{4} ){3}[a-z]{4})(?=${QUOTE})`,
    isNoSentence,
  ),
  // `{user=app, password=swordfish, host=db}`.
  simple(
    'password',
    [],
    `(?<=\\{[^{}()\\r\\n]{0,120}[{, ])(?:${LONG_NAMES})=(?<secret>[A-Za-z]{5,20})(?=,|\\})`,
    isSaidWord,
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
    `(?<=(?:^|\\\\n|\\n)[ \\t]{0,8}[\\w.-]{0,30})(?:${LONG_NAMES}) {2,40}(?<secret>[^\\s"'\`\\\\<>|=]{5,128})${LINE_END}`,
    (secret) =>
      isCertain(secret) && (!/^[A-Za-z]+$/.test(secret) || isSaidWord(secret) || isScrambled(secret)),
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
    `@passwd ?= ?N?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `ENV DB_PASSWORD …` of a Dockerfile.
  simple(
    'password',
    [],
    `(?<![\\w-])(?:ENV|ARG|SetEnv) [A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASS|PW|PWD|PASSPHRASE) (?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isCertain,
  ),
  // `username kim password …` of a switch, `nmcli dev wifi connect net password …`.
  simple(
    'password',
    [],
    `(?:username [\\w.-]{1,32}(?: privilege \\d{1,2})?|wifi connect [^\\s]{1,40}) password (?:\\d )?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isCertain,
  ),
  simple(
    'password',
    [],
    `(?<![\\w-])(?:bindpw|rootpw|auth_pass|insecure-password|rabbitmqctl change_password [\\w.-]{1,32})[ \\t]{1,12}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isCertain,
  ),
  // What a client of FTP or POP says.
  simple(
    'password',
    [],
    `USER [\\w.@-]{1,64}${LINE}(?:[^\\r\\n\\\\]{0,80}${LINE})?[>< ]{0,4}PASS (?<secret>[^\\s"'\`\\\\]{4,128})(?=[\\s\\\\"']|$)`,
    (secret) => !isTemplate(secret),
  ),
  simple('password', [], `(?<![\\w-])PASS (?<secret>${PHRASE})(?=${LINE}[< ]{0,4}2\\d\\d[ -])`, isWordPhrase),
  // `requirepass …`, also as an argument.
  simple(
    'password',
    [],
    `(?<![\\w])(?:requirepass|REQUIREPASS) (?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
    isCertain,
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
  // `btoa('kim:…')`, `Buffer.from("kim:…")`, `b64encode(b"kim:…")`.
  simple(
    'password',
    `:(?<=(?:btoa|from|encode|encode64|byte|String)\\([bru]?["'\`\\\\]{1,4}[\\w.@-]{1,64}.)`,
    `(?:btoa|Buffer\\.from|b64encode|base64_encode|encode64|\\[\\]byte|encodeToString)\\([bru]?${QUOTE}[\\w.@-]{1,64}:(?<secret>(?:[^"'\`\\r\\n\\\\$]|\\$(?!\\{)){4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // `kim@example.com:…`, as lists of stolen accounts and files of mail servers have them.
  simple(
    'password',
    ':(?=[^\\s:/"\'`\\\\]{8})(?<=@[\\w-]{1,40}(?:\\.[\\w-]{2,20}){1,3}.)',
    '(?<![\\w.+:/-])[\\w.+-]{1,64}@[\\w-]{1,40}(?:\\.[\\w-]{2,20}){1,3}:(?<secret>[^\\s:/"\'`\\\\,;<>()]{8,64})(?=[\\s:"\'`\\\\,;<]|$)',
    (secret) =>
      formOf(secret) === 'chosen' ||
      (formOf(secret) === 'weak' && /[*$!?#]$/.test(secret)) ||
      isWordPhrase(secret) ||
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
    `:(?<=[\\w.@-].)(?=[^\\s"'\`\\\\]{4})(?<=(?:stats auth |USERPWD, ?\\\\{0,9}["'])[\\w.@-]{1,64}.)`,
    'stats auth [\\w.@-]{1,40}:(?<secret>[^\\s"\'`\\\\]{4,128})',
    (secret) => !isTemplate(secret),
  ),
  // `CURLOPT_USERPWD, "name:…"`.
  simple(
    'password',
    [],
    `USERPWD, ?${QUOTE}[\\w.@-]{1,64}:(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !isNoPassword(secret),
  ),
  // A line of a .pgpass with a plain word.
  simple(
    'password',
    ':(?=(?:\\d{4,5}|\\*):[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{5})',
    '(?<![\\w.:/-])(?:[\\w.-]{0,79}[a-zA-Z][\\w.-]{0,79}|\\*|(?:\\d{1,3}\\.){3}\\d{1,3}):(?:\\d{4,5}|\\*):(?!\\d+:)[^\\s:"\'\\\\]{1,64}:[a-zA-Z_][^\\s:"\'\\\\]{0,64}:(?<secret>[^\\s:"\'\\\\]{5,128})(?=\\s|\\\\|["\'`]|$)',
    isCertain,
  ),
  // A session as browsers list their cookies.
  simple(
    'cookie',
    `[vV](?=alue\\\\{0,9}" ?:)(?<=(?:sid|sess|session|sessionid|session_id|SESSID|SESSIONID)\\\\{0,9}", ?\\\\{0,9}".)`,
    `(?:sid|sess|session|sessionid|session_id|SESSID|SESSIONID)\\\\{0,9}", ?\\\\{0,9}"value\\\\{0,9}" ?: ?\\\\{0,9}"(?<secret>[\\w.%+/:=-]{16,2048})(?=\\\\{0,9}")`,
    (secret) =>
      /\d.*\d.*\d/.test(secret) && /[a-z]/i.test(secret) && !/^[0-9a-f]{8}-|^\d{4}-\d\d/.test(secret),
  ),
]
