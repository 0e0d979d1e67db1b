/** Conditions under which a value behind the name of a secret is redacted. */
export interface ValueRule {
  readonly minLength: number
  /** Set for tokens and keys. A password may be a word with a digit or a sign. */
  readonly mustLookRandom?: boolean
  /** Set where an unquoted word is probably a variable: `password = abc1`. */
  readonly isUnquoted?: boolean
  readonly excludesUuid?: boolean
}

const MAX_VALUE_CHARS = 4096
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Decides whether a value behind the name of a secret (`password: …`) can be a secret. Rejects what source code, documentation
 * and configuration write there instead, because a wrong replacement can block the resume of a run.
 */
export function canBeSecret(value: string, rule: ValueRule): boolean {
  if (value.length < rule.minLength || value.length > MAX_VALUE_CHARS) return false
  if (/\s/.test(value) || isTemplate(value) || isExample(value)) return false
  if (isNumber(value) || isVersion(value) || isDate(value)) return false
  if (isPath(value) || isReference(value) || isCode(value) || isValidationRule(value)) return false
  if (rule.excludesUuid && UUID.test(value)) return false
  if (/^[\p{L}\p{M}\-_.:*?!…'’]+$/u.test(value) && !isLongRandomWord(value)) return false
  if (rule.isUnquoted && (hasOperator(value) || isWords(value) || isVariable(value))) return false
  return !rule.mustLookRandom || looksRandom(value) || isLongRandomWord(value)
}

/** False for names and examples that start like a provider's key: `sk-admin-panel-layout`, `ghp_xxxxxxxx`. */
export const isGenerated = (body: string): boolean => !isTemplate(body) && !isExample(body) && !isWords(body)

/** Variable or mask in place of a value: `${KEY}`, `{{key}}`, `<key>`, `%s`, `$KEY`, `****`, `[redacted:…]`. */
export const isTemplate = (value: string): boolean =>
  /\$\{|\{\{|\}\}|\{[A-Za-z_]\w*\}|\$\(|^%\w|%[sd({]|%\w+%|^\$[A-Za-z_]|\[redacted:|…|•|^\*+$|([xX*.0-])\1{5}/.test(
    value,
  ) || /^(?:<.*>|\{.*\}|\[.*\]|\(.*\)|@.*@|["'`].*["'`])$/.test(value)

/** Example value of documentation: `your-key-here`, `changeme`, `password1`. */
export const isExample = (value: string): boolean =>
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

/** URL (a mark finds its password), e-mail address, reference into a secret store, named digest. */
const isReference = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
  /^[\w.+-]+@[\w-]+\.[A-Za-z.]+$/.test(value) ||
  /^(?:data|urn|npm|file|arn|env|vault|ssm|keyvault|secretsmanager|op|sops|ref|sha\d+|md5):/.test(value)

/** Member, call, index, option or name: `process.env.KEY`, `getToken()`, `a[0]`, `--password=`, `user=`. */
const isCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) ||
  /^[A-Za-z_$][\w$.]*[([]/.test(value) ||
  /^--[\w-]+=?$|^[\w.-]{1,15}=$|^[.+]*\$\w+[[\]().]*$/.test(value)

/** Rule for input: `required|string|min:10`, `^[a-z0-9]{8,}$`. */
const isValidationRule = (value: string): boolean =>
  /^[\w:,]+(?:\|[\w:,]+)+$/.test(value) || /\[\^?\w-\w[^\]]*\]/.test(value)

const hasOperator = (value: string): boolean => /=>|\|\||&&|==.|\?\?|::|->|\+\+|;$/.test(value)

/** Name made of words, each with at most a small number: `getToken2`, `step-2`, `ant-design-v2`. */
const isWords = (value: string): boolean =>
  value.split(/[-_.]+/).every((part) => WORD.test(part) && !isLongRandomWord(part)) && !looksRandom(value)

/** One word, several in camel case, or capitals. */
const WORD = /^(?:(?:[A-Z]?[a-z]{2,40}(?:[A-Z][a-z]{2,40})*(?:[A-Z]{2,4})?|[A-Z]{2,40}|[A-Za-z]?)\d{0,3})$/

/** Identifier such as `sha256Hash`. */
const isVariable = (value: string): boolean => /^[A-Za-z_$][\w$]*$/.test(value) && !looksRandom(value)

/** At least 20 letters with too many changes of case, or too few vowels, for words. */
function isLongRandomWord(value: string): boolean {
  if (value.length < 20 || !/^[A-Za-z]+$/.test(value)) return false
  const vowels = value.match(/[aeiou]/gi)?.length ?? 0
  return looksRandom(value) || (vowels / value.length < 0.25 && !/[a-z][A-Z]/.test(value))
}

export const isMixed = (value: string): boolean => /\d/.test(value) && /[A-Za-z]/.test(value)

/**
 * True if letters, capitals and digits alternate as often as in generated text: every two or three characters. In words and
 * names the runs are longer.
 */
export function looksRandom(value: string): boolean {
  let length = 0
  let runs = 0
  let digits = 0
  let digitRuns = 0
  for (const [run] of value.matchAll(/[A-Z]?[a-z]+|[A-Z]+|\d+/g)) {
    length += run.length
    runs++
    if (run.charCodeAt(0) > 57) continue
    digits += run.length
    digitRuns++
  }
  if (length < 12) return false
  if (digits === length) return true
  if (length / runs <= 3.2) return digits >= 2 || runs >= 8
  // Base32 and base36 have longer runs of letters, but digits throughout.
  return length / runs <= 5 && digitRuns >= 3 && !/[-_.:/]/.test(value)
}

/** 13 to 19 digits with the prefix of a card network and a valid Luhn check digit. */
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
