import { isGenerated, isMixed, isPassword, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isNumberedPair } from './passphrase.ts'
import { isCertain, isNoPassword } from './plain-words.ts'
import { formOf } from './secret-words.ts'
import { LINE, QUOTE } from './pieces.ts'

/** What a command takes as a secret by its place alone, and what one prints besides. */

const VALUE = `(?:${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})|(?<secret>[^\\s"'\`\\\\|;&<>$/-][^\\s"'\`\\\\|;&<>]{3,127}))`

const isGiven = (secret: string): boolean => !isTemplate(secret) && !/^(?:[-/.~]|stdin$)/.test(secret)
/** Of a place that may be something else. */
const isChosen = (secret: string): boolean =>
  isNumberedPair(secret) || (isGiven(secret) && ['chosen', 'drawn', 'weak'].includes(formOf(secret) ?? ''))

const WORD = `(?:${QUOTE})?[^\\s"'\`\\\\]{1,64}(?:${QUOTE})?`
/** Behind these words comes the secret. */
const POSITIONS = [
  `wpa_passphrase ${WORD}`,
  `rabbitmqctl (?:[^\\r\\n]{1,40} )?(?:add_user|change_password) ${WORD}`,
  'pdftk [^\\r\\n]{0,200} (?:input|user|owner)_pw',
  `samba-tool user (?:create|add|setpassword) ${WORD}`,
  `b2 authorize-account ${WORD}`,
  `user-secrets set ${WORD}`,
  `virsh secret-set-value ${WORD}`,
  'reset-admin-password',
  '(?:create|put|update)-secret(?:-value)? [^\\r\\n]{0,160}?--secret-string',
  'keyvault secret set [^\\r\\n]{0,160}?--value',
  'put-parameter [^\\r\\n]{0,160}?(?:SecureString|[pP]assw|secret|token)[^\\r\\n]{0,80}?--value',
  `user:(?:password|reset-?password) ${WORD}`,
]
/** What tells of them. */
const POSITION_SIGNS = [
  '_(?=(?:passphrase|user|password|pw) )(?<=(?:wpa|add|change|input|user|owner).)',
  '-(?=(?:tool|account|secrets set|set-value|password) )(?<=(?:samba|authorize|user|secret|admin).)',
  ':(?=(?:password|reset-?password) )(?<=user.)',
  '-(?=-secret-string )',
  '-(?=-value )(?<=(?:secret set|put-parameter) [^\\r\\n]{0,240}.)',
]
const isPositioned = (secret: string): boolean =>
  isGiven(secret) && !isNoPassword(secret) && !/^(?:file|fileb):|^\{/.test(secret)

export const placeDetectors: readonly Detector[] = [
  simple('password', POSITION_SIGNS, `(?:${POSITIONS.join('|')}) ${VALUE}`, isPositioned),
  // `smbclient //fs/share … -U kim`.
  simple(
    'password',
    '\\/(?<=smbclient ["\'\\\\]{0,4}.)',
    `smbclient (?:${QUOTE})?\\/\\/[^\\s"'\`\\\\]{1,80}(?:${QUOTE})? ${VALUE}(?= [^\\r\\n]{0,40}-U)`,
    isPositioned,
  ),
  // `-Password …` of PowerShell.
  simple(
    'password',
    [],
    `(?<= )-(?:[A-Z][a-z]{1,16}){0,2}Pass(?:word|phrase) ${VALUE}`,
    (secret) => isPositioned(secret) && !/^[($@[]/.test(secret),
  ),
  // `/password:…`, and `/p …` of a tool that signs.
  simple('password', '\\/(?<=[ ].)(?=pass(?:word)?:)', `(?<= )\\/pass(?:word)?:${VALUE}`, isPositioned),
  simple('password', '\\/(?=p )', `signtool [^\\r\\n]{0,160} \\/p ${VALUE}`, isPositioned),
  // `kadmin -q "addprinc -pw … kim"`, `choco apikey -k …`; the dash of a command serves them.
  simple(
    'password',
    [],
    `(?:(?:addprinc|ank|cpw|change_password) (?:[^\\r\\n"]{0,60} )?-pw|(?:choco|nuget|dotnet nuget) (?:apikey|setapikey|push)[^\\r\\n]{0,120}? -k) ${VALUE}`,
    isPositioned,
  ),
  // `curl --data-urlencode "password=two words"`.
  simple(
    'password',
    '=(?<=(?:pass|password|passwd).)(?<=(?:-d|-F|--form|--data(?:-urlencode|-raw)?)[ =]["\'`\\\\]{1,10}[\\w.-]{0,30}.)',
    `(?:-d|-F|--form|--data(?:-urlencode|-raw)?)[ =]${QUOTE}[\\w.-]{0,20}(?:pass|password|passwd)=(?<secret>[^"'\`&\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    (secret) => isGiven(secret) && !isNoPassword(secret),
  ),
  // What a script tells FTP.
  simple(
    'password',
    '<(?<=ftp [^\\r\\n]{0,60}<.)',
    `ftp [^\\r\\n]{0,60}<<[^]{0,120}?${LINE}(?:quote )?(?:user|USER) [\\w.@-]{1,64} ${VALUE}`,
    isPositioned,
  ),
  // `register => kim:…@sip.example.org` of Asterisk.
  simple(
    'password',
    '>(?<=register =.)',
    'register => ?[\\w.+-]{1,40}:(?<secret>[^\\s:@"\'`\\\\]{4,64})(?=[:@])',
    isGiven,
  ),
  // `curl -u KEY:`, the key instead of a user.
  simple(
    'api-key',
    '-(?=u ["\'\\\\]{0,4}[\\w+/=.-]{16,200}:["\'\\s\\\\])',
    `(?<= )-u (?:${QUOTE})?(?<secret>[\\w+/=.-]{16,200})(?=:(?:["'\\s\\\\]|$))`,
    (secret) => isGenerated(secret) || /^[0-9a-f-]{32,64}$/.test(secret),
  ),
  // `schtasks … /ru name /rp …`.
  simple('password', '\\/(?=[rR][pP] )', `(?<= )\\/(?:rp|RP) ${VALUE}`, isGiven),
  // A player of a game tells the server: `/login …`, `/register … …`.
  simple(
    'password',
    '\\/(?=(?:login|register|changepassword|unregister) [^\\s/])',
    `(?:command: |> |\\] )\\/(?:login|register|changepassword|unregister) (?<secret>[^\\s"'\`\\\\<>/]{4,64}(?: [^\\s"'\`\\\\<>/]{4,64})?)(?=[\\s"'\`\\\\]|$)`,
    (secret) => secret.split(' ').every((word) => isCertain(word) || isPassword(word)),
  ),
  // `mc alias set lab https://s3.lab:9000 name …`.
  simple(
    'password',
    '\\/(?<=https?:.)(?<=(?:alias set|host add) [^\\s]{1,40} ["\'\\\\]{0,4}https?:.)',
    `(?:alias set|host add) [^\\s]{1,40} (?:${QUOTE})?https?:\\/\\/[^\\s"'\`\\\\]{1,120}(?:${QUOTE})? (?:${QUOTE})?[\\w.@-]{1,64}(?:${QUOTE})? ${VALUE}`,
    isGiven,
  ),
  // `login_as kim …`, a function of a script.
  simple(
    'password',
    '_(?<=(?:login|signin|auth|sign_in|log_in).)(?=(?:as|user|with)? ?["\'\\\\]{0,4}[\\w.@-]{2,40}["\'\\\\]{0,4} )',
    `(?<![\\w.])(?:login|signin|sign_in|log_in|auth)_(?:as|user|with) (?:${QUOTE})?[\\w.@-]{2,40}(?:${QUOTE})? ${VALUE}`,
    isChosen,
  ),
  // `a2="-U" a3="DOMAIN/name%…"`, as the kernel tells of a command, or a list of its arguments.
  simple(
    'password',
    [],
    `-U${QUOTE},? ?(?:a\\d{1,2}=)?${QUOTE}[\\w.@\\\\/-]{1,64}%(?<secret>[^"'\`\\r\\n\\\\]{4,128})(?=${QUOTE})`,
    isGiven,
  ),
  // `rootpw --plaintext …` of Kickstart.
  simple(
    'password',
    '-(?=-(?:plaintext|iscrypted) )',
    `(?:rootpw|sshpw)[^\\r\\n]{0,60} --(?:plaintext|iscrypted) ${VALUE}`,
    isGiven,
  ),
  // `op item get … --fields label=username,label=password --reveal`, and `name,…` in the next line.
  simple(
    'password',
    '-(?=-fields[ =])',
    `--fields[ =][^\\r\\n]{0,120}pass(?:word)?(?![\\w,])[^\\r\\n]{0,60}${LINE}(?:[^\\s,]{1,80},){0,3}(?<secret>[^\\s,"'\`\\\\]{5,128})(?=[\\r\\n\\\\"']|$)`,
    (secret) => isCertain(secret) || isNumberedPair(secret),
  ),
  // Of a gem server in the configuration of Bundler.
  simple(
    'password',
    '_(?<=BUNDLE.)(?=[A-Z0-9_]{3,80}(?:: |=))',
    `BUNDLE_[A-Z0-9_]{3,80}(?:: |=)(?:${QUOTE})?(?<secret>[\\w.-]{1,64}:[^\\s"'\`\\\\]{4,128})`,
    (secret) => isMixed(secret) && !/:\/\/|:\d{2,5}$/.test(secret),
  ),
  // `> GET sess:refresh:88`, and the value below.
  simple(
    'token',
    '>(?= (?:GET|HGET|get|hget) )',
    `> (?:GET|HGET|get|hget) [^\\r\\n]{0,80}?(?:sess|token|refresh|secret|auth|api[-_]?key|password)[^\\r\\n]{0,60}${LINE}${QUOTE}(?<secret>[^\\s"'\`\\\\]{8,512})(?=${QUOTE})`,
    (secret) => isGenerated(secret) || isPassword(secret),
  ),
]
