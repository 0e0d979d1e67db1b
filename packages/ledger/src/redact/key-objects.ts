import { isGenerated } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isOwned } from './keys.ts'

/** Objects of JSON that are keys as a whole: the other members say what one of them is. */

const QUOTE = `\\\\{0,9}["']`
/** The members of a JSON Web Key that only its owner has. */
const PRIVATE = '(?:d|p|q|dp|dq|qi|k)'
const LONGEST_OBJECT = 6000

/** Another member of a JSON Web Key stands before this one, in the same object. */
const isInWebKey = (_: string, { input, index }: RegExpExecArray): boolean => {
  const before = input.slice(Math.max(0, index - LONGEST_OBJECT), index)
  return new RegExp(`(?:kty|crv|kid|[ne])${QUOTE} {0,2}:`).test(before.slice(before.lastIndexOf('{') + 1))
}

export const isWebKey = (source: Readonly<Record<string, unknown>>): boolean =>
  typeof source['kty'] === 'string'
const PRIVATE_NAME = new RegExp(`^${PRIVATE}$`)
export const isPrivateMember = (name: string): boolean => PRIVATE_NAME.test(name)

const SHORT_FLAGS: Readonly<Record<string, string>> = {
  sshpass: '-p',
  mongosh: '-p',
  mongodump: '-p',
  mongorestore: '-p',
  'redis-cli': '-a',
  ldapsearch: '-w',
  sqlcmd: '-P',
  mosquitto_pub: '-P',
  mosquitto_sub: '-P',
  zip: '-P',
  unzip: '-P',
  curl: '-u',
}
const LONG_FLAG = /^--?[\w.-]*(?:password|passwd|passphrase|requirepass|token|secret|api-?key)$/i

/** `["sshpass", "-p", "…"]`, `["--password", "…"]`: an argument after which the secret comes. */
export const isSecretFlag = (flag: unknown, tool: unknown): boolean =>
  typeof flag === 'string' &&
  flag.startsWith('-') &&
  (LONG_FLAG.test(flag) ||
    isOwned(flag.replace(/^--?/, '')) ||
    (typeof tool === 'string' && SHORT_FLAGS[tool] === flag))

export const keyObjects: readonly Detector[] = [
  simple(
    'private-key',
    `:(?<=["']${PRIVATE}${QUOTE} {0,2}.)(?= {0,2}${QUOTE}[\\w-]{20})`,
    `(?<=["'])${PRIVATE}${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[\\w-]{20,4096})`,
    isInWebKey,
  ),
  simple(
    'private-key',
    [],
    `(?<=["'])${PRIVATE}${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[\\w-]{20,1024})(?=${QUOTE},[^{}]{0,1200}?kty${QUOTE})`,
  ),
  // `{ "keyName": "key1", "value": "…" }`, as Azure lists those of a storage account.
  simple(
    'api-key',
    `[vV](?=alue${QUOTE} {0,2}: {0,2}${QUOTE}[\\w+/=-]{24})(?<=[kK]ey[nN]ame${QUOTE}[^{}]{0,160}.)`,
    `[kK]ey[nN]ame${QUOTE}[^{}]{0,160}?[vV]alue${QUOTE} {0,2}: {0,2}${QUOTE}(?<secret>[\\w+/=-]{24,512})(?=${QUOTE})`,
    isGenerated,
  ),
]
