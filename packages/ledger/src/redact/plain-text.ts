/**
 * Most strings of a payload are ids, names, times, addresses and a few words. One loop over the characters of such a short one
 * says that no detector can find anything in it, which is cheaper than to ask them. What the rules must keep to is
 * said at `isPlain`; the property tests hold them to it.
 */
const LONGEST = 128
/** From here on there is room for the words of a recovery phrase. */
const LONGEST_WORDS = 64
/** Every key, and the shortest number of a payment card, is at least as long. */
const LONG_RUN = 14
const UUID_LENGTH = 36

const [HEX, LETTER, UPPER, DIGIT, HYPHEN, JOINT, GAP] = [1, 2, 4, 8, 16, 32, 64]
const WORD = HEX | LETTER | UPPER | DIGIT | HYPHEN
const [HASH, SLASH, COLON, AT] = [35, 47, 58, 64]

/** What is in none of the classes is a sign, with which all is possible. */
const CLASS = new Uint8Array(128)
const fill = (chars: string, sort: number): void => {
  for (const char of chars) CLASS[char.charCodeAt(0)] = sort
}
fill('abcdef', HEX)
fill('ghijklmnopqrstuvwxyz', LETTER)
fill('ABCDEFGHIJKLMNOPQRSTUVWXYZ', UPPER)
fill('0123456789', DIGIT)
fill('-', HYPHEN)
fill('_/.', JOINT)
fill(' ,', GAP)

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** The colon of `https://` and of `07:00`. */
const isHarmlessColon = (text: string, at: number): boolean =>
  at > 0 &&
  (text.charCodeAt(at + 1) === SLASH ||
    (isDigit(text.charCodeAt(at + 1)) && isDigit(text.charCodeAt(at - 1))))

/** What ends the id of a step: `read#2`, `write@s3`. */
const isStepMark = (text: string, at: number): boolean =>
  at > 0 && text.length - at < 10 && /^(?:@s\d+)?(?:#\d+)?$/.test(text.slice(at))

const isHarmless = (text: string, at: number, code: number): boolean =>
  code === COLON ? isHarmlessColon(text, at) : (code === AT || code === HASH) && isStepMark(text, at)

/**
 * True for: words of letters, spaces, commas and dots, none of them long and none with a capital inside; one word without
 * spaces, in parts that are short and joined by `-`, `_`, `.` or `/`, such as the id of a step; a digest in hexadecimal; a UUID.
 */
export function isPlain(text: string): boolean {
  const { length } = text
  if (length > LONGEST) return false
  let [seen, run, longest] = [0, 0, 0]
  let inner = false
  let address = false
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127) return false
    let sort = CLASS[code] as number
    if (sort === 0) {
      if (!isHarmless(text, at, code)) return false
      if (code === COLON) address = true
      sort = JOINT
    }
    seen |= sort
    if ((sort & WORD) === 0 && code !== 95) run = 0
    else {
      if (++run > longest) longest = run
      if (sort === UPPER && run > 1) inner = true
    }
  }
  // Who knows the address of a hook may write, however short it is.
  if (address && text.includes('hook')) return false
  if (longest >= LONG_RUN) return seen === (HEX | DIGIT) || isUuid(text, seen)
  if ((seen & GAP) === 0) return true
  return (seen & (DIGIT | HYPHEN)) === 0 && !inner && length < LONGEST_WORDS && isProse(text, seen)
}

const isUuid = (text: string, seen: number): boolean =>
  text.length === UUID_LENGTH &&
  (seen & ~(HEX | DIGIT | HYPHEN)) === 0 &&
  text[8] === '-' &&
  text[13] === '-' &&
  text[18] === '-' &&
  text[23] === '-'

/** Between words nothing joins, not even a dot, as in a passphrase; a line of a netrc tells all in words, as does one about a password. */
const isProse = (text: string, seen: number): boolean =>
  ((seen & JOINT) === 0 || !/[_/:]|\.[a-zA-Z]/.test(text)) &&
  !text.includes('machine ') &&
  !text.includes('ass') &&
  !text.includes('ennwort')
