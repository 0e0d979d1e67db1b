import { hasDenseRun, isGenerated, isMixed, isPassword, isTemplate, isVaried } from './checks.ts'
import { isJoinedBare, isJoinedHere, isJoinedInQuotes } from './joined-words.ts'
import { isCertain, isSaidWord } from './plain-words.ts'
import { type Detector, NAME_START, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { isWordPhrase } from './passphrase.ts'
import { formOf } from './secret-words.ts'

/** Secrets among the arguments of commands and calls, where a place and no name says what they are. */

const QUOTE = `\\\\{0,3}["'\`]`
/** In quotation marks anything, else one word. */
const VALUE = `(?:${QUOTE}(?<secret>[^"'\`\\r\\n\\\\]{3,128})(?=\\\\{0,3}["'\`])|(?<secret>[^\\s"'\`\\\\|;&<>-][^\\s"'\`\\\\|;&<>]{2,127}))`
/** The rest of the command before the argument. */
const ARGUMENTS = '(?: [^\\s|;&](?:[^\\r\\n|;&\\\\]|\\\\(?![nr])){0,240}?)??'

/** By the argument: in `mysql` the password follows at once, in others behind a space. */
const TOOLS: readonly (readonly [argument: string, tools: string])[] = [
  ['-p', 'mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mariadb|mariadb-dump|7z|7za|rar|unrar|sshpass'],
  [
    '-p ',
    'rdesktop|airflow users create|sshpass|mcrcon|rcon|rcon-cli|security (?:unlock|create)-keychain|elasticsearch-users useradd|mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|docker login|podman login|buildah login|skopeo login|helm registry login|az login|cqlsh|psexec|winrs|rabbitmqadmin|doveadm pw|xcrun|altool|notarytool|kinit|mosquitto_passwd -b|useradd|usermod|winexe|ncrack|hydra|medusa|pg_dumpall|oc login|argocd login|cf login|cf auth|surreal|impacket-\\w+|evil-winrm|crackmapexec|nxc|snowsql|esxcli|twine|ovftool|govc|xe|cypher-shell|dotnet nuget [a-z]{3,8} source|nuget sources add',
  ],
  ['-a ', 'redis-cli|valkey-cli|redis-benchmark|memtier_benchmark|keydb-cli'],
  [
    '-w ',
    'security add-generic-password|security add-internet-password|ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd',
  ],
  [
    '-P ',
    'cbc|cbc-\\w+|cbq|sqlcmd|bcp|osql|tsql|fisql|mosquitto_pub|mosquitto_sub|zip|unzip|ipmitool|ssh-keygen',
  ],
  ['-N ', 'ssh-keygen'],
  ['-(?:k|K|pass) ', 'openssl'],
  ['-(?:t|-token|T) ', 'influx|codecov\\S{0,40}|cloudflared|linode-cli|vault|argocd|rasa|ngrok|netlify'],
  ['-pw ', 'plink|pscp|psftp|putty|vncviewer'],
  ['-b ', 'oathtool'],
  ['-(?:storepass|keypass|srcstorepass|deststorepass) ', 'keytool|jarsigner'],
  ['-pass(?:in|out)? (?:pass:|\\\\{0,3}["\']pass:)', 'openssl'],
]

const isArgument = (secret: string): boolean =>
  !isTemplate(secret) &&
  !/^(?:[-/.]|pass(?:word|wd)?$|secret$|x{3,}$|stdin$|true$|false$|string$|str$|text$|value$|prompt$)/i.test(
    secret,
  )

const isSpoken = (secret: string): boolean => isArgument(secret) && isPassword(secret)

/** The user and the password, one behind the other. */
const LOGINS =
  'username_pw_set|PlainCredentials|auth|[aA]uthenticate|[lL]ogin|[lL]og_in|[sS]ign[iI]n|[bB]asic_?[aA]uth|HTTPBasicAuth|HTTPDigestAuth|[sS]etBasicAuth|(?:set|with|add)?[cC]redentials?|auth\\.basic|simple_bind_s|bind_s|ldap_bind|NetworkCredential|UsernamePasswordCredentials|PasswordAuthentication|PlainAuth|[wW]i[fF]i\\.begin|[sS]ignUp|(?:signIn|createUser)With(?:EmailAnd)?Password|changeUserPassword|basic|[sS]cram[\\w.]{0,24}|SCRAM[\\w.]{0,24}|[pP]lainAuthProvider|PasswordAuthenticator|UserPassword|[nN]tlm|NTLM|[nN]tlmAuth|HttpNtlmAuth|withBasicAuth|userinfo|UserInfo'

const toolDetectors = TOOLS.map(([argument, tools], index) =>
  simple(
    argument === '-b ' ? 'totp-seed' : 'password',
    // The dash of an argument; which one it is, the tools tell.
    index === 0
      ? [
          '-(?<=[ ].)(?=p[^\\s]|[pawPNbktTKcAX] |pw |storepass|keypass|srcst|destst|pass|(?:[A-Z][a-z]{1,16}){0,2}Pass(?:word|phrase) )',
        ]
      : [],
    `${NAME_START}(?:${tools})${ARGUMENTS} ${argument}${VALUE}`,
    argument.startsWith('-(?:t') ? isGenerated : isArgument,
  ),
)

export const commandDetectors: readonly Detector[] = [
  ...toolDetectors,
  // `["mysql", "-u", "root", "-p…"]`.
  simple(
    'password',
    '-(?<=["\'].)(?=p[^"\'\\s]|U\\\\{0,9}["\']|-[\\w.-]{0,40}(?:pass|pw)|[pPawu]\\\\{0,3}["\'], {0,2})',
    '["\'](?:mysql|mysqldump|mysqladmin|mariadb|sshpass|7z)\\\\{0,3}["\'][^\\]\\r\\n]{0,160}["\']-p(?<secret>[^"\'\\r\\n\\\\]{4,128})(?=\\\\{0,3}["\'])',
    isArgument,
  ),
  // `["--password", "…"]`, `["sshpass", "-p", "…"]`, `["curl", "-u", "kim:…"]`.
  simple(
    'password',
    [],
    `["']--[\\w.-]{0,30}(?:password|passwd|passphrase|pass)\\\\{0,3}["'], {0,2}\\\\{0,3}["'](?<secret>[^"'\\r\\n\\\\]{4,128})(?=\\\\{0,3}["'])`,
    (secret) => isArgument(secret) && !secret.startsWith('--'),
  ),
  simple(
    'password',
    [],
    `["'](?:sshpass|mongosh|mongodump|mongorestore|redis-cli|ldapsearch|sqlcmd|zip|unzip|docker|psexec|mosquitto_pub|mosquitto_sub)\\\\{0,3}["'][^\\]\\r\\n]{0,160}["']-[pPaw]\\\\{0,3}["'], {0,2}\\\\{0,3}["'](?<secret>[^"'\\r\\n\\\\]{4,128})(?=\\\\{0,3}["'])`,
    (secret) => isArgument(secret) && !/^\d{1,5}(?::|$)/.test(secret),
  ),
  simple(
    'password',
    [],
    `["']curl\\\\{0,3}["'][^\\]\\r\\n]{0,160}["']-u\\\\{0,3}["'], {0,2}\\\\{0,3}["'][\\w.@-]{1,64}:(?<secret>[^"'\\r\\n\\\\]{4,128})(?=\\\\{0,3}["'])`,
    isArgument,
  ),
  // What a command reads, said in its line.
  simple(
    'password',
    '<(?<=<<.)',
    `(?:sudo -S|kinit|cryptsetup|docker login|podman login|smbpasswd|saslpasswd2|passwd|gpg|openssl|env add|secret put|secret set|su )(?: [^\\r\\n<|]{0,120}?)? ?<<< ?${VALUE}`,
    isArgument,
  ),
  simple(
    'password',
    '-(?<=pass(?:word|phrase)?.)(?=(?:command|file)[ =]["\'`<(\\\\]{0,6}echo )',
    `pass(?:word|phrase)?-(?:command|file)[ =]["'\`<(\\\\]{0,6}echo (?:-n )?${VALUE}`,
    (secret) => isArgument(secret) && secret.length > 3,
  ),
  // `gh secret set API_KEY -b …`, `poetry config pypi-token.pypi …`.
  simple('secret', '-(?=b |-body[ =])', `secrets? set [\\w.-]{2,60} (?:-b|--body)[ =]${VALUE}`, isArgument),
  simple(
    'token',
    ['-(?<=pypi.)(?=token\\.)', '-(?<=github.)(?=oauth\\.)', '-(?<=gitlab.)(?=(?:token|oauth)\\.)'],
    `(?:pypi-token|github-oauth|gitlab-token|gitlab-oauth)\\.[\\w.-]{2,60} ${VALUE}`,
    isArgument,
  ),
  simple('pin', '-(?=-otp[ =]\\d)', '(?<=--otp[ =])\\d{6,8}(?!\\w)'),
  // Several in one command: `snmpget -A … -X …`.
  simple('password', [], `(?<=snmp[a-z]{3,12} [^\\r\\n|;&]{0,200}-[cAX] )${VALUE}`, isArgument),
  // `--password x`, `--http-passwd=x`.
  simple(
    'password',
    '-(?:(?<![\\w-].)|(?<=\\\\[bfnrt].))(?=-[\\w.-]{0,40}?(?:pass|pw|Pass))',
    `${NAME_START}--(?:[a-zA-Z0-9]{1,16}[-._]){0,3}(?:[a-z]{1,12}?(?<!by|com|sur|first|multi|second))?(?:[pP]assword|passwd|passphrase|pass|pwd|pw)[ =]${VALUE}`,
    (secret) =>
      isArgument(secret) &&
      (secret.length > 5 || /\d/.test(secret)) &&
      !/^--|[(){}]|^[A-Z_]+\]?$/.test(secret),
  ),
  // `curl -u name:password`, `lftp -u name,password`, `http -a name:password`, `smbclient -U name%password`.
  simple(
    'password',
    '-(?<=[ -].)(?=(?:[a-zA-Z]{0,5}[uaU] |u|proxy-user |-(?:auth|user)[ =])["\'`\\\\]{0,4}[\\w.@\\\\/-]{1,64}[:,%])',
    `${NAME_START}(?:curl|etcdctl|wget|lftp|https?|xh|ncftp\\w*|smbclient|rpcclient|smbmap|net rpc)${ARGUMENTS} (?:-[a-zA-Z]{0,5}[uaU] |-u|--proxy-user |--(?:auth|user)[ =])(?:${QUOTE})?[\\w.@\\\\/-]{1,64}[:,%](?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{3,128})`,
    (secret) => isArgument(secret) && !/^\d{1,5}$/.test(secret),
  ),
  // `net use Z: \\host\share password /user:name`.
  simple(
    'password',
    '\\/(?=[uU](?:ser)?:)',
    `net use (?:[^\\r\\n]{0,120}?\\/(?:user|USER):[^\\s]{1,64} (?!\\/)${VALUE}|[^\\s]{1,40} [^\\s]{1,80} (?<secret>[^\\s"'/\\\\][^\\s"'\\\\]{3,64})(?= \\/(?:user|USER):))`,
    isArgument,
  ),
  simple(
    'password',
    '\\/(?=p(?:ass(?:word)?)?:)',
    `(?:freerdp|xfreerdp|wfreerdp|mstsc|cmdkey)[^\\r\\n]{0,200}? \\/p(?:ass(?:word)?)?:${VALUE}`,
    isArgument,
  ),
  // `echo … | sudo -S`, `echo … | docker login --password-stdin`, `echo name:… | chpasswd`.
  simple(
    'password',
    '\\|(?= {0,2}(?:sudo -S|(?:sudo )?chpasswd|passwd|[a-z]+ (?:registry )?login|cryptsetup|gpg|openssl|su |kinit|vault kv put|kubectl create secret|gh secret set|wrangler secret put|vercel env add))',
    `(?:echo|printf)(?: -n| -e| '%s'| "%s")? (?:${QUOTE})?(?:[\\w.-]{1,32}:)?(?<secret>[^\\s"'\`\\\\|]{4,128})(?=(?:\\\\+n)?(?:${QUOTE})? {0,2}\\| {0,2}(?:sudo -S|(?:sudo )?chpasswd|passwd|[a-z]+ (?:registry )?login|cryptsetup|gpg|openssl|su |kinit|vault kv put|kubectl create secret|gh secret set|wrangler secret put|vercel env add))`,
    isArgument,
  ),
  // `auth=("name", "…")`, `client.login("name", "…")`, `WiFi.begin("net", "…")`.
  simple(
    'password',
    `\\((?<=(?:uth|uth ?= ?|ignUp|assword|icate|og_?[iI]n|ign[iI]n|entials?|ication|egin|asic|bind_s|_bind|pw_set|echanism|cram\\w{0,12}|CRAM\\w{0,12}|rovider|icator|[tT][lL][mM]|serinfo|serInfo)\\()`,
    `(?:(?<![a-z])|(?<=\\\\[bfnrt]))(?:${LOGINS})(?: ?= ?)?\\( {0,2}(?:(?:${QUOTE}{1,2}|[a-zA-Z]{2,12}\\.\\w{2,16}), {0,2})?${QUOTE}[^"'\`\\r\\n\\\\]{1,64}${QUOTE}, {0,2}(?:Some\\()?${QUOTE}(?<secret>[^"'\`\\s\\\\]{4,128}|(?:[a-z]{4} ){3}[a-z]{4})(?=${QUOTE})`,
    (secret, match) =>
      isArgument(secret) &&
      (isMixed(secret) ||
        secret.includes(' ') ||
        isPassword(secret) ||
        isJoinedInQuotes(secret) ||
        /[@#$%^&*!]/.test(secret) ||
        (/@[^"'`]*["'`], /.test(match[0]) && isSaidWord(secret)) ||
        (/^auth ?=|BasicAuth|DigestAuth|Credential|Password/.test(match[0]) && isCertain(secret))),
  ),
  // `"auth": ["name", "…"]`.
  simple(
    'password',
    `\\[(?<=(?:uth|entials|ogin)["'\`\\\\]{0,9} {0,2}[:=] {0,2}.)(?= {0,2}["'\`\\\\])`,
    `(?:[aA]uth|[cC]redentials|[lL]ogin)(?:${QUOTE})? {0,2}[:=] {0,2}\\[ {0,2}${QUOTE}[^"'\`\\r\\n\\\\]{1,64}${QUOTE}, {0,2}${QUOTE}(?<secret>[^"'\`\\s\\\\]{6,128})(?=${QUOTE} {0,2}\\])`,
    (secret) => isWordPhrase(secret) || (isSpoken(secret) && !/^[a-z]+[-_]?\d{0,2}$/.test(secret)),
  ),
  // `jdbc:oracle:thin:name/password@host`.
  simple(
    'password',
    ':(?<=thin.)(?=[\\w$#.-]{1,32}\\/[^\\s/@]{3,64}@)',
    'thin:[\\w$#.-]{1,32}\\/(?<secret>[^\\s/@"\'`\\\\]{3,64})(?=@)',
    isArgument,
  ),
  // `name/password@//host` of Oracle.
  simple(
    'password',
    '@(?=\\/\\/[\\w.-])(?<=\\/[^\\s/@]{4,64}.)',
    '(?<![\\w./:@-])[\\w$#]{1,32}\\/(?<secret>[^\\s/@"\'`\\\\]{4,64})(?=@\\/\\/[\\w.-])',
    isArgument,
  ),
  // `composer config http-basic.host name password`.
  simple(
    'password',
    '-(?<=http.)(?=basic\\.)',
    `http-basic\\.[\\w.-]{1,80} [\\w.@-]{1,64} ${VALUE}`,
    isArgument,
  ),
  // `sqlplus name/password@host`.
  simple(
    'password',
    '@(?<=(?:sqlplus|expdp|impdp|sqlldr|target|rman|exp|imp|sqlcl|sql)(?: -\\w{1,8}){0,4} ["\'\\\\]{0,4}[\\w$#]{1,32}\\/[^\\s/@]{3,64}["\'\\\\]{0,4}.)',
    `(?:sqlplus|expdp|impdp|sqlldr|target|rman|exp|imp|sqlcl|sql)(?: -\\w{1,8}){0,4} (?:${QUOTE})?[\\w$#]{1,32}\\/(?:${QUOTE})?(?<secret>[^\\s/@"'\`\\\\]{3,64})(?=(?:${QUOTE})?@)`,
    isArgument,
  ),
  // `a1 LOGIN "name" "…"`, `AUTH …`: what a client says to its server.
  simple(
    'password',
    'L(?=OGIN ["\'\\\\]{0,4}[^\\s"]{1,80}["\'\\\\]{0,4} )',
    `(?<=[\\w.*]{1,12} )LOGIN (?:${QUOTE})?[^\\s"'\\\\]{1,80}(?:${QUOTE})? ${VALUE}`,
    (secret, match) =>
      isSpoken(secret) ||
      isJoinedBare(secret) ||
      (/LOGIN \\{0,3}["'].*["']/.test(match[0]) && isJoinedHere(secret)),
  ),
  simple(
    'password',
    'A(?=UTH [^\\s]{6})',
    `${NAME_START}AUTH (?!PLAIN|LOGIN|CRAM|XOAUTH|TLS|GSSAPI|NTLM)(?:[\\w-]{1,32} )?(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{6,256})`,
    (secret) =>
      isWordPhrase(secret) ||
      isJoinedBare(secret) ||
      (isSpoken(secret) && (/[a-z].*\d.*\d|\d.*\d.*[a-z]/i.test(secret) || hasDenseRun(secret))),
  ),
  simple(
    'password',
    '-(?<=ConvertTo.)',
    `ConvertTo-SecureString(?: -String| -AsPlainText| -Force){0,3} ${VALUE}`,
    isArgument,
  ),
  // `net user name … /add`.
  simple(
    'password',
    '\\/(?=[aA][dD][dD])',
    `net user [\\w.-]{1,32} ${VALUE}(?=[^\\r\\n]{0,40} \\/[aA][dD][dD])`,
    isArgument,
  ),
  // `impdp system/… directory=d`.
  simple(
    'password',
    '\\/(?=[^\\s/@]{3})(?<= [\\w$#]+.)(?<=(?:sqlplus|expdp|impdp|sqlldr|rman)(?: -\\w{1,8}){0,4} [\\w$#]{1,32}.)',
    `(?:sqlplus|expdp|impdp|sqlldr|rman)(?: -\\w{1,8}){0,4} [\\w$#]{1,32}\\/(?<secret>[^\\s/@"'\`\\\\;&|]{3,64})(?=[\\s"'\\\\;&|]|$)`,
    isArgument,
  ),
  // What is made base64 by hand is mostly the value of a Secret.
  simple(
    'secret',
    '\\|(?= {0,2}base64(?![\\w-]| -[dD]| --d))',
    `(?:echo|printf)(?: -n| -e| '%s'| "%s")? (?:${QUOTE})(?<secret>[^\\s"'\`\\\\|]{8,128})(?=(?:\\\\+n)?(?:${QUOTE}) {0,2}\\| {0,2}base64(?! -[dD]| --d))`,
    (secret) => isArgument(secret) && (formOf(secret) === 'chosen' || isWordPhrase(secret)),
  ),
  // The code on the wall of a café.
  simple(
    'wifi-password',
    'W(?=IFI:)',
    `WIFI:(?:[TSHRK]:[^;\\r\\n]{0,64};){0,4}P:(?<secret>[^;\\r\\n"]{4,64})(?=;)`,
  ),
  simple(
    'cookie',
    '-(?<=[ ].)(?=b ["\'`\\\\]{0,4}[\\w.-]{1,64}=|-cookie )',
    `(?<= )-(?:b|-cookie) (?:${QUOTE})?(?<secret>[\\w.%-]{1,64}=[^\\s;"'\`\\\\]{8,2048}(?:; ?[^;\\r\\n"'\`\\\\]{1,2048}){0,16})`,
    isVaried,
  ),
]

/** With the word in them. */
export const passwordCommands: readonly Detector[] = [
  simple(
    'password',
    [],
    `htpasswd (?:-[A-Za-z0-9]{1,6} ){1,4}(?:\\S{0,120}[/.]\\S{0,120} )?(?:${QUOTE})?[\\w.@-]{1,64}(?:${QUOTE})? ${VALUE}`,
    isArgument,
  ),
  simple(
    'password',
    [],
    '(?<=chpasswd[^]{0,300}?(?:\\s|\\\\n|["\'])[\\w.-]{1,32}:)[^\\s"\'\\\\]{4,128}',
    (secret) => isSpoken(secret) || isJoinedInQuotes(secret),
  ),
  // `username x privilege 15 password 0 …` of a router, and `authentication … password …`.
  simple(
    'password',
    [],
    'password (?:[05789]|encrypted|clear|cleartext|plain|hash|cipher|irreversible-cipher|simple|ENC) (?<secret>[^\\s"\'\\\\]{4,128})',
    (secret) => isSpoken(secret) || isJoinedHere(secret),
  ),
  simple(
    'password',
    [],
    '(?:enable|neighbor [^\\s]{1,40}|(?<=line [a-z]{3,7} [\\d ]{1,8}(?:\\r?\\n|\\\\n)[^\\r\\n]{0,60}(?:\\r?\\n|\\\\n)? ?)) ?password (?<secret>[^\\s"\'\\\\]{4,128})(?=[\\s"\'\\\\]|$)',
    (secret, match) =>
      isSpoken(secret) || isJoinedInQuotes(secret) || (isSaidWord(secret) && /^ ?password/.test(match[0])),
  ),
  // `PASS …` of FTP and POP, `requirepass …` of Redis.
  simple(
    'password',
    [],
    `(?:(?<![\\w-])|(?<=\\\\[nrt]))(?:PASS|requirepass|masterpass) (?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{5,128})(?=["'\\\\\\s]|$)`,
    (secret, match) =>
      isSpoken(secret) &&
      (!match[0].startsWith('PASS') || !/^[(\w./-]*\/|\.[jt]sx?$|^\d+(?:\.\d+)?m?s$/.test(secret)),
  ),
  // `pulumi config set --secret dbPassword …`, `aws configure set …`.
  simple(
    'password',
    [],
    `(?:set|put|add|config)(?: [\\w:/.=-]{1,60}){0,4}? (?<name>[\\w:/.-]{0,60})${anyCase('pass(?:word|wd|phrase)')} ${VALUE}`,
    (secret, { groups }) =>
      isSpoken(secret) ||
      (/[a-z0-9_.:]$/i.test(groups?.['name'] ?? '') && isArgument(secret) && isJoinedHere(secret)),
  ),
]
