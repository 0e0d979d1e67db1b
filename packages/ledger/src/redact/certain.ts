import { isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isNameWord, isWordPair, isWordPhrase } from './passphrase.ts'

/** Places where nothing but a password stands, so that plain words are one as well. */

const QUOTE = `\\\\{0,9}["'\`]`
const LINE = '(?:\\r?\\n|\\\\{1,9}r?\\\\{0,9}n)'
const LINE_END = `(?=["'\`]{0,1}[ \\t]{0,8}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`

/** What is said there instead of a password, and passwords that everybody knows. */
const NO_PASSWORD =
  /^(?:pass(?:word|wd|phrase|code)?|pwd|secret|test(?:ing)?|change-?me|string|str|text|varchar|char|bool(?:ean)?|true|false|null|nil|none|empty|undefined|any|unknown|required|optional|missing|invalid|wrong|incorrect|hidden|masked|redacted|removed|omitted|example|sample|placeholder|admin|root|guest|user|postgres|yes|no|on|off|directive|expire|never|default|prompt|stdin|error|warning|fatal|failed|denied|forbidden|usage|not|the|and|see|here|plain(?:text)?|raw|hashed|encrypted|digest|typed|given|entered|generated|cancell?ed|kennwort|wachtwoord|contraseña|senha|heslo|hasło|motdepasse|anmelden|x+|\.+|\*+)$/i

/** A word or some of them, joined as nobody writes a path, a name of a file, a member or a call. */
export const isCertain = (text: string): boolean =>
  text.length >= 5 &&
  !isTemplate(text) &&
  !NO_PASSWORD.test(text) &&
  !/[(){}[\]<>$,;\s]|^[-/.~@:%&!=]|:\/\/|^\d+$|^[A-Z_]+$|\w\.\w{1,4}$/.test(text) &&
  !/pass|secret|vault|env/i.test(text) &&
  (/[-_.]/.test(text) && /^[a-z._-]+$/i.test(text)
    ? isWordPhrase(text) || isWordPair(text)
    : !isNameWord(text))

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
    `(?<=[;&?] ?)(?:${LONG_NAMES}|Pwd|PWD|pwd|Pass|pass)=(?<secret>[^\\s;&"'\`\\\\,(){}<>]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
    isCertain,
  ),
  simple(
    'password',
    [],
    `(?<=user(?:name)?=[^\\s=\\\\]{1,64}(?: |\\n|\\\\n)(?:[a-z_]{2,20}=[^\\s=]{1,64} ){0,4})password=(?<secret>[^\\s;&"'\`\\\\,(){}<>]{5,128})(?=[;&"'\`\\\\\\s]|$)`,
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
  // `password = "silverpaddleriver"`: several words in one.
  simple(
    'password',
    [],
    `(?:${LONG_NAMES}|(?<=_)(?:pass|pw|pwd))(?:${QUOTE})? {0,8}(?:${QUOTE})?[:=] {0,8}${QUOTE}(?<secret>[a-z]{14,40})(?=${QUOTE})`,
    (secret) =>
      isCertain(secret) && !/(?:requir|invalid|incorrect|current|confirm|auth|valid|encrypt)/.test(secret),
  ),
]

const USER_STATEMENT =
  '(?:CREATE|ALTER|create|alter|Create|Alter) (?:USER|ROLE|LOGIN|user|role|login|User|Role|Login) [^\\r\\n;]{1,160}?'

/** Told by the word password. */
export const certainPasswords: readonly Detector[] = [
  simple(
    'password',
    [],
    `${USER_STATEMENT}(?:PASSWORD|password|Password)(?: ?= ?| )N?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
  ),
  simple(
    'password',
    [],
    `(?:SET PASSWORD|set password)[^\\r\\n;]{1,80}?= ?(?:PASSWORD|password)?\\(?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
  ),
  simple(
    'password',
    [],
    `@passwd ?= ?N?\\\\{0,3}'(?<secret>[^'\\r\\n\\\\]{4,128})(?=\\\\{0,3}')`,
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
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
    `(?<![\\w-])(?:bindpw|rootpw|auth_pass|rabbitmqctl change_password [\\w.-]{1,32})[ \\t]{1,12}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})${LINE_END}`,
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
    `--requirepass ${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret),
  ),
]

/** Their signs are few elsewhere. */
export const certainSigns: readonly Detector[] = [
  simple(
    'password',
    `["'](?<=[bByY] \\\\{0,9}.)(?<=(?:IDENTIFIED|identified|Identified)(?: (?:WITH|with) \\w{1,40})? (?:BY|by) \\\\{0,9}.)`,
    `(?:IDENTIFIED|identified|Identified)(?: (?:WITH|with) \\w{1,40})? (?:BY|by) \\\\{0,9}["'](?<secret>[^"'\\r\\n\\\\]{4,128})(?=\\\\{0,9}["'])`,
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
  ),
  simple(
    'password',
    `["'](?<=sp_addlogin N?\\\\{0,9}.)`,
    `sp_addlogin N?${QUOTE}[^"'\`\\r\\n\\\\]{1,64}${QUOTE}, ?N?${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
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
    (secret) => !isTemplate(secret) && !NO_PASSWORD.test(secret),
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

/** Commands that print nothing but a password. */
const PRINTS = [
  'vault (?:kv get|read) [^\\r\\n]{0,40}?-field[= ][a-z_]{0,20}(?:pass|pw|secret|token|key|value)',
  'kubectl [^\\r\\n]{0,60}get secrets? [^\\r\\n]{0,160}base64 (?:-d|-D|--decode)',
  'pass show',
  'security find-(?:generic|internet)-password [^\\r\\n]{0,120}-[a-z]{0,3}w',
  'gcloud secrets versions access',
  'secretsmanager get-secret-value [^\\r\\n]{0,160}--output text',
  'keyvault secret show [^\\r\\n]{0,160}-o(?:utput)? tsv',
  'terraform output -raw [a-z_]{0,40}(?:pass|pw|secret|token)',
  'op read',
  'cat \\/run\\/secrets\\/[\\w.-]{0,40}(?:pass|pw)',
].join('|')

export const certainOutput: Detector = simple(
  'secret',
  [],
  `(?<![(\`"])(?:${PRINTS})[^\\r\\n]{0,200}${LINE}(?<secret>[^\\s"'\`\\\\<>]{5,128})(?=[ ]{0,3}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`,
  (secret) => isCertain(secret) && !/:$|^[\w.]+=|^#/.test(secret),
)
