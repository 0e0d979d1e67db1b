import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { findPlaceholders, isPlaceholder } from './placeholder.ts'
import { secretField } from './secret-names.ts'
import { createRedactor } from './redact.ts'

const fingerprint = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 10)
const redactor = createRedactor({}, fingerprint)
const openai = ['sk', 'proj', 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9t'].join('-')
const key = 'a1b2c3d4e5f6a7b8c9d0'

test('P1 redacts the values of fields named like a secret, and nothing but strings', () => {
  const input = {
    password: 'hunter2',
    apiKey: [key, `${key}1`, 3, ''],
    'X-Api-Key': key,
    client_secret: { nested: 'plain' },
    secret: 42,
    access_token: null,
    refresh_token: '',
  }
  const { value, redacted } = redactor.value(input)
  expect(value).toEqual({
    ...input,
    password: `[redacted:password:${fingerprint('hunter2')}]`,
    apiKey: [`[redacted:api-key:${fingerprint(key)}]`, `[redacted:api-key:${fingerprint(`${key}1`)}]`, 3, ''],
    'X-Api-Key': `[redacted:api-key:${fingerprint(key)}]`,
  })
  expect(redacted).toBe(4)
})

test.each(
  'password passwd passphrase passcode DB_PASSWORD dbPassword secret client_secret clientSecret api_key apiKey x-api-key OPENAI_API_KEY access_token accessToken refresh_token id_token session_token botToken github-token authorization Proxy-Authorization cookie Set-Cookie private_key privateKey AWS_SECRET_ACCESS_KEY secretKey auth_key signing_key encryptionKey master-key service_role_key'.split(
    ' ',
  ),
)('P1 %s is the name of a secret', (name) => {
  expect(secretField(name)).toBeDefined()
})

test.each(
  'input_tokens max_tokens tokens token_count tokenizer nextPageToken next_page_token continuationToken csrf_token jsonwebtoken lc_secrets secrets secretary author authority cookie_policy cookies password_policy passwords key cacheKey public_key primary_key idempotency_key monkey passport compass pass'.split(
    ' ',
  ),
)('P1 %s is none', (name) => {
  expect(secretField(name)).toBeUndefined()
})

test('P1 leaves logprobs, schemas, counts and words under the names of secrets', () => {
  const clean: JsonValue = {
    logprobs: [{ token: 'x86_64-linux-gnu-12.1', logprob: -0.2, top: [{ token: ' v2', logprob: -1 }] }],
    schema: {
      type: 'object',
      properties: { password: { type: 'string', minLength: 8 }, token: { type: 'string' } },
    },
    token: 'the',
    password: 'required',
    api_key: 'OPENAI_API_KEY',
    usage: { input_tokens: 412, output_tokens: 58 },
    exports: { './cookie': './cookie.js', cookie: './dist/cookie2.js' },
    dependencies: { cookie: '^0.7.2', 'auth-token': '4.0.1' },
    nextPageToken: key,
    lc_secrets: { api_key: 'OPENAI_API_KEY2' },
  }
  expect(redactor.value(clean).value).toBe(clean)
})

test('P1 redacts object keys, copies only what changed and never mutates', () => {
  const input = { kept: { deep: ['same'] }, map: { [openai]: 1 } }
  const { value } = redactor.value(input)
  expect(value).toEqual({ kept: input.kept, map: { [`[redacted:openai-key:${fingerprint(openai)}]`]: 1 } })
  expect((value as typeof input).kept).toBe(input.kept)
  expect(Object.keys(input.map)).toEqual([openai])
})

test('P1 two keys that redaction makes equal stay two', () => {
  const f = createRedactor({ rules: [{ kind: 'n', pattern: /N-\d+/ }] }, () => 'f')
  expect(f.value({ 'N-1': 1, 'N-2': 2 }).value).toEqual({ '[redacted:n:f]': 1, '[redacted:n:f]~': 2 })
})

test('P1 keeps an own key named __proto__', () => {
  const input = JSON.parse(`{"__proto__": {"password": "hunter2"}}`) as JsonValue
  expect(JSON.stringify(redactor.value(input).value)).toBe(
    `{"__proto__":{"password":"[redacted:password:${fingerprint('hunter2')}]"}}`,
  )
})

test('P2 equal secrets stay equal, found by name or by mark', () => {
  const { value } = redactor.value({ api_key: openai, note: `use ${openai} please` })
  const place = `[redacted:openai-key:${fingerprint(openai)}]`
  expect(value).toEqual({ api_key: place, note: `use ${place} please` })
})

test('P2 a placeholder carries the fingerprint of exactly what it replaces', () => {
  const taken: string[] = []
  const spy = createRedactor({}, (secret) => {
    taken.push(secret)
    return 'f'
  })
  expect(spy.text(`Authorization: Bearer ${key}\nCookie: a=1; sid=${key}`)).toBe(
    'Authorization: Bearer [redacted:authorization:f]\nCookie: a=1; sid=[redacted:cookie:f]',
  )
  expect(taken).toEqual([key, key])
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
        { kind: 'internal', key: /^x-/g },
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
    'x-b': 'c',
    users: [{ name: 'Jane', age: 3 }],
    a: { b: [{ ssn: '1' }] },
    t: ['T-12', 'T-0', 'see T-12'],
    shout: 'hey',
  })
  expect(value).toEqual({
    'x-a': '[redacted:internal:f]',
    'x-b': '[redacted:internal:f]',
    users: [{ name: '[redacted:name:f]', age: 3 }],
    a: { b: [{ ssn: '[redacted:deep:f]' }] },
    t: ['[redacted:ticket:f]', 'T-0', 'see T-12'],
    shout: 'HEY',
  })
  expect(redacted).toBe(6)
  expect(() => createRedactor({ rules: [{ kind: 'x', path: 'a..b' }] }, () => 'f')).toThrow('cannot be read')
  expect(() => createRedactor({ rules: [{ kind: 'a]b', key: /x/ }] }, () => 'f')).toThrow('placeholder')
})

