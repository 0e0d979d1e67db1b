/** Sensitive key names: one source for object keys, for assignments in text and for the prefilter. */

/** Case-insensitive without the `i` flag, which would widen every trigger character of the prefilter. */
export const anyCase = (source: string): string =>
  source.replace(/[a-z]/g, (char) => `[${char}${char.toUpperCase()}]`)

const J = '[-_]?'

/** Under these names every non-empty string is a secret. */
export const HARD_KEY = [
  anyCase(
    `pass${J}(?:word|wort|wd|phrase|code)s?(?:[-_](?:plain|text|clear|raw|value|prod|dev|new|old|confirmation|\\d)|${J}(?:repeat|confirm|again))?`,
  ).replaceAll('\\[dD]', '\\d'),
  anyCase(`(?:seed|recovery|backup|mnemonic)${J}(?:phrase|words?)`),
  anyCase(`secret(?:${J}access)?(?:[-_.]?key)?s?(?:${J}(?:base|value|string))?`),
  anyCase(`api${J}keys?`),
  anyCase(
    `(?:private|auth|signing|encryption|decryption|master|unseal|fernet|pre${J}shared|service${J}role)${J}key`,
  ),
  anyCase(
    `(?:access|refresh|session|auth|bearer|api|bot|security|csrf|xsrf|personal|private|deploy|service|vault|device|push|admin|job|runner|registration|remember|reset|invite|oauth|root)${J}token`,
  ),
  '(?<![A-Za-z])[xX]-[A-Za-z-]{0,30}(?:[kK]ey|KEY|[tT]oken|TOKEN|[sS]ecret|SECRET)',
  anyCase(`client${J}assertion|x${J}honeycomb${J}team|code${J}verifier`),
  `(?<![a-zA-Z])${anyCase(`id${J}token`)}`,
  anyCase(`client${J}key${J}data`),
  anyCase(`(?:totp|otp|mfa|2fa)${J}(?:seed|secret|key)`),
  anyCase(
    'sifre|senha|wachtwoord|salasana|adgangskode|passord|kennwort|mot${J}de${J}passe|contrase(?:n|ñ)a|has(?:l|ł)o|heslo|jelsz(?:o|ó)|l(?:o|ö)senord'.replaceAll(
      '${J}',
      J,
    ),
  ),
  anyCase('authorization'),
  anyCase('cookie'),
].join('|')

/** Under these names a string is a secret when it also looks generated: `token` may be a word of a text. */
export const SOFT_KEY = [
  // Not `jsonwebtoken`, which is a library.
  `(?:(?<![a-z])t|T)${anyCase('oken')}`,
  anyCase('jwt'),
  anyCase('pwd'),
  anyCase('auth'),
  anyCase(
    `(?:access|account|subscription|recovery|shared|gossip|hmac|jwt|licen(?:c|s)e|app|application|admin|write|function|host|storage|primary|secondary|server|integration|ingestion|deploy|consumer|wallet|publish|webhook|routing|session|cookie|security|read)${J}key`,
  ),
  anyCase('credentials?'),
  anyCase(`access${J}key${J}id|macaroon`),
  `(?<![a-zA-Z_-])${anyCase('encrypt')}`,
  anyCase(`password${J}salt`),
  '(?:_|(?<![A-Za-z]))SALT|PEPPER|_PK|_SESSION',
  // Of the environment; others are names of places in a table or a cache.
  '(?<!PUBLIC|PRIMARY|FOREIGN|CACHE|SORT|PARTITION|IDEMPOTENCY|OBJECT|HOT|PRODUCT|ROW|GROUP|S3|HASH|RANGE|HOST|SSH)_KEY',
].join('|')

/** What other languages call a password, as the key of an object. */
const FOREIGN =
  /(?:^|[-_. ])(?:lozinka|geslo|parool|parole|slapta(?:ž|z)odis|kata[-_ ]?sandi|(?:ş|s)ifre|mdp|mot[-_ ]?de[-_ ]?passe|parola(?:[-_ ]?(?:chiave|d[-_ ]?ordine))?|palavra[-_ ]?passe|palabra[-_ ]?clave|clave[-_ ]?(?:secreta|api|privada|de[-_ ]?acceso)|llave[-_ ]?(?:secreta|api|privada)|cl(?:é|e)[-_ ]?(?:secr(?:è|e)te|api|priv(?:é|e)e)|chave[-_ ]?(?:secreta|api|privada)|chiave[-_ ]?(?:segreta|api|privata)|geheimnis|api[-_ ]?schl(?:ü|ue)ssel|пароль|ключ[-_ ]?api|κωδικός|密[码碼钥鑰]|口令|パスワード|비밀번호|암호|mật[-_ ]?khẩu|รหัสผ่าน|סיסמה|كلمة[-_ ]?(?:المرور|السر))$/i

