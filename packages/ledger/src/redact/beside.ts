import {
  hasDenseRun,
  isGenerated,
  isLabel,
  isMixed,
  isPassword,
  isRandom,
  isReference,
  isTemplate,
  isVaried,
  looksAssigned,
} from './checks.ts'
import { isJoinedHere } from './joined-words.ts'
import { type Detector, simple } from './detector.ts'
import { isNoPassword } from './plain-words.ts'
import { HARD_KEY, KEY_ENDING, keyStrength, kindOfKey, SOFT_KEY } from './keys.ts'
import { QUOTE } from './pieces.ts'

/** A name and its value with something between them: the word "value", a line end, a quotation mark. */

const KEY = `(?<key>${HARD_KEY}|${SOFT_KEY})`
const NAME = `(?:${HARD_KEY}|${SOFT_KEY})`
const LINES = '(?:\\\\{1,9}[nrt]|[\\s>+|])'
const kind = (match: RegExpExecArray): string => kindOfKey(match.groups?.key ?? '')

const isOfKey = (secret: string, match: RegExpExecArray): boolean => {
  const end = match.index + (match.groups?.key?.length ?? 0)
  const name = /[\w-]*$/.exec(match.input.slice(Math.max(0, end - 64), end))?.[0] ?? ''
  const strength = keyStrength(name)
  if (strength === 'hard')
    return (
      !isTemplate(secret) &&
      (looksAssigned(secret) ||
        isPassword(secret) ||
        (kindOfKey(name) === 'password' && isJoinedHere(secret)))
    )
  return strength === 'soft' && isGenerated(secret)
}

/** The value of what is called so, in an object: all but a label or a name of it. */
const isValue = (secret: string, match: RegExpExecArray): boolean =>
  isOfKey(secret, match) ||
  (keyStrength(match.groups?.key ?? '') === 'hard' &&
    !isTemplate(secret) &&
    !isLabel(secret) &&
    !isReference(secret) &&
    isJoinedHere(secret))

const BESIDE = `(?:${QUOTE})?(?: {0,2},)?(?: {1,3}|${LINES}{1,40}|(?<=,))(?:${QUOTE})?`

/** Other members of the object between the two. */
const SPACE = '(?:\\s|\\\\{1,9}[nrt])'
const MEMBER = `${SPACE}{0,40}${QUOTE}[\\w-]{1,24}${QUOTE} {0,2}: {0,2}(?:${QUOTE}[^"'\`\\r\\n\\\\]{0,80}${QUOTE}|true|false|null|\\d{1,12}),`
const APART = `${QUOTE}(?:,| {0,2}: {0,2}\\{)(?:${MEMBER}){0,4}${SPACE}{0,40}${QUOTE}`

const DECLARED = `(?:sensitive${QUOTE} {0,2}: {0,2}true|[tT]ype${QUOTE} {0,2}: {0,2}${QUOTE}(?:SecureString|CONCEALED)${QUOTE})`
const isDeclared = (secret: string): boolean =>
  !isTemplate(secret) && !isLabel(secret) && !isReference(secret)

