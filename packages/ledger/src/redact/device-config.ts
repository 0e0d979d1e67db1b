import { isJoinedBare, isJoinedHere } from './joined-words.ts'
import { isPassword, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isWordPhrase } from './passphrase.ts'
import { isSaidWord } from './plain-words.ts'

/** Routers, switches and agents of SNMP: a command names the secret, a word or a digit says how it is written, then it stands bare. */

const HOW =
  '(?: (?:\\d{1,3}|ENC|cipher|irreversible-cipher|simple|plain|clear|ascii-text|ascii|hexadecimal|hex|encrypted|md5|sha|sha-256|hmac-sha-256|line|read|write|level \\d{1,2}))*'
const VALUE =
  '(?:\\\\{0,3}["\'](?<secret>[^"\'\\r\\n\\\\]{3,128})(?=\\\\{0,3}["\'])|(?<secret>[^\\s"\'\\\\{}<>]{4,200}))'

/** Words of these commands that are no secrets. */
const isWord = (secret: string): boolean =>
  /^(?:public|private|chain|ring|rotate|rotation|view|group|host|user|trap|traps|version|ipv[46]|access|vrf|config-key|password-encrypt|address|hostname|mode|type|size|length|id|name|file|path|generate|import|export|zeroize|management|exchange|usage|policy|server|is|and|or|of|for|the|not|must|can|pair|pairs|value|values|based|material)\b/i.test(
    secret,
  )

const isSecret = (secret: string): boolean =>
  (/^\$\w{1,4}\$/.test(secret) || !isTemplate(secret)) && !isWord(secret) && !/^[-/.(]|[()]/.test(secret)
/** A word that prose could have at this place needs more than letters. */
const isStrange = (secret: string): boolean =>
  isSecret(secret) && (/\d|[!@#$%^&*+]/.test(secret) || isJoinedBare(secret) || isWordPhrase(secret))
const isTold = (secret: string): boolean =>
  isSecret(secret) && (isPassword(secret) || isSaidWord(secret) || isWordPhrase(secret))

/** A command that ends with the secret. */
const isLine = ({ 0: found, input, index }: RegExpExecArray): boolean =>
  /(?:^|\n|\\n)(?:set|neighbor| {1,8}[a-z])[^\r\n]{0,120}$/.test(
    input.slice(Math.max(0, index - 160), index),
  ) && /^(?:$|[\r\n\\])/.test(input.slice(index + found.length, index + found.length + 1))

export const deviceDetectors: readonly Detector[] = [
  simple(
    'snmp-community',
    '-(?=server (?:[ch]o|key|ho)|agent community|string |key |psk |shared|secret )',
    `snmp-(?:server|agent) community${HOW} ${VALUE}`,
    isSecret,
  ),
  simple(
    'snmp-community',
    [],
    `snmp-server host \\S{1,64}(?: (?:traps|informs))?(?: version (?:1|2c|3))? ${VALUE}`,
    isStrange,
  ),
  // "The SNMP community is …", and `community: …` where SNMP is spoken of.
  simple(
    'snmp-community',
    'y(?<=[cC]ommunit.)(?=(?: [sS]tring)?(?: is|["\'`\\\\]{0,4} ?[:=]))',
    `[cC]ommunity(?: [sS]tring)?(?:(?: is| was)(?: set to)? |\\\\{0,3}["']? ?[:=] ?)${VALUE}`,
    (secret, { input, index }) =>
      isTold(secret.replace(/[.,]$/, '')) && /snmp/i.test(input.slice(Math.max(0, index - 240), index)),
  ),
  // `tacacs-server host … key …`, `radius-server key 7 …`.
  simple(
    'password',
    [],
    `(?:tacacs|radius|ldap|aaa)-server (?:[\\w.:-]{1,40} ){0,8}?key${HOW} ${VALUE}`,
    isSecret,
  ),
  simple(
    'password',
    [],
    `(?:key-string|pre-shared-key|preshared-key|wpa-psk|shared-secret|client-secret)${HOW} ${VALUE}`,
    isStrange,
  ),
  simple(
    'password',
    [],
    `(?:authentication|message-digest|cisco-encrypt|session)-key(?: \\d{1,5})?${HOW} ${VALUE}`,
    (secret, match) => isStrange(secret) || (isJoinedHere(secret) && isLine(match)),
  ),
]

/** Told by words without a hyphen. */
export const deviceSecrets: readonly Detector[] = [
  simple(
    'password',
    [
      'c(?<=se.)(?=ret[ ](?:\\d |ENC |cipher |encrypted |["\'\\\\]{0,4}\\$))',
      'k(?=(?:mp[ ]key|secret) |ey [^\\s])(?<=(?:isa|set ps|(?:\\n|\\\\n) {1,4}).)',
    ],
    `(?:secret|psksecret)(?: (?:\\d|ENC|cipher|encrypted|sha512))? ${VALUE}`,
    (secret, match) =>
      isStrange(secret) &&
      (/secret \w+ /.test(match[0]) || /^\$[0-9a-z]{1,4}\$/.test(secret)) &&
      !/^\d{1,3}$/.test(secret),
  ),
  // `radius server one`, and further down ` key …`.
  simple(
    'password',
    [],
    `(?:radius|tacacs) server [^\\r\\n]{1,60}(?:(?:\\r?\\n|\\\\n) {1,4}[^\\r\\n\\\\]{1,100}){0,6}?(?:\\r?\\n|\\\\n) {1,4}key${HOW} ${VALUE}`,
    isSecret,
  ),
  // Of FortiGate.
  simple('password', [], `set psksecret(?: ENC)? ${VALUE}`, isSecret),
  // `enable secret 0 …`, `username kim secret 5 …`.
  simple(
    'password',
    [],
    `(?:enable|username [\\w.-]{1,32}(?: privilege \\d{1,2})?) secret(?: level \\d{1,2})? \\d ${VALUE}`,
    isSecret,
  ),
  simple('password', [], `isakmp key${HOW} ${VALUE}(?= (?:address|hostname))`, isSecret),
]