/** How all of these end. The prefilter asks this first, since most keys of a payload fail it at once. */
export const KEY_ENDING =
  '(?:[eElLoOrRwW][dD]|(?:[dDiIsSuU]|[fF][rR])[eE]|[aAeElLpPrRwWxX][tT]|[eE][yY]|[eEiIoO][nN]|[aAeE][rR]|[hHnNñtT][aA]|[lLłzZ][oOóÓ]|[tT][hH]|[aA][lL]|[iI][nN][gG]|[aArR][mM]|[aAeE][wW]|[eE][vV]|[eE][yY][-_]?[iI][dD]|_\\d|PK)[sS]?'

const HARD = new RegExp(`(?:${HARD_KEY})$`)
const SOFT = new RegExp(`(?:${SOFT_KEY})$`)
const PAGING =
  /(?:public[-_]?key|next|page|continuation|sync|cursor|start|end|eos|bos|pad|unk|mask|sep|cls|stop)[-_]?token$/i

export type KeyStrength = 'hard' | 'soft'

/** Whose password it is, so that a short word for it is no pass of a renderer, a test or a filter. */
export const PASS_OWNER =
  'db|database|remote|user|root|admin|mail|email|smtp|imap|pop3?|ftp|sftp|ssh|sudo|become|bind|store|keystore|truststore|key|http|basic|proxy|vpn|wifi|wlan|sql|mysql|pg|postgres|mongo|redis|rabbit|rabbitmq|amqp|mqtt|kafka|ldap|login|master|app|web|host|server|svc|service|guest|default|new|old|initial|temp|router|nas|registry|docker|git|jenkins|grafana|auth|account|acct|repl|replication|connect'
/** `root_pass`, `smtpPass`, `db.pwd`. */
const OWNED = new RegExp(`(?:^|[-_.]|(?<=[a-z0-9])(?=[A-Z]))(?:${PASS_OWNER})[-_.]?(?:pass|pwd|pw|psk)$`, 'i')
/** `SHOP_PASS`, which in capitals is a variable of the environment. */
const IN_CAPITALS = /^[A-Z][A-Z0-9_]*(?<!FIRST|SECOND|THIRD|RENDER|FINAL|LAST|TEST|NUM)_(?:PASS|PWD|PW|PSK)$/
/** Names of nothing else. */
const OTHER_NAME =
  /^(?:\w+[-_.])?(?:(?:wpa[23]?|ipsec|ike)[-_]?psk|(?:snmp|read|write|r[ow])[-_]?community|bind[-_]?credentials?|(?:security|secret)[-_]?answer|mnemonic)$/i
export const isOwned = (key: string): boolean =>
  (OWNED.test(key) && !/^(?:old_?pwd|proxy_pass)$/i.test(key)) ||
  IN_CAPITALS.test(key) ||
  OTHER_NAME.test(key)

/** What a page offers or asks about a password, and the names of secrets of Kubernetes. */
const QUESTION =
  /(?:forgot(?:ten)?|lost|show|hide|toggle|has)[-_]?pass(?:word|wort|code)$|(?:existing|image[-_]?pull)[-_]?secrets?$/i

export function keyStrength(key: string): KeyStrength | undefined {
  if (QUESTION.test(key)) return undefined
  if (HARD.test(key) || FOREIGN.test(key) || isOwned(key)) return 'hard'
  return SOFT.test(key) && !PAGING.test(key) ? 'soft' : undefined
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [
    /pass(?:word|wort|wd|phrase|code|ord|e)s?$|(?:pwd|pass|pw|psk)$|senha$|w[ao][cr][ht]?t?woord$|kennwort$|contrase.a$|has.o$|heslo$|jelsz.$|l.senord$|salasana$|kode$|ifre$|mdp$|geslo$|lozinka$|parol[ae]$|parool$|пароль$|密[码碼]$|パスワード$|비밀번호$/i,
    'password',
  ],
  [/(?:phrase|words?)$/i, 'recovery-phrase'],
  [/cookie$/i, 'cookie'],
  [/auth(?:orization)?$/i, 'authorization'],
  [/private[-_]?key$/i, 'private-key'],
  [/token$|jwt$/i, 'token'],
  [/keys?$/i, 'api-key'],
]

/** The kind a placeholder carries when only the name of the key gave the secret away. */
export const kindOfKey = (key: string): string => KINDS.find(([name]) => name.test(key))?.[1] ?? 'secret'
