/** A pattern over whole texts: of a policy that is on by choice, or a rule of the user's. */
export interface TextRule {
  readonly kind: string
  /** With the flag g. */
  readonly pattern: RegExp
  validate?(text: string): boolean
}

/** `personal`, by choice (P1): what names a person rather than opens a door. */
export const PERSONAL: readonly TextRule[] = [
  {
    kind: 'email',
    pattern:
      /(?:(?<![\w.%+-])|(?<=\\[bfnrt]))[A-Za-z0-9_%+-][\w.%+-]{0,63}(?<!\.)@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
  },
  {
    kind: 'iban',
    pattern:
      /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])/g,
    validate: isIban,
  },
  {
    kind: 'us-ssn',
    pattern: /(?:(?<![\w.-])|(?<=\\[nrt]))(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
  },
  {
    // International with `+`, or North American with its separators: bare digit runs are ids.
    kind: 'phone',
    pattern:
      /(?:(?<![\w.+-]|\d[ (])|(?<=\\[nrt]))(?:\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-]|\.\d)/g,
    validate(text) {
      const digits = text.replace(/\D/g, '').length
      return digits >= 8 && digits <= 15
    },
  },
]

/** Country, length and check digits (ISO 13616): the remainder of the rearranged number by 97 is 1. */
function isIban(text: string): boolean {
  const iban = text.replaceAll(' ', '')
  if (iban.length < 15 || iban.length > 34) return false
  let remainder = 0
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}
