import { isIban } from './checks.ts'
import type { Group } from './detector.ts'

const detectors: Group['detectors'] = [
  {
    kind: 'email',
    anchor: '@(?<=[\\w%+-]@)(?=[A-Za-z0-9-]+\\.)',
    pattern:
      /(?:(?<![\w.%+-])|(?<=\\[bfnrt]))[A-Za-z0-9_%+-][\w.%+-]{0,63}(?<!\.)@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
  },
  {
    kind: 'iban',
    anchor: '\\d(?=\\d(?: ?[A-Z0-9]{4}){2} ?[A-Z0-9]{2})(?<=(?<![ac-eg-mo-qsu-zA-Z0-9])[A-Z]{2}\\d)',
    alone: true,
    pattern:
      /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])/g,
    validate: isIban,
  },
  {
    kind: 'us-ssn',
    anchor: '-(?=\\d{2}-\\d{4})(?<=\\d{3}-)',
    pattern: /(?:(?<![\w.-])|(?<=\\[nrt]))(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
  },
  {
    // International with `+`, or North American with its separators: bare digit runs are ids.
    kind: 'phone',
    anchor: '\\+\\d[\\d ().-]{6}|\\d{3}\\)?[ .-]{0,2}\\d{3}[ .-]\\d{4}',
    alone: true,
    pattern:
      /(?:(?<![\w.+-]|\d[ (])|(?<=\\[nrt]))(?:\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-]|\.\d)/g,
    validate: (text) => {
      const digits = text.replace(/\D/g, '').length
      return digits >= 8 && digits <= 15
    },
  },
]

/** By choice (P1): what names a person rather than opens a door. */
export const PERSONAL: Group = { detectors, thorough: true }
