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
  anyCase(`secret(?:${J}access)?(?:${J}key)?s?(?:${J}(?:base|value|string))?`),
  anyCase(`api${J}keys?`),
  anyCase(
    `(?:private|auth|signing|encryption|decryption|master|unseal|fernet|pre${J}shared|service${J}role)${J}key`,
  ),
  anyCase(
    `(?:access|refresh|session|auth|bearer|api|bot|security|csrf|xsrf|personal|private|deploy|service|vault|device|push|admin)${J}token`,
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
  `(?<![a-zA-Z_-])${anyCase('encrypt')}`,
  anyCase(`password${J}salt`),
  '(?:_|(?<![A-Za-z]))SALT|PEPPER|_PK|_SESSION',
  // Of the environment; others are names of places in a table or a cache.
  '(?<!PUBLIC|PRIMARY|FOREIGN|CACHE|SORT|PARTITION|IDEMPOTENCY|OBJECT|HOT|PRODUCT|ROW|GROUP|S3|HASH|RANGE|HOST|SSH)_KEY',
].join('|')

/** How all of these end. The prefilter asks this first, since most keys of a payload fail it at once. */
export const KEY_ENDING =
  '(?:[rRwW][dD]|[fF][rR][eE]|[rR][tT]|[tT][aA]|[sSdD][eE]|[eE][tTyYnN]|[oO][nN]|[eE][dD]|[iI][eE]|[wW][tT]|[tT][hH]|[aA][lL]|[pPlL][tT]|[hHnNñ][aA]|[lLłzZ][oOóÓ]|[sS][eE]|[iI][nN][gG]?|[xX][tT]|[aA][rRmM]|[aA][wW]|[uU][eE]|[oO][dD]|[eE][vVwWrR]|[aA][tT]|[rR][mM]|[lL][dD]|_\\d|ER|PK|ON)[sS]?'

const HARD = new RegExp(`(?:${HARD_KEY})$`)
const SOFT = new RegExp(`(?:${SOFT_KEY})$`)
const PAGING =
  /(?:next|page|continuation|sync|cursor|start|end|eos|bos|pad|unk|mask|sep|cls|stop)[-_]?token$/i

export type KeyStrength = 'hard' | 'soft'

export function keyStrength(key: string): KeyStrength | undefined {
  if (HARD.test(key)) return 'hard'
  return SOFT.test(key) && !PAGING.test(key) ? 'soft' : undefined
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [
    /pass(?:word|wort|wd|phrase|code|ord|e)s?$|pwd$|senha$|w[ao][cr][ht]?t?woord$|kennwort$|contrase.a$|has.o$|heslo$|jelsz.$|l.senord$|salasana$|kode$/i,
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