test('P1 a rule of the user that runs away is refused before it is used', () => {
  expect(() =>
    createRedactor(
      { rules: [{ kind: 'x', pattern: /^(a+)+$/ }] },
      () => 'f',
      () => performance.now(),
    ),
  ).toThrow('runs away')
})

test('P2 a rule that fits a placeholder leaves it', () => {
  const own = createRedactor({ rules: [{ kind: 'hex', pattern: /[0-9a-f]{6}/ }] }, () => '0a1b2c3d4e')
  expect(own.text('[redacted:jwt:0123456789] abcdef')).toBe(
    '[redacted:jwt:0123456789] [redacted:hex:0a1b2c3d4e]',
  )
})

describe('P1 allow', () => {
  const own = createRedactor(
    { allow: [/^sk-proj-aB3/, '$.fixtures.**'], rules: [{ kind: 'n', pattern: /N-\d+/ }] },
    () => 'f',
  )

  test('a pattern that fits what was found keeps it, in texts, fields, keys and streams', () => {
    const value = { text: `use ${openai}`, api_key: openai, [openai]: 1 }
    expect(own.value(value).value).toBe(value)
    const stream = own.stream()
    expect(stream.push(`use ${openai}`) + stream.end()).toBe(`use ${openai}`)
    expect(own.text(`use ${openai.replace('aB3', 'xB3')}`)).toContain('[redacted:')
  })

  test('a path keeps all below it, also from rules', () => {
    const { value } = own.value({
      fixtures: { password: 'hunter2', n: 'N-1' },
      password: 'hunter2',
      n: 'N-1',
    })
    expect(value).toEqual({
      fixtures: { password: 'hunter2', n: 'N-1' },
      password: '[redacted:password:f]',
      n: '[redacted:n:f]',
    })
  })

  test('a path that cannot be read is refused', () => {
    expect(() => createRedactor({ allow: ['fixtures'] }, () => 'f')).toThrow('cannot be read')
  })
})

test('P1 personal data only by choice', () => {
  const text = 'jane.doe@example.org, +49 30 901820, (555) 123-4567, DE89 3704 0044 0532 0130 00, 078-05-1120'
  expect(redactor.text(text)).toBe(text)
  const personal = createRedactor({ policies: ['personal'] }, () => 'f')
  expect(personal.text(text)).toBe(
    '[redacted:email:f], [redacted:phone:f], [redacted:phone:f], [redacted:iban:f], [redacted:us-ssn:f]',
  )
  for (const clean of [
    '2025-11-15',
    '192.168.100.200',
    'v1.2.3',
    '1731662700000',
    '@decorator',
    'a@b',
    openai,
  ])
    expect(personal.text(clean)).toBe(clean)
})

test('P1 off means off', () => {
  const off = createRedactor(false, fingerprint)
  const input = { password: openai }
  expect(off.value(input)).toEqual({ value: input, redacted: 0 })
  expect(off.text(openai)).toBe(openai)
  expect(off.stream().push(openai)).toBe(openai)
})

describe('P1 a name beside its value', () => {
  const f = createRedactor({}, () => 'f')
  test.each<[string, JsonValue, JsonValue]>([
    [
      'entries of a map',
      [
        ['accept', 'json'],
        ['x-api-key', key],
      ],
      [
        ['accept', 'json'],
        ['x-api-key', '[redacted:api-key:f]'],
      ],
    ],
    [
      'a header list',
      { name: 'Authorization', value: key },
      { name: 'Authorization', value: '[redacted:authorization:f]' },
    ],
    [
      'the value before its name',
      { value: 'hunter2', key: 'password' },
      { value: '[redacted:password:f]', key: 'password' },
    ],
    [
      'an attribute',
      { key: 'http.request.header.cookie', value: { stringValue: `a=b; sid=${key}` } },
      { key: 'http.request.header.cookie', value: { stringValue: 'a=b; sid=[redacted:cookie:f]' } },
    ],
    [
      'a list of cookies',
      { 'set-cookie': [`sid=${key}; Path=/`] },
      { 'set-cookie': ['sid=[redacted:cookie:f]; Path=/'] },
    ],
    ['a card', { card_number: '4111 1111 1111 1111' }, { card_number: '[redacted:payment-card:f]' }],
  ])('is known in %s', (_, given, expected) => {
    expect(f.value(given).value).toEqual(expected)
  })

  test.each<[JsonValue]>([
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
    [{ card_number: '4111 1111 1111 1112', card: 'visa' }],
  ])('leaves %j as it is', (given) => {
    expect(f.value(given).value).toBe(given)
  })
})

test('P1 what is remembered of clean texts hides no secret that a name or a rule gives away', () => {
  const text = `${'words that are clean '.repeat(20)}${key}`.replaceAll(' ', '-')
  const f = createRedactor({ rules: [{ kind: 'mine', path: '$.mine' }] }, () => 'f')
  for (let n = 0; n < 2; n++) expect(f.value({ note: text }).redacted).toBe(0)
  expect(f.value({ mine: text }).value).toEqual({ mine: '[redacted:mine:f]' })
})
