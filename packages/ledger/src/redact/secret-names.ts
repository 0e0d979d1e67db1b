import type { ValueRule } from './judge-value.ts'

/** Kind of secret that a field or variable of this name holds, and what its value must look like. */
export interface SecretName extends ValueRule {
  readonly kind: string
}

const PASSWORD: SecretName = { kind: 'password', minLength: 6 }
/** Plain `token` fields also hold locks, cursors and retry tokens, usually UUIDs. */
const TOKEN: SecretName = { kind: 'token', minLength: 16, mustLookRandom: true, excludesUuid: true }
const ACCESS_TOKEN: SecretName = { kind: 'token', minLength: 16, mustLookRandom: true }
const SECRET: SecretName = { kind: 'secret', minLength: 12, mustLookRandom: true }
const API_KEY: SecretName = { kind: 'api-key', minLength: 12, mustLookRandom: true }
/** Authorization and cookie headers carry credentials only, so their values need not look random. */
export const AUTHORIZATION: SecretName = { kind: 'authorization', minLength: 8 }
export const COOKIE: SecretName = { kind: 'cookie', minLength: 8 }

/**
 * Names of secrets, as words. In text the words are joined by `_`, `-`, a space, nothing or camel case, and other words may
 * precede them: `DB_PASSWORD`, `githubToken`.
 */
// biome-ignore format: a table, one kind a row
const NAMES: readonly (readonly [name: SecretName, words: readonly string[]])[] = [
  [PASSWORD, ['password', 'passwd', 'passphrase', 'passcode', 'pwd', 'pgpassword']],
  // `pass` alone is also a render pass or a passed test.
  [PASSWORD, ['db pass', 'smtp pass', 'mail pass', 'email pass', 'user pass', 'admin pass', 'root pass', 'auth pass', 'ftp pass', 'ssh pass', 'ldap pass', 'redis pass', 'mysql pass', 'postgres pass', 'mongo pass']],
  [ACCESS_TOKEN, ['auth token', 'access token', 'refresh token', 'id token', 'session token', 'bot token', 'jwt']],
  [TOKEN, ['token']],
  [SECRET, ['secret', 'client secret', 'app secret', 'signing secret', 'webhook secret', 'shared secret']],
  [API_KEY, ['api key', 'access key', 'secret key', 'secret access key', 'secret key base', 'private key', 'auth key', 'signing key', 'encryption key', 'master key', 'account key', 'service role key']],
  [AUTHORIZATION, ['authorization']],
  [COOKIE, ['cookie']],
]

/** Every spelling of every name, in lower case. */
export const SPELLINGS: ReadonlyMap<string, SecretName> = new Map(
  NAMES.flatMap(([name, phrases]) =>
    phrases.flatMap((words) =>
      ['', '_', '-', ' '].map((joint) => [words.replaceAll(' ', joint), name] as const),
    ),
  ),
)

/** Words before `token` that make it a cursor, a part of a text, a lock or a public value. */
const OTHER_TOKEN =
  /(?:next|page|pagination|continuation|continue|sync|cursor|delta|skip|resume|change|watch|csrf|xsrf|public|key|progress|result|request|client|idempotency|scroll|query|cancellation|cancel|lock|sequence|purchase|update|stop|eos|bos|pad|unk|mask|sep|cls|special)[-_. ]?$/i

/** Characters before a name that are read to classify it. */
export const MAX_LEFT_CHARS = 96

export const isAlphanumeric = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** True if the name at `start` is a word of its own: in `dbPassword` and `DB_PASSWORD`, not in `jsonwebtoken` or `nextPageToken`. */
export function isOwnWord(text: string, start: number, name: SecretName): boolean {
  const before = start === 0 ? 0 : text.charCodeAt(start - 1)
  const first = text.charCodeAt(start)
  const startsCamelWord = first >= 65 && first <= 90 && !(before >= 65 && before <= 90)
  if (isAlphanumeric(before) && !startsCamelWord) return false
  const left = text.slice(Math.max(0, start - MAX_LEFT_CHARS), start)
  if (name === TOKEN && OTHER_TOKEN.test(left.slice(-24))) return false
  // Not a placeholder (`[redacted:token:…]`) and not a type (`AWS::IAM::AccessKey`).
  return !/(?:\[redacted:|::)[\w-]*$/.test(left)
}

const LAST_WORD = /(?:word|wd|phrase|code|pass|secret|token|jwt|key|base|authorization|cookie)$/i
const MAX_FIELD_CHARS = 128

/** Secret that a field of this name holds; undefined for any other field. */
export function secretField(field: string): SecretName | undefined {
  if (field.length > MAX_FIELD_CHARS || !LAST_WORD.test(field)) return undefined
  const lower = field.toLowerCase()
  for (const [spelling, name] of SPELLINGS)
    if (lower.endsWith(spelling) && isOwnWord(field, field.length - spelling.length, name)) return name
  return undefined
}

export const isCardField = (field: string): boolean =>
  /(?:^|[^a-z])(?:credit|debit|bank)?[-_ ]?card[-_ ]?(?:no|num|number)?$|^(?:pan|cc[-_]?(?:no|num|number))$/i.test(
    field,
  )
