import { isTemplate } from './checks.ts'
import { isNameWord } from './passphrase.ts'
import { isCertain } from './plain-words.ts'

/** Words that somebody joined for a password, without a number that would tell: `jardin-Bleu`, `hallway.moss`, `Salt+Lemon`. */

const EXTENSION =
  /\.(?:pem|key|crt|cer|txt|json|ya?ml|env|conf|cfg|ini|sh|py|[cm]?[jt]sx?|jks|p12|pfx|gpg|asc|xml|md|local|lan|com|org|net|io|dev|app)$/
const JOINED = /^[A-Za-zÀ-ÿ]{2,14}(?:[-_.+&][A-Za-zÀ-ÿ]{2,14}){1,5}$/
const NAMES = /pass|secret|vault|env/i
/** What is said of a thing: `auto-generated`, `case-sensitive`, `read-only`. */
const REMARK =
  /-(?:\w+(?:ed|ing|able|ible|tive|less)|only|free|time|wide|side|out|off|in|up|set|text|use|safe|case|end|word)$/i

const SHORTHAND = /k8s|i18n|l10n|a11y|e2e|n8n|p2p|b64/gi

const wordsOf = (text: string): string[] =>
  text.split(/[^A-Za-zÀ-ÿ]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '')
/** Of such words names of things are made; one among three with a capital is none, nor one with a digit inside. */
const hasName = (text: string): boolean => {
  if (/[A-Za-z]\d+[A-Za-z]/.test(text.replace(SHORTHAND, ''))) return false
  const words = wordsOf(text)
  const names = words.filter(isNameWord).length
  return names > (words.length >= 3 && /[A-Z]/.test(text) && /[-.]/.test(text) ? 1 : 0)
}

/** Where the place alone says that it is a password, and not even a member of code can stand. */
export const isJoinedHere = (text: string): boolean =>
  isCertain(text) ||
  (text.length >= 7 && JOINED.test(text) && !EXTENSION.test(text) && !NAMES.test(text) && !hasName(text)) ||
  (text.includes('.') && /\d|[!@#$%^&*]/.test(text) && isCertain(text.replaceAll('.', '')))

/** Under the name of a password and in quotation marks: more than one word, or one with a sign or a capital inside. */
export const isJoinedInQuotes = (text: string): boolean =>
  /[-_.+&\d!#*$%@^]|[a-z][A-Z]/.test(text) &&
  isJoinedHere(text) &&
  !hasName(text) &&
  !REMARK.test(text) &&
  !isTemplate(text)

/** The same without quotation marks, as code does not write it: members begin small, and names are of one case. */
export const isJoinedBare = (text: string): boolean =>
  (/^[^_.]*[-+&]/.test(text) || /^[A-Z][a-z0-9]+[._][a-z0-9]+$|[A-Z][a-z0-9]*\.[A-Z0-9]/.test(text)) &&
  isJoinedInQuotes(text)
