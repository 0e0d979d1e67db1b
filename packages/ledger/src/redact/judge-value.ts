/**
 * Decides whether the value in a secret's place (`password: …`) can be a secret. Everything that source code, documentation and
 * configuration put there instead is left alone: a wrong hit costs a resume, and a name alone proves nothing.
 */
export interface Place {
  /** Shortest value that counts. */
  readonly least: number
  /** Whether the value must look generated. A password may be a word with a digit; a token may not. */
  readonly random: boolean
  /** A bare `abc1` behind `password = ` is a variable in code, and a value only in quotes or in a line `NAME=value`. */
  readonly bare?: boolean
}

const MOST = 4096

export function canBeSecret(value: string, { least, random, bare }: Place): boolean {
  if (value.length < least || value.length > MOST) return false
  if (/\s/.test(value) || isTemplate(value) || isExampleWord(value)) return false
  if (isNumber(value) || isVersion(value) || isDate(value)) return false
  if (isPath(value) || isAddress(value) || isCode(value)) return false
  if (/^[\p{L}\p{M}\-_.:*?!…'’]+$/u.test(value) && !isLongRandomWord(value)) return false
  if (bare === true && /^[A-Za-z_$][\w$]*$/.test(value) && !looksRandom(value)) return false
  return !random || looksRandom(value)
}

/** `${KEY}`, `{{key}}`, `<your key>`, `%s`, `$KEY`, `****`, `[redacted:…]`: stands for a value and is none. */
export const isTemplate = (value: string): boolean =>
  /\$\{|\{\{|\}\}|<[^>]*>|\$\(|^%\w|%[sd({]|%\w+%|^\$[A-Za-z_]|\[redacted:|\*\*\*|\.\.\.|…|•|(.)\1{5}/.test(
    value,
  ) || /^[[{(<]|[\]})>]$/.test(value)

/** What documentation writes in place of a secret. */
export const isExampleWord = (value: string): boolean =>
  /your|example|sample|placeholder|change[-_]?me|change[-_]?it|dummy|insert|replace|redacted|hidden|(?:^|[-_.])(?:here|fake|mock|todo)(?:$|[-_.])/i.test(
    value,
  ) ||
  /^(?:my|some|the|a|db|user|super|top|new|old|test)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|xxx+|foo|bar|user(?:name)?)\d{0,3}$/i.test(
    value,
  )

const isNumber = (value: string): boolean =>
  /^[+-]?[\d.,_:-]+$/.test(value) && value.replace(/\D/g, '').length < 12

const isVersion = (value: string): boolean =>
  /^[~^<>=v]{0,3}\d+(?:\.(?:\d+|x|\*)){1,3}(?:[-+][\w.+-]*)?$/.test(value)

const isDate = (value: string): boolean => /^\d{4}-\d\d-\d\d(?:T[\d:.Z+-]*)?$/.test(value)

const FILE =
  /^[@\w./*-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|txt|html?|css|svg|png|jpe?g|py|go|rs|rb|php|java|cs|sh|sql|pem|key|crt|env|conf|cfg|ini|lock|log|xml|proto|vue|map)$/

const isPath = (value: string): boolean =>
  /^(?:[./~\\]|[A-Za-z]:[\\/])/.test(value) ||
  FILE.test(value) ||
  (/^[\w@.-]+(?:\/[\w@.-]+)+\/?$/.test(value) && !looksRandom(value))

/** A URL (its password has a mark of its own), an e-mail address, a scheme. */
const isAddress = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
  /^[\w.+-]+@[\w-]+\.[A-Za-z.]+$/.test(value) ||
  /^(?:data|urn|npm|file|arn|env):/.test(value)

/** A call, a member, an index, a type, an operator: `process.env.KEY`, `getToken()`, `a[0]`, `string|null`. */
const isCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) ||
  /^[A-Za-z_$][\w$.]*[([]/.test(value) ||
  /=>|\|\||&&|==|\?\?|::|->|\+\+|;$/.test(value) ||
  /^[A-Za-z]+(?:\|[A-Za-z]+)+$/.test(value)

/** Letters only, but too many for a word and too mixed, or too short of vowels, for a name. */
function isLongRandomWord(value: string): boolean {
  if (value.length < 20 || !/^[A-Za-z]+$/.test(value)) return false
  const vowels = value.match(/[aeiou]/gi)?.length ?? 0
  return looksRandom(value) || (vowels / value.length < 0.25 && !/[a-z][A-Z]/.test(value))
}

export const isMixed = (value: string): boolean => /\d/.test(value) && /[A-Za-z]/.test(value)

/**
 * Words and names consist of long runs of letters, generated texts of short ones: between the changes from letters to digits
 * and from small letters to capitals lie two or three characters.
 */
export function looksRandom(value: string): boolean {
  let letters = 0
  let runs = 0
  let digits = 0
  for (const [run] of value.matchAll(/[A-Z]?[a-z]+|[A-Z]+|\d+/g)) {
    letters += run.length
    runs++
    if (run.charCodeAt(0) < 58) digits += run.length
  }
  if (letters < 12) return false
  if (digits === letters) return digits >= 12
  return letters / runs <= 3.2 && (digits >= 2 || runs >= 8)
}

/** Of thirteen to nineteen digits, with the first ones of a known scheme and a valid check digit (Luhn). */
export function isPaymentCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '')
  if (!/^(?:3[47]|3[0689]|4|5[1-5]|2[2-7]|6)\d{11,18}$/.test(digits) || /^(\d)\1+$/.test(digits)) return false
  let sum = 0
  for (let at = digits.length - 1, twice = false; at >= 0; at--, twice = !twice) {
    const digit = Number(digits[at]) * (twice ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}
