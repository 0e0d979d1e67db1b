import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { keyStrength } from './keys.ts'
import { findPlaceholders, isPlaceholder } from './placeholder.ts'
import { createRedactor } from './redact.ts'

const fingerprint = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 10)
const redactor = createRedactor({}, fingerprint)
const openai = ['sk', 'proj', 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9t'].join('-')

test('P1 redacts by key name whatever the string is, and nothing but strings', () => {
  const input = {
    password: 'x',
    apiKey: ['one', 'two', 3, ''],
    'X-Api-Key': 'abc',
    client_secret: { nested: 'plain' },
    secret: 42,
    access_token: null,
    refresh_token: '',
  }
  const { value, redacted } = redactor.value(input)
  expect(value).toEqual({
    password: `[redacted:password:${fingerprint('x')}]`,
    apiKey: [`[redacted:api-key:${fingerprint('one')}]`, `[redacted:api-key:${fingerprint('two')}]`, 3, ''],
    'X-Api-Key': `[redacted:api-key:${fingerprint('abc')}]`,
    client_secret: { nested: 'plain' },
    secret: 42,
    access_token: null,
    refresh_token: '',
  })
  expect(redacted).toBe(4)
})

test.each([
  [
    'password',
    'passwd',
    'passphrase',
    'secret',
    'client_secret',
    'clientSecret',
    'api_key',
    'apiKey',
    'x-api-key',
  ],
  [
    'OPENAI_API_KEY',
    'access_token',
    'accessToken',
    'refresh_token',
    'id_token',
    'session_token',
    'authorization',
  ],
  [
    'Proxy-Authorization',
    'cookie',
    'Set-Cookie',
    'private_key',
    'privateKey',
    'AWS_SECRET_ACCESS_KEY',
    'passcode',
  ],
  [
    'auth_key',
    'signing_key',
    'encryptionKey',
    'master-key',
    'service_role_key',
    'auth_token',
    'botToken',
    'apiKeys',
  ],
])('P1 the prefilter sees the key names %s, …', (...names) => {
  for (const name of names) {
    expect([name, redactor.value({ [name]: 'x' }).redacted]).toEqual([name, 1])
    expect(keyStrength(name)).toBe('hard')
  }
})

test('P1 soft key names need a value that looks generated', () => {
  const generated = 'a1b2c3d4e5f6a7b8c9'
  for (const name of ['token', 'jwt', 'db_pwd', 'auth', 'accessKey', 'account_key', 'credentials'])
    expect([name, redactor.value({ [name]: generated }).redacted]).toEqual([name, 1])
  for (const [name, text] of [
    ['token', ' Hello'],
    ['pwd', '/home/me/work1234'],
    ['nextPageToken', generated],
  ] as const)
    expect(redactor.value({ [name]: text }).redacted).toBe(0)
})

test('P1 keeps counts, names and look-alike keys', () => {
  const clean: JsonValue = {
    input_tokens: 1,
    max_tokens: 2,
    tokens: ['the', 'word'],
    token_count: '12',
    tokenizer: 'cl100k_base',
    author: 'Jane',
    authority: 'eu',
    secretary: 'Bob',
    cookie_policy: 'strict',
    password_policy: 'long',
  }
  expect(redactor.value(clean)).toEqual({ value: clean, redacted: 0 })
  expect(redactor.value(clean).value).toBe(clean)
})

test('P1 redacts only the password of a URL', () => {
  const url = 'postgres://user:s3cr3t@host:5432/db'
  expect(redactor.text(url)).toBe(
    `postgres://user:[redacted:url-password:${fingerprint('s3cr3t')}]@host:5432/db`,
  )
})

test('P1 redacts object keys, copies only what changed and never mutates', () => {
  const input = { kept: { deep: ['same'] }, map: { [openai]: 1 } }
  const { value } = redactor.value(input)
  expect(value).toEqual({ kept: input.kept, map: { [`[redacted:openai-key:${fingerprint(openai)}]`]: 1 } })
  expect((value as typeof input).kept).toBe(input.kept)
  expect(Object.keys(input.map)).toEqual([openai])
})

test('P1 keeps an own key named __proto__', () => {
  const input = JSON.parse(`{"__proto__": {"password": "x"}}`) as JsonValue
  expect(JSON.stringify(redactor.value(input).value)).toBe(
    `{"__proto__":{"password":"[redacted:password:${fingerprint('x')}]"}}`,
  )
})

test('P1 sees through JSON inside strings, at several levels', () => {
  const inner = JSON.stringify({ api_key: 'a "quoted" b', city: 'Bern' })
  const { value } = redactor.value({ arguments: JSON.stringify({ inner }), inner })
  expect(JSON.stringify(value)).not.toContain('quoted')
  expect(JSON.stringify(value)).toContain('Bern')
})

test('P2 equal secrets stay equal, found by key or by shape', () => {
  const { value } = redactor.value({ api_key: openai, note: `use ${openai} please` })
  const place = `[redacted:openai-key:${fingerprint(openai)}]`
  expect(value).toEqual({ api_key: place, note: `use ${place} please` })
})

test('P2 placeholders are recognised and found with their paths', () => {
  const place = `[redacted:jwt:${fingerprint('x')}]`
  expect(isPlaceholder(place)).toBe(true)
  expect(isPlaceholder(`a ${place}`)).toBe(false)
  expect(findPlaceholders({ a: [1, `see ${place}`], b: 'clean', [place]: 1 })).toEqual([
    '$.a[1]',
    `$["${place}"]`,
  ])
})

test('P1 takes rules by key, by path and by pattern, and a function that comes last', () => {
  const own = createRedactor(
    {
      rules: [
        { kind: 'internal', key: /^x-/ },
        { kind: 'name', path: '$.users[*].name' },
        { kind: 'deep', path: '$.**.ssn' },
        { kind: 'ticket', pattern: /^T-\d+$/, validate: (text) => text !== 'T-0' },
      ],
      redact: (text, path) => (path.at(-1) === 'shout' ? text.toUpperCase() : text),
    },
    () => 'f',
  )
  const { value, redacted } = own.value({
    'x-a': 'b',
    users: [{ name: 'Jane', age: 3 }],
    a: { b: [{ ssn: '1' }] },
    t: ['T-12', 'T-0', 'see T-12'],
    shout: 'hey',
  })
  expect(value).toEqual({
    'x-a': '[redacted:internal:f]',
    users: [{ name: '[redacted:name:f]', age: 3 }],
    a: { b: [{ ssn: '[redacted:deep:f]' }] },
    t: ['[redacted:ticket:f]', 'T-0', 'see T-12'],
    shout: 'HEY',
  })
  expect(redacted).toBe(5)
  expect(() => createRedactor({ rules: [{ kind: 'x', path: 'a..b' }] }, () => 'f')).toThrow('cannot be read')
  expect(() => createRedactor({ rules: [{ kind: 'a]b', key: /x/ }] }, () => 'f')).toThrow('placeholder')
})

test('P1 personal data only by choice', () => {
  const text = 'jane.doe@example.org, +49 30 901820, (555) 123-4567, DE89 3704 0044 0532 0130 00, 078-05-1120'
  expect(redactor.text(text)).toBe(text)
  const personal = createRedactor({ policies: ['personal'] }, () => 'f')
  expect(personal.text(text)).toBe(
    '[redacted:email:f], [redacted:phone:f], [redacted:phone:f], [redacted:iban:f], [redacted:us-ssn:f]',
  )
  for (const clean of ['2025-11-15', '192.168.100.200', 'v1.2.3', '1731662700000', '@decorator', 'a@b'])
    expect(personal.text(clean)).toBe(clean)
})

test('P1 off means off', () => {
  const off = createRedactor(false, fingerprint)
  const input = { password: openai }
  expect(off.value(input)).toEqual({ value: input, redacted: 0 })
  expect(off.text(openai)).toBe(openai)
  expect(off.stream().push(openai)).toBe(openai)
})

describe('secrets that somebody tells', () => {
  const tell = createRedactor({}, () => 'f')
  const made = 'a1B2c3D4'.repeat(5)
  test.each([
    ['my password is hunter2', 'my password is [redacted:password:f]'],
    [
      'the password for the staging db is Tr0ub4dor&3.',
      'the password for the staging db is [redacted:password:f].',
    ],
    ['**Password:** `Xk9!ppq2`', '**Password:** `[redacted:password:f]`'],
    ['| password | Xk9ppq2z |', '| password | [redacted:password:f] |'],
    [
      'Das Passwort für den Server lautet geheim77',
      'Das Passwort für den Server lautet [redacted:password:f]',
    ],
    ['le mot de passe est Soleil42!', 'le mot de passe est [redacted:password:f]'],
    ['la contraseña es Verano2025', 'la contraseña es [redacted:password:f]'],
    ['密码是Abc12345', '密码是[redacted:password:f]'],
    ['reset the password for bob to N3wPass77', 'reset the password for bob to [redacted:password:f]'],
    ["ALTER USER app PASSWORD 'Winter2024+'", "ALTER USER app PASSWORD '[redacted:password:f]'"],
    ["CREATE USER a IDENTIFIED BY 'swordfish'", "CREATE USER a IDENTIFIED BY '[redacted:password:f]'"],
    ['machine h login bob password swordfish', 'machine h login bob password [redacted:password:f]'],
    ['the passphrase is "correct horse battery staple"', 'the passphrase is "[redacted:password:f]"'],
    ['the PIN of the door is 9921.', 'the PIN of the door is [redacted:pin:f].'],
    ['your verification code is 482 193', 'your verification code is [redacted:pin:f]'],
    ['the Datadog key is 0123456789abcdef0123456789abcdef', 'the Datadog key is [redacted:api-key:f]'],
    [`<ddApiKey>${made}</ddApiKey>`, '<ddApiKey>[redacted:api-key:f]</ddApiKey>'],
    [`config.set('api_key', '${made}')`, "config.set('api_key', '[redacted:api-key:f]')"],
    [`os.environ["API_KEY"] = "${made}"`, 'os.environ["API_KEY"] = "[redacted:api-key:f]"'],
    [`Authorization: SSWS 00${made}`, 'Authorization: SSWS [redacted:okta-token:f]'],
  ])('P1 %s', (given, expected) => {
    expect(tell.text(given)).toBe(expected)
  })

  test.each([
    'the password is forgotten',
    'The password is stored as sha256',
    'password length is 1024',
    'Ich habe mein Passwort vergessen, das Passwort ist falsch',
    "j'ai oublié mon mot de passe",
    'la contraseña es incorrecta',
    'The PIN of the map, pin 13 of the chip',
    'give me the password to server01',
    'the status code is 40401',
    'the token is expired, the key is to begin',
    'primary key is 0b1c2d3e-0000-4000-8000-0123456789ab',
    'that you have this will can all what that you have done for the cat',
  ])('P1 leaves "%s"', (text) => {
    expect(tell.text(text)).toBe(text)
  })
})

describe('keys without a mark', () => {
  const find = createRedactor({}, () => 'f')
  const made = 'q7Rk2ZpW9xLb4TnV6yHd1McJ8sGf3BaQ5eUo0Xiw'
  test.each([`using ${made} for it`, `| it | ${made} |`, `FOO=${made}`, `x\\n${made}\\ny`, `"${made}".`])(
    'P1 are found in %j',
    (text) => {
      expect(find.text(text)).not.toContain(made)
      expect(find.value({ text }).redacted).toBe(1)
    },
  )

  test.each<[JsonValue]>([
    [{ fileId: made, ids: [made], etag: made, signature: made }],
    [`file ${made}`],
    [`"fileId": "${made}"`],
    [`https://docs.example/d/${made}/edit?x=${made}`],
    [`msg_${made}`],
    [`${made}==`],
    ['getUserByIdV2FromDatabaseWithCache3AndRetry'],
    ['_ZNSt6vectorIiSaIiEE9push_backEOi12345678901'],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    [Buffer.from('gid://shop/Product/1234567890123456').toString('base64').replaceAll('=', '')],
    [`${'aB3'.repeat(21)}x\n${'aB3'.repeat(21)}x\n${made}`],
  ])('P1 are not ids, digests, symbols or blocks: %j', (value) => {
    expect(find.value(value).value).toBe(value)
  })
})

describe('a name beside its value', () => {
  const redactor = createRedactor({}, () => 'f')
  test.each([
    [
      'entries of a map',
      {
        headers: [
          ['accept', 'json'],
          ['x-api-key', 'abc'],
        ],
      },
      {
        headers: [
          ['accept', 'json'],
          ['x-api-key', '[redacted:api-key:f]'],
        ],
      },
    ],
    [
      'a header list',
      { name: 'Authorization', value: 'abc' },
      { name: 'Authorization', value: '[redacted:authorization:f]' },
    ],
    [
      'the value before its name',
      { value: 'abc', key: 'password' },
      { value: '[redacted:password:f]', key: 'password' },
    ],
    [
      'an attribute',
      { key: 'cookie', value: { stringValue: 'a=b' } },
      { key: 'cookie', value: { stringValue: '[redacted:cookie:f]' } },
    ],
  ])('P1 is known in %s', (_, given, expected) => {
    expect(redactor.value(given).value).toEqual(expected)
  })

  test.each([
    [{ words: ['password', 'reset'] }],
    [{ name: 'password policy', value: 'twelve characters' }],
    [
      {
        steps: [
          ['open', 'the door'],
          ['read', 'the cookie policy'],
        ],
      },
    ],
    [{ name: 'password', value: 12 }],
  ])('P1 leaves %j as it is', (given) => {
    expect(redactor.value(given).value).toBe(given)
  })
})
