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
  /** A UUID counts as an id: services lock, page and retry by tokens of this form. */
  readonly isNoUuid?: boolean
}

const MOST = 4096
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function canBeSecret(
  value: string,
  { least, random, bare = false, isNoUuid = false }: Place,
): boolean {
  if (value.length < least || value.length > MOST || (isNoUuid && UUID.test(value))) return false
  if (/\s/.test(value) || isTemplate(value) || isExampleWord(value)) return false
  if (isNumber(value) || isVersion(value) || isDate(value)) return false
  if (isPath(value) || isAddress(value) || isCode(value) || isRule(value)) return false
  if (/^[\p{L}\p{M}\-_.:*?!…'’]+$/u.test(value) && !isLongRandomWord(value)) return false
  if (bare && (isOperation(value) || isWords(value) || isVariable(value))) return false
  return !random || looksRandom(value) || isLongRandomWord(value)
}

/** The body of a token with a maker's prefix, and not a name or an example that begins alike: `sk-admin-panel`, `ghp_xxxx`. */
export const isGenerated = (body: string): boolean =>
  !isTemplate(body) && !isExampleWord(body) && !isWords(body)

/** `${KEY}`, `{{key}}`, `<your key>`, `%s`, `$KEY`, `****`, `[redacted:…]`: stands for a value and is none. */
export const isTemplate = (value: string): boolean =>
  /\$\{|\{\{|\}\}|\{[A-Za-z_]\w*\}|\$\(|^%\w|%[sd({]|%\w+%|^\$[A-Za-z_]|\[redacted:|…|•|^\*+$|([xX*.0-])\1{5}/.test(
    value,
  ) || /^(?:<.*>|\{.*\}|\[.*\]|\(.*\)|@.*@|["'`].*["'`])$/.test(value)

/** What documentation writes in place of a secret. */
export const isExampleWord = (value: string): boolean =>
  /your|example|sample|placeholder|change[-_]?me|change[-_]?it|dummy|insert|replace|redacted|hidden|(?:^|[-_.])(?:here|fake|mock|todo)(?:$|[-_.])/i.test(
    value,
  ) ||
  /^(?:my|some|the|a|db|user|super|top|new|old|test)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|xxx+|foo|bar|xyz|user(?:name)?)\d{0,3}$/i.test(
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
  /^(?:\.{0,2}\/|~\/|\\|[A-Za-z]:[\\/]|#\/)/.test(value) ||
  FILE.test(value) ||
  (/^[\w@.-]+(?:\/[\w@.-]+)+\/?$/.test(value) && !looksRandom(value))

/** A URL (its password has a mark of its own), an e-mail address, a reference to where a value is kept, a named digest. */
const isAddress = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
  /^[\w.+-]+@[\w-]+\.[A-Za-z.]+$/.test(value) ||
  /^(?:data|urn|npm|file|arn|env|vault|ssm|keyvault|secretsmanager|op|sops|ref|sha\d+|md5):/.test(value)

/** A member, a call or an index, an option, a name: `process.env.KEY`, `getToken()`, `a[0]`, `--password=`, `user=`. */
const isCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) ||
  /^[A-Za-z_$][\w$.]*[([]/.test(value) ||
  /^--[\w-]+=?$|^[\w.-]{1,15}=$|^[.+]*\$\w+[[\]().]*$/.test(value)

/** What a form asks of a value: `required|string|min:10`, `^[a-z0-9]{8,}$`. */
const isRule = (value: string): boolean =>
  /^[\w:,]+(?:\|[\w:,]+)+$/.test(value) || /\[\^?\w-\w[^\]]*\]/.test(value)

/** Without quotes these are operators. */
const isOperation = (value: string): boolean => /=>|\|\||&&|==.|\?\?|::|->|\+\+|;$/.test(value)

/** Words, joined or not, each with a small number at the most: the name of a thing, `getToken2`, `step-2`, `ant-design-v2`. */
const isWords = (value: string): boolean =>
  value.split(/[-_.]+/).every((part) => WORD.test(part)) && !looksRandom(value) && !isLongRandomWord(value)

/** One or more words in camel case, or capitals. */
const WORD = /^(?:(?:[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*(?:[A-Z]{2,4})?|[A-Z]{2,}|[A-Za-z]?)\d{0,3})$/

/** A name of code that is no generated text: `sha256Hash`. */
const isVariable = (value: string): boolean => /^[A-Za-z_$][\w$]*$/.test(value) && !looksRandom(value)

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
  let digitRuns = 0
  for (const [run] of value.matchAll(/[A-Z]?[a-z]+|[A-Z]+|\d+/g)) {
    letters += run.length
    runs++
    if (run.charCodeAt(0) > 57) continue
    digits += run.length
    digitRuns++
  }
  if (letters < 12) return false
  if (digits === letters) return digits >= 12
  if (letters / runs <= 3.2) return digits >= 2 || runs >= 8
  // Capitals or small letters only, as in base32, with digits strewn in between.
  return letters / runs <= 5 && digitRuns >= 3 && !/[-_.:/]/.test(value)
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