export const besideDetectors: readonly Detector[] = [
  // `#define WIFI_PASSWORD "…"`.
  simple(
    kind,
    `["'](?<=#define[ \\t]{1,4}\\w{1,60}[ \\t]{1,40}.)`,
    `#define[ \\t]{1,4}\\w{0,40}(?:${KEY}|_(?:PASS|PWD|PW|PSK))[ \\t]{1,40}["'](?<secret>[^"'\\r\\n\\\\]{5,128})(?=["'])`,
    (secret, match) =>
      !isTemplate(secret) &&
      !isNoPassword(secret) &&
      (keyStrength(match.groups?.key ?? 'password') === 'hard' || isGenerated(secret)),
  ),
  // `"Name": "/prod/db/password", "Type": "SecureString", "Value": "…"`, `"db_password": { "sensitive": true, "value": "…" }`.
  simple(
    kind,
    `[vV](?=al(?:ue)?\\\\{0,9}["'\`] {0,2}:)(?<=[,{]${SPACE}{0,40}${QUOTE}[A-Za-z]{0,16}.)(?<=${NAME}${APART}[A-Za-z]{0,16}.)`,
    `${KEY}${APART}[A-Za-z]{0,16}?[vV]al(?:ue)?${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,4096})(?=${QUOTE})`,
    isValue,
  ),
  // `name: DB_PASSWORD` and in the next line `value: …`; `<add key="password" value="…" />`.
  simple(
    kind,
    `[vV](?=alue\\\\{0,9}["'\`]? {0,2}[:=])(?<=${NAME}${BESIDE}.)`,
    `${KEY}${BESIDE}[vV]alue(?:${QUOTE})? {0,2}[:=] {0,2}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\<>]{4,4096})`,
    isOfKey,
  ),
  // The same with the short names of an environment: `SMTP_PASS`.
  simple(
    'password',
    `[vV](?=alue\\\\{0,9}["'\`]? {0,2}[:=])(?<=_(?:PASS|PWD|PW|PSK)${BESIDE}.)`,
    `_(?:PASS|PWD|PW|PSK)${BESIDE}[vV]alue(?:${QUOTE})? {0,2}[:=] {0,2}(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\<>]{4,512})`,
    (secret) => !isTemplate(secret) && (isPassword(secret) || isJoinedHere(secret)),
  ),
  // The program says that the value is a secret: `"sensitive": true, "value": "…"`, in either order.
  simple(
    'secret',
    [
      `[vV](?=al(?:ue)?\\\\{0,9}["'\`] {0,2}:)(?<=${DECLARED},(?:${MEMBER}){0,3}${SPACE}{0,40}${QUOTE}.)`,
      `:(?<=(?:sensitive|[tT]ype)\\\\{0,9}["'\`] {0,2}.)(?= {0,2}(?:true|\\\\{0,9}["'\`](?:SecureString|CONCEALED)))`,
    ],
    `${DECLARED},(?:${MEMBER}){0,3}${SPACE}{0,40}${QUOTE}[vV]alue${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,4096})(?=${QUOTE})`,
    isDeclared,
  ),
  simple(
    'secret',
    [],
    `(?<=${QUOTE})[vV]alue${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,4096})(?=${QUOTE},(?:${MEMBER}){0,3}${SPACE}{0,40}${QUOTE}${DECLARED})`,
    isDeclared,
  ),
  // `awsSecretAccessKey "…" was revoked`.
  simple(
    kind,
    `["'\`](?<= \\\\{0,9}.)(?<=${KEY_ENDING} {1,2}\\\\{0,9}.)(?<=${NAME} {1,2}\\\\{0,9}.)`,
    `${KEY} {1,2}${QUOTE}(?<secret>[^\\s"'\`\\\\]{8,4096})(?=${QUOTE})`,
    isOfKey,
  ),
  // "please use this client secret for the demo:", and then the value in a line of its own.
  simple(
    'secret',
    `\`(?<=:${LINES}{1,12}.)(?=[^\\s\`]{8})`,
    `(?:[pP]ass(?:word|wort|phrase|code)|[sS]ecret|[tT]oken|[kK]ey|[cC]redentials?)(?: [^\\s:\`]{1,24}){0,6}:${LINES}{1,12}\`(?<secret>[^\\s\`]{8,4096})(?=\`)`,
    (secret) =>
      !isTemplate(secret) &&
      (looksAssigned(secret) || isPassword(secret)) &&
      !/[(){}]|\\.\\w{1,4}$/.test(secret),
  ),
  // `name:password@tcp(host)`, and an address without its scheme.
  simple(
    'url-password',
    '@(?=tcp|udp|unix|\\(|[\\w.-]{1,80}:\\d{2,5}[/"\'`\\s\\\\])(?<=:[^\\s"\'`@:/]{3,64}.)',
    '(?<![\\w./:@-])[\\w.-]{1,40}:(?<secret>[^\\s"\'`@:/]{3,64})(?=@(?:(?:tcp|udp|unix)?\\(|[\\w.-]{1,80}:\\d{2,5}[/"\'`\\s\\\\]))',
    (secret) => !isTemplate(secret) && !/^\(.*\)$/.test(secret),
  ),
  // A line of a .pgpass: host, port, database, user, password.
  simple(
    'password',
    ':(?=\\d{2,5}:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{4})',
    '(?<![\\w.:/-])(?=[\\d.-]*[a-zA-Z*])[\\w.*-]{1,80}:\\d{2,5}:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{1,64}:(?<secret>[^\\s:"\'\\\\]{4,128})(?!:)',
    isPassword,
  ),
  // The token instead of the user of a URL.
  simple(
    'url-password',
    ':(?=\\/\\/[\\w-]{20,256}@)',
    '(?<=:\\/\\/)[\\w-]{20,256}(?=@[A-Za-z0-9_.-])',
    (secret) => isMixed(secret) && (hasDenseRun(secret) || /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/.test(secret)),
  ),
  // `bundle config gems.example.org name:password`.
  simple(
    'password',
    ':(?=[^\\s/:]{6})(?<= [\\w.-]+.)(?<=bundle config (?:[\\w.-]{1,80} ){1,4}[\\w.-]{1,64}.)',
    'bundle config (?:set )?(?:--\\w{1,12} ){0,2}[\\w.-]{3,80} (?<secret>[\\w.-]{1,64}:[^\\s"\'`\\\\/:]{6,128})',
    (secret) => isMixed(secret) || isJoinedHere(secret.replace(/^[^:]*:/, '')),
  ),
  // "I have set `POSTGRES_PASSWORD` to `…`", in quotation marks or in none of them.
  simple(
    kind,
    `["'\`](?<=(?:to|is|as|was|auf|value|zu|à|a) \\\\{0,9}.)(?<=${KEY_ENDING}["'\`*\\\\]{0,9} (?:(?:is|was|has been) )?(?:now )?(?:set )?(?:to|is|as|was|auf|value|zu|à|a) \\\\{0,9}.)`,
    `${KEY}["'\`*\\\\]{0,9} (?:(?:is|was|has been) )?(?:now )?(?:set )?(?:to|is|as|was|auf|value|zu|à|a) ${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,4096})(?=${QUOTE})`,
    isOfKey,
  ),
  // `getenv("DB_PASSWORD") ?? "…"`.
  simple(
    kind,
    `["'\`](?<=\\?\\? {0,2}\\\\{0,9}.)`,
    `${KEY}["'\`\\\\)\\]]{0,9} {0,2}\\?\\? {0,2}${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,512})(?=${QUOTE})`,
    isOfKey,
  ),
  // `variable "db_password" { default = "…" }`.
  simple(
    kind,
    `=(?<=efault["'\`\\\\]{0,9} {1,8}.)`,
    `${KEY}${QUOTE} \\{[^{}]{0,400}?default {1,12}= {0,3}${QUOTE}(?<secret>[^\\s"'\`\\\\]{5,512})(?=${QUOTE})`,
    isOfKey,
  ),
  // `203.0.113.1 : PSK "…"`, `kim : EAP "…"`.
  simple(
    'password',
    '["\'`](?<=(?:PSK|EAP|XAUTH|NTLM) \\\\{0,9}.)',
    `(?<![A-Za-z])(?:PSK|(?<=: )(?:EAP|XAUTH|NTLM)) ${QUOTE}(?<secret>[^"'\`\\\\\\r\\n]{6,256})(?=${QUOTE})`,
    (secret) => !isTemplate(secret),
  ),
  // What a webhook or a redirect carries.
  simple(
    'url-secret',
    '=(?<=[?&](?:code|key|auth|ticket|sig|signature|hash|st|appid|appkey|ak|sk|authkey|auth_key|sign|secret|apikey|api-key|t|tk|hmac|oobCode|invite|magic|otp|assertion|sid|s|p)=)(?=[\\w.~%+/-]{16})',
    '(?<=[?&](?:code|key|auth|ticket|sig|signature|hash|st|appid|appkey|ak|sk|authkey|auth_key|sign|secret|apikey|api-key|t|tk|hmac|oobCode|invite|magic|otp|assertion|sid|s|p)=)[\\w.~%+/-]{16,2048}',
    (secret, { input, index }) =>
      isVaried(secret) &&
      (hasDenseRun(secret) ||
        (/^[\w-]+$/.test(secret) && isRandom(secret)) ||
        /[?&](?:key|secret|apikey|api-key|auth|authkey|auth_key|appkey)=$/.test(
          input.slice(Math.max(0, index - 12), index),
        )),
  ),
  // A short one under a name that says it all.
  simple(
    'url-secret',
    '=(?<=[?&](?:token|api_?key|apiKey|access_?token|secret|auth_?token)=)(?=[\\w-]{10})',
    '(?<=[?&](?:token|api_?key|apiKey|access_?token|secret|auth_?token)=)[\\w-]{10,64}',
    (secret) =>
      isMixed(secret) &&
      (!/^[a-z]+(?:[-_][a-z0-9]+)*$/i.test(secret.replace(/\d/g, '')) ||
        /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d[A-Za-z]+\d)[A-Za-z0-9]+$/.test(secret)),
  ),
  simple(
    'cookie',
    '=(?<=[DHNdehnst0].)(?=[\\w.%+/:-]{20})(?<=(?:connect\\.sid|SESSID|SESSIONID|SessionId|session|sessionid|session_id|_sess|[tT]oken|ASPXAUTH|Cookies|csrftoken|TOKEN|sid|auth|li_at|ct0|PSID|clearance).)',
    '(?<=(?:(?<![\\w.-])|(?<=\\\\[bfnrt]))(?:connect\\.sid|PHPSESSID|JSESSIONID|ASP\\.NET_SessionId|[\\w.-]{1,40}[_.-]sess(?:ion)?|session|sessionid|remember_token|\\.ASPXAUTH|\\.AspNetCore\\.[\\w.]{1,40}|__(?:Secure|Host)-[\\w.-]{1,40}|csrftoken|XSRF-TOKEN|sid|auth)=)[\\w.%+/:=-]{20,2048}',
    (secret, { input, index }) =>
      isVaried(secret) &&
      hasDenseRun(secret) &&
      (!/^[0-9a-fA-F-]+$/.test(secret) ||
        /(?:SESSID|SESSIONID|SessionId)=$/.test(input.slice(Math.max(0, index - 20), index))),
  ),
  // What a mail server keeps as it is.
  simple(
    'password',
    '\\{(?=PLAIN\\}|CLEARTEXT\\}|CLEAR\\})',
    '\\{(?:PLAIN|CLEARTEXT|CLEAR)\\}(?<secret>[^\\s:"\'`\\\\]{4,128})',
  ),
  simple('password-hash', '\\{(?=S?SHA)', '\\{S?SHA(?:256|512)?\\}[A-Za-z0-9+/]{20,200}={0,2}', isVaried),
]
