import { entropyOf, isPassword, isTemplate } from './checks.ts'
import { isIdOfThing } from './long-runs.ts'
import { isFaint, isNumberedPair, isNumberedPhrase, isPassphrase } from './passphrase.ts'

import { fold } from './fold.ts'
import { isSaidJoined } from './plain-words.ts'
/** What a word looks like by itself, before anybody asks what stands around it. */

/**
 * `chosen` by somebody as a password beyond doubt, `weak` when it is a word with a number too, `faint` when it is a word with a
 * digit or some words that were joined, `drawn` by a machine, `plain` hex digits or a UUID, `grouped` as licences are printed, `digits`.
 */
export type WordForm = 'chosen' | 'weak' | 'faint' | 'drawn' | 'plain' | 'grouped' | 'digits'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?::fx|:[0-9a-f]{32})?$/i
const HEX = /^(?!0x.{40}$)(?:0x)?(?:[0-9a-f]{24,}|[0-9A-F]{24,})$/

/** Addresses, times, versions, names of files, members, packages and issues, numbers with a unit. */
const THINGS: readonly RegExp[] = [
  /:\/\/|^www\.|^[\w.+-]+@[\w-]+\.[\w.-]+$/i,
  /^[~.]{0,2}\/|^[A-Za-z]:[/]|^[\w.@+-]+(?:\/[\w.@+-]+)+\/?$/,
  /^[\w-]+(?:\.[\w-]+)*\.[a-z]{1,6}\d?(?::[\d:]+)?$/i,
  /^\d{4}-\d\d-\d\d|^\d{1,2}:\d\d|^\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\d{8}T\d{4,6}Z?$/,
  /^[~^v=]?\d+(?:\.\d+)+(?:[-+~][\w.+-]*)?$|^@?[\w./-]+@[~^v]?(?:\d{1,2}|\d+\.[\d.x*]+)(?:[-+][\w.+-]*)?$/,
  /^#?[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)?[!?]?$|^GHSA-|^#[\w-]+$|^1Password|^@(?:[\w-]*$|.*[./])/,
  /^[-+]?[$€£]?[\d.,]+(?:%|[a-zA-Z]{1,4}(?:\/[a-z]{1,4})?)?$|^\d+(?:x|\/|-|\+)\d+$/,
  /^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$|^[\w.]+\(/,
  /^(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?$|^(?:[0-9a-f]{1,4}:){3,}|^(?:[0-9A-Fa-f]{2}[:-]){3,}/,
  /^-{1,2}[a-z]|^[%$]|^[!~=<>&|*+^]+$|^&[a-z#]|^[a-z-]+=|[=!<>]==?\w|&&|^\*|\*$|^[A-Za-z]+[!?]+$|^!\w+$/,
  /^(?:sha|md|aes|rsa|hs|rs|es|ps|ed|pbkdf|argon|hmac|utf|iso|base|ssh|tls|ipv|oauth|rfc|http|win)[-_]?\d+(?:[-_/+.@][\w.+-]*|with\w+|[a-z]{0,4})$|^(?:x86|x64|x509|v\d{1,3}[a-z]?$)/i,
  // What stands behind the user in a line of /etc/passwd, and the host behind `${VARIABLE}`.
  /^x:\d+:\d+:|^@[\w.-]+(?::\d+)?(?:\/|$)/,
  // The version of a package with its epoch, its digest in go.sum, a heading of a page, a setting of the kernel.
  /^\d+:\d[\w.+~-]*$|^h1:|^[\w./-]+\.[a-z]{1,5}#[\w-]+$|^[a-z]+(?:\.\w+)+=\d+$|^[?&]\w+=/,
  // What stands behind the number of a line, and what a bundler or a compiler calls things.
  /^\d{1,5}:[a-z]+$|^(?=.*(?:[a-z][A-Z]|_))[A-Za-z_]\w*\$\d{1,2}$|^!?[A-Za-z_$][\w$]*(?:\??\.#?[A-Za-z_$][\w$]*)+$/,
  // What was masked already.
  /\*{3}|[•…]|x{6}/i,
  // A word that is escaped for a URL, a pattern, an article of a law, a key of a keyboard.
  /^[a-z]+(?:%20[a-z]+)+$|^\^|\$$|^§|^(?:ctrl|cmd|alt|shift|meta|super|option|command|fn|win)\+\S{1,16}$|^0x(?:[0-9a-f]{1,16}|[0-9a-f]{40})$/i,
]

/** Base64 has slashes as well, but no words between them. */
const isBase64 = (word: string): boolean =>
  word.length >= 28 &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(word) &&
  turnsOf(word) >= word.length / 3 &&
  entropyOf(word) >= 4

const isThing = (word: string): boolean => THINGS.some((pattern) => pattern.test(word)) && !isBase64(word)

/** How often small and capital letters, digits and signs take turns. */
function turnsOf(word: string): number {
  let turns = 0
  let last = 0
  for (const char of word) {
    const sort = /[a-z]/.test(char) ? 1 : /[A-Z]/.test(char) ? 2 : /\d/.test(char) ? 3 : 4
    if (sort !== last && last !== 0) turns++
    last = sort
  }
  return turns
}

/** `getUserById2`, `Winter2024`, `x86_64`, `node-18`, `SHA256withRSA`, `PBKDF2`: words with a number at one place. */
function isNumberedName(word: string): boolean {
  if ((word.match(/\d+/g)?.length ?? 0) > 1 || /\d{5}/.test(word)) return false
  const parts = word
    .split(/[\d_.-]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((part) => part !== '')
  const letters = parts.reduce((sum, part) => sum + part.length, 0)
  return letters >= parts.length * 3 || parts.length < 3
}

/** A password that somebody chose or a generator made, which no other word looks like. */
function isChosen(word: string): boolean {
  if (word.length < 8 || word.length > 64 || !/[A-Za-z]/.test(word) || isIdOfThing(word)) return false
  const signs = word.replace(/[\w.:/-]/g, '')
  const [digits, small, capital] = [/\d/.test(word), /[a-z]/.test(word), /[A-Z]/.test(word)]
  if (/[@#$%^&*!+?=~]/.test(signs)) {
    if (/^[\w.-]+[!?]+$/.test(word)) return digits && small && capital
    return (digits || turnsOf(word) >= 5) && (small || capital)
  }
  if (signs !== '') return false
  return digits && small && capital && !isNumberedName(word) && turnsOf(word) >= 4
}

/** Letters and digits in no order. */
function isDrawn(word: string): boolean {
  if (word.length < 16 || !/^[\w+/=.~-]+$/.test(word) || !/\d/.test(word) || !/[A-Za-z]/.test(word))
    return false
  if (isIdOfThing(word) || isNumberedName(word) || /(?:^|[-_/.])[a-z]{5,}[-_/.]/.test(word)) return false
  return turnsOf(word) >= word.length / 5 && entropyOf(word) >= 3
}

const GROUPED = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,7}$/

const SHORTHAND =
  /^(?:i18n|l10n|a11y|k8s|s3|b64|e2e|p2p|b2b|md5|sha\d|utf8|oauth2|mp[34]|h26[45]|web3|log4j|n8n|2fa|pbkdf2|argon2|base\d\d|x509|http2)/i

/** A word of letters with some digits, as people choose them; `oauth2` and `step3` have one digit, at the end. */
const isWeak = (word: string): boolean =>
  word.length >= 6 &&
  /[A-Za-z]{2}/.test(word) &&
  /\d.*\d|[A-Za-z]\d[A-Za-z]/.test(word) &&
  !/^[A-Za-z]*[a-z]\d[A-Z][a-z]+[A-Za-z]*$/.test(word) &&
  !SHORTHAND.test(word) &&
  !/^(?:Big)?(?:Uint|Int|Float)\d+|x509/i.test(word) &&
  !/^[0-9a-f]+$/.test(word) &&
  !/^[a-z]+(?:[-_][a-z0-9]+)+$/.test(word) &&
  !/[\s=&]/.test(word) &&
  !isIdOfThing(word)

/** `QR87K`, `3969E`, `93-62-41`: what is typed on a keypad, or turned. */
export const isKeypadCode = (word: string): boolean =>
  !/^(?:RFC|ISO|AES|SHA|HTTP|WPA|TLS|USB|GPIO|UTF|IPV|MD)\d/.test(word) &&
  /^(?=.*\d)(?=.*[A-Z])[A-Z0-9]{4,9}$|^(?=.*\d)[A-Z0-9]{4}-[A-Z0-9]{4}$|^\d{1,2}-\d\d-\d\d$|^\d{3}-\d\d-\d{3}$/.test(
    word,
  )

/** `Maple2019$`, `kettle857!`: neither a pattern nor a call out. */
const SIGNED = /^[A-Za-z][a-z]{2,}\d{2,6}[*$!?#]{1,2}$/

export function formOf(text: string): WordForm | undefined {
  const word = fold(text)
  if (/^\d{4,10}$/.test(word)) return 'digits'
  if (word.length < 6 || !/[A-Za-z]/.test(word)) return undefined
  if (UUID.test(word) || HEX.test(word)) return 'plain'
  if (isTemplate(word)) return undefined
  if (isPassphrase(word)) return isNumberedPhrase(word) ? 'chosen' : 'weak'
  if (isNumberedPair(word)) return 'weak'
  if (SIGNED.test(word)) return isChosen(word) ? 'chosen' : 'weak'
  if (/^[A-Za-z]+[^\w.-][A-Za-z]+$/.test(word) && isSaidJoined(word)) return 'weak'
  if (isThing(word)) return isSaidJoined(word) ? 'faint' : undefined
  if (isChosen(word)) return 'chosen'
  if (GROUPED.test(word)) return 'grouped'
  if (isDrawn(word)) return /[A-Z]/.test(word) && /[a-z]/.test(word) ? 'drawn' : 'plain'
  if (isPassword(word) && isWeak(word)) return 'weak'
  return (isFaint(word) || isSaidJoined(word)) && !SHORTHAND.test(word) ? 'faint' : undefined
}
