/** Sensitive key names: one source for object keys, for assignments in text and for the prefilter. */

/** Case-insensitive without the `i` flag, which would widen every trigger character of the prefilter. */
export const anyCase = (source: string): string =>
  source.replace(/[a-z]/g, (char) => `[${char}${char.toUpperCase()}]`)

const J = '[-_]?'

/** Under these names every non-empty string is a secret. */
export const HARD_KEY = [
  anyCase('pass(?:word|wort|wd|phrase|code)s?'),
  anyCase(`(?:seed|recovery|backup|mnemonic)${J}(?:phrase|words?)`),
  anyCase(`secret(?:${J}access)?(?:${J}key)?s?`),
  anyCase(`api${J}keys?`),
  anyCase(`(?:private|auth|signing|encryption|master|service${J}role)${J}key`),
  anyCase(`(?:access|refresh|session|auth|bearer|api|bot|security|csrf|xsrf)${J}token`),
  `(?<![a-zA-Z])${anyCase(`id${J}token`)}`,
  anyCase(`client${J}key${J}data`),
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
  anyCase(`(?:access|account|subscription)${J}key`),
  anyCase('credentials?'),
].join('|')

/** How all of these end. The prefilter asks this first, since most keys of a payload fail it at once. */
export const KEY_ENDING =
  '(?:[rRwW][dD]|[rR][tT]|[tT][aA]|[sSdD][eE]|[eE][tTyYnN]|[oO][nN]|[iI][eE]|[wW][tT]|[tT][hH]|[aA][lL])[sS]?'

/**
 * In JSON text: a sensitive name that is a value, as in `["cookie","…"]` or `{"name":"cookie","value":"…"}`.
 * Only the walk can tell whether something stands beside it.
 */
export const NAMED_BESIDE = new RegExp(`[,}](?<=${KEY_ENDING}".)(?<=(?:${HARD_KEY}|${SOFT_KEY})".)`)

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
  [/pass(?:word|wort|wd|phrase|code)s?$|pwd$/i, 'password'],
  [/(?:phrase|words?)$/i, 'recovery-phrase'],
  [/cookie$/i, 'cookie'],
  [/auth(?:orization)?$/i, 'authorization'],
  [/private[-_]?key$/i, 'private-key'],
  [/token$|jwt$/i, 'token'],
  [/keys?$/i, 'api-key'],
]

/** The kind a placeholder carries when only the name of the key gave the secret away. */
export const kindOfKey = (key: string): string => KINDS.find(([name]) => name.test(key))?.[1] ?? 'secret'
