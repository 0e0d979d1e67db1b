import { LINE_END, LONG_NAMES, PHRASE } from './certain-assignments.ts'
import { isMixed, isPassword, isScrambled, isTemplate } from './checks.ts'
import { type Detector, NAME_START, simple } from './detector.ts'
import { isJoinedBare, isJoinedHere, isJoinedInQuotes } from './joined-words.ts'
import { isListing } from './machine-lines.ts'
import { isWordPhrase } from './passphrase.ts'
import { LINE, QUOTE } from './pieces.ts'
import { isNoPassword, isSaidWord } from './plain-words.ts'
import { formOf } from './secret-words.ts'

/** Other places where nothing but a password stands, so that plain words are one as well. */

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
