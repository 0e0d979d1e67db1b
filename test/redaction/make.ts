import { createHash, generateKeyPairSync } from 'node:crypto'

/**
 * Secrets made at run time from descriptions of their form, so that none stands in the repository. In a form,
 * `{w36}` is 36 characters of a class; everything else stands as it is. The same on every run: a chance find in
 * random text would be a failure that nobody could repeat.
 */
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'
const CLASSES: Readonly<Record<string, string>> = {
  w: LOWER + UPPER + DIGITS,
  l: LOWER + DIGITS,
  u: UPPER + DIGITS,
  a: LOWER + UPPER,
  d: DIGITS,
  x: '0123456789abcdef',
  b: `${LOWER}${UPPER}${DIGITS}+/`,
  s: `${LOWER}${UPPER}${DIGITS}_-`,
  t: `${UPPER}234567`,
  c: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
}

export interface Maker {
  /** From a form such as `ghp_{w36}`. */
  form(form: string): string
  pick(alphabet: string, size: number): string
  jwt(): string
  pem(): string
  card(prefix: string, size: number): string
  uuid(): string
}

export function createMaker(seed: string): Maker {
  let drawn = 0
  const bytes = (size: number): Buffer =>
    Buffer.concat(
      Array.from({ length: Math.ceil(size / 32) }, () =>
        createHash('sha256').update(`${seed} ${drawn++}`).digest(),
      ),
    ).subarray(0, size)
  const pick = (alphabet: string, size: number): string =>
    Array.from(bytes(size), (byte) => alphabet[byte % alphabet.length]).join('')
  const form = (text: string): string =>
    text.replace(/\{([a-z])(\d+)\}/g, (_, kind: string, size: string) =>
      pick(CLASSES[kind] ?? '', Number(size)),
    )
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return {
    form,
    pick,
    jwt: () =>
      form(`${part({ alg: 'ES256', typ: 'JWT' })}.${part({ sub: pick(DIGITS, 9), iat: 1799999999 })}.{s86}`),
    pem: () =>
      generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString()
        .trim(),
    card(prefix, size) {
      const body = prefix + pick(DIGITS, size - prefix.length - 1)
      const sum = Array.from(body)
        .toReversed()
        .reduce((total, char, at) => {
          const digit = Number(char) * (at % 2 === 0 ? 2 : 1)
          return total + (digit > 9 ? digit - 9 : digit)
        }, 0)
      return body + String((10 - (sum % 10)) % 10)
    },
    uuid: () => form('{x8}-{x4}-4{x3}-a{x3}-{x12}'),
  }
}
