import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { keyStrength } from './keys.ts'
import { findPlaceholders, isPlaceholder } from './placeholder.ts'
import { createRedactor } from './redact.ts'
import { HOLD_LIMIT } from './stream.ts'

const fingerprint = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 10)
const redactor = createRedactor({}, fingerprint)
const openai = ['sk', 'proj', 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9t'].join('-')
const label = ['RSA', 'PRIVATE', 'KEY'].join(' ')

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

test('P1 hostile text of 1 MB finishes', () => {
  const pieces = [
    'a',
    '-',
    'sk-',
    '=',
    '4',
    '4111 ',
    'eyJ',
    'eyJaaaaaaaa.',
    'password=',
    'password":"',
    '://a:',
  ]
  const more = [
    'cookie:a=b;',
    `-----BEGIN ${label}-----`,
    '--a-a-',
    'A_',
    'M',
    '\\',
    'bearer ',
    '[redacted:a:b]',
    '+1 ',
  ]
  for (const piece of [...pieces, ...more]) {
    const text = `${piece.repeat(1_000_000 / piece.length)} password: hunter22`
    expect(redactor.text(text).includes('hunter22'), piece).toBe(false)
  }
})

test('T4 a stream lets ordinary prose flow, holding only the unfinished word', () => {
  const stream = redactor.stream()
  expect(stream.push('The quick brown fo')).toBe('The quick brown ')
  expect(stream.push('x jumps. 日本語の文')).toBe('fox jumps. 日本語の文')
  expect(stream.push(' the password is ')).toBe(' the password is ')
  expect(stream.push('password: ')).toBe('')
  expect(stream.push('hunter22 ok ')).toBe(`password: [redacted:password:${fingerprint('hunter22')}] ok `)
  expect(stream.end()).toBe('')
})

test('T4 a private key that never ends is withheld beyond the limit, not leaked', () => {
  const stream = redactor.stream()
  let out = stream.push(`see -----BEGIN ${label}-----\n`)
  const line = `${'MIIEpQ7+/aB3'.repeat(5)}\n`
  for (let sent = 0; sent < HOLD_LIMIT * 3; sent += line.length) out += stream.push(line)
  out += stream.push('----') + stream.push(`-END ${label}`) + stream.push('----- and on ') + stream.end()
  expect(out).toMatch(/^see \[redacted:private-key:\w{10}\] and on $/)
})

test('T4 a word longer than the limit is let go in bounded pieces', () => {
  const stream = redactor.stream()
  const whole = 'abcdefgh'.repeat(HOLD_LIMIT)
  let out = ''
  for (let at = 0; at < whole.length; at += 4096) {
    out += stream.push(whole.slice(at, at + 4096))
    expect(at + 4096 - out.length).toBeLessThanOrEqual(HOLD_LIMIT)
  }
  expect(out + stream.end()).toBe(whole)
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
