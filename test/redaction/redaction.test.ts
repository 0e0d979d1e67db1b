import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../packages/ledger/src/redact/redact.ts'
import { MARKS } from '../../packages/ledger/src/redact/marks.ts'
import { SPELLINGS } from '../../packages/ledger/src/redact/secret-names.ts'
import { MUST_GO, MUST_STAY } from './cases.ts'

const redactor = createRedactor({}, () => 'f')
const PLACEHOLDER = /\[redacted:[a-z0-9-]+:f\]/

/** Where a secret turns up: alone, in prose, in JSON, escaped twice, in a query, behind an escaped line end. */
const CARRIERS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `please use ${secret} for it.`,
  (secret) => JSON.stringify({ note: secret }),
  (secret) => JSON.stringify(JSON.stringify({ note: [secret] })),
  (secret) => `a\\n${secret}\\nb`,
  (secret) => `?x=1&y=${secret}&z=2`,
  (secret) => `\u001b[33m${secret}\u001b[0m`,
  (secret) => JSON.stringify({ o: `\u001b[1m${secret}` }),
]

/** Bodies of shapes stand behind something of their own: a scheme, a word, digits. */
const LEADS: Readonly<Record<string, string>> = { 'url-password': 'postgres', 'telegram-token': '123456789' }

const samples = MARKS.flatMap(({ kind, keywords, samples: bodies }) =>
  keywords.flatMap((keyword) =>
    bodies.map((body) => ({ kind, text: `${LEADS[kind] ?? ''}${keyword}${body}` })),
  ),
)

describe('P1 marks', () => {
  test.each(MARKS.map((mark) => [mark.kind, mark.keywords[0], mark] as const))(
    '%s %s: both samples go, with each keyword',
    (kind, _, mark) => {
      for (const keyword of mark.keywords)
        for (const body of mark.samples) {
          const out = redactor.text(`${LEADS[kind] ?? ''}${keyword}${body}`)
          expect([keyword, PLACEHOLDER.exec(out)?.[0]]).toEqual([keyword, `[redacted:${kind}:f]`])
        }
    },
  )

  test.each(
    MARKS.filter(({ body }) => !body.source.includes('<secret>') && !body.source.includes('PRIVATE KEY')).map(
      (mark) => [mark.kind, mark.keywords[0] as string, mark] as const,
    ),
  )('%s %s: in every carrier, and not inside of a longer word', (kind, keyword, mark) => {
    const [body] = mark.samples
    const token = `${LEADS[kind] ?? ''}${keyword}${body}`
    for (const carry of CARRIERS) {
      const out = redactor.text(carry(token))
      expect(out).toMatch(PLACEHOLDER)
      expect(out).not.toContain(body)
    }
    if (/^[A-Za-z0-9]/.test(keyword) && !(kind in LEADS)) {
      const inside = `x${token}`
      expect(redactor.text(inside)).toBe(inside)
    }
    // One character less than the least.
    const short = token.slice(0, -1)
    expect(redactor.text(short)).toBe(short)
  })

  test('P1 a key joined to a word is found', () => {
    const { text } = samples.find(({ kind }) => kind === 'github-token') as { text: string }
    for (const joined of [`backup-${text}`, `my_${text}`, `KEY-${text}`])
      expect(redactor.text(joined)).not.toContain(text)
  })

  test('P1 a torn private key goes as far as it is there', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n'.repeat(4)}`
    expect(redactor.text(`${key}and prose goes on`)).toBe('[redacted:private-key:f]\nand prose goes on')
  })

  test('P2 a mark names a secret better than its place does', () => {
    const { text } = samples.find(({ kind }) => kind === 'anthropic-key') as { text: string }
    expect(redactor.value({ api_key: text, note: `use ${text}`, env: `API_KEY=${text}` }).value).toEqual({
      api_key: '[redacted:anthropic-key:f]',
      note: 'use [redacted:anthropic-key:f]',
      env: 'API_KEY=[redacted:anthropic-key:f]',
    })
  })
})

describe('P1 places', () => {
  test.each(MUST_GO)('%s', (text, secret) => {
    const out = redactor.text(text)
    expect(out).not.toContain(secret)
    // Nothing but the secret goes.
    expect(out.replace(PLACEHOLDER, secret)).toBe(text)
    expect(redactor.value({ text }).redacted).toBe(1)
  })

  test.each(MUST_STAY)('leaves %s', (text) => {
    expect(redactor.text(text)).toBe(text)
    const value = { text }
    expect(redactor.value(value).value).toBe(value)
  })
})

describe('P1 T4 streams', () => {
  const texts = [...samples.map(({ text }) => text), ...MUST_GO.map(([text]) => text), ...MUST_STAY]

  test('any cut gives what the whole text gives', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            ...texts,
            'a word ',
            '\n',
            '"',
            ' = ',
            'pass',
            'word',
            '-----',
            'card ',
            '密码 ',
            '\\',
            '\\"',
            'cookie:',
            'token: string',
            ' = ',
            'secret',
          ),
        ),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        fc.constantFrom('', ' ', '\n', ','),
        (parts, cuts, joint) => {
          const text = parts.join(joint)
          const stream = redactor.stream()
          let out = ''
          for (let at = 0, n = 0; at < text.length; n++) {
            const length = cuts[n % cuts.length] as number
            out += stream.push(text.slice(at, at + length))
            at += length
          }
          expect(out + stream.end()).toBe(redactor.text(text))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['the separator goes on behind the end of the text', ':apiKey: 9f86d081884c7d659a2feaa0c55ad015'],
    ['a type may be followed by its value', 'apiKey?: stringtoken = "9f86d081884c7d659a2feaa0c55ad015"'],
    [
      'a rejected mark hides the keywords in it',
      'xoxb-your-token-goes-here-123API key: 9f86d081884c7d659a2feaa0c55ad015',
    ],
  ])('cut anywhere, %s', (_, text) => {
    for (let length = 1; length < text.length; length++) {
      const stream = redactor.stream()
      let out = ''
      for (let at = 0; at < text.length; at += length) out += stream.push(text.slice(at, at + length))
      expect(out + stream.end()).toBe(redactor.text(text))
    }
  })

  test('prose is shown at once but for what a keyword may begin with', () => {
    const stream = redactor.stream()
    let shown = 0
    let mostHeld = 0
    const text =
      'Reset the password of the account, then set a new token and tell nobody about the secret. '.repeat(20)
    for (let at = 0; at < text.length; at += 4) {
      shown += stream.push(text.slice(at, at + 4)).length
      mostHeld = Math.max(mostHeld, Math.min(text.length, at + 4) - shown)
    }
    expect(mostHeld).toBeLessThanOrEqual(16)
  })

  test('what is held back has a limit, also in a text made against it', () => {
    for (const piece of [
      'password=',
      'password="',
      '.eyJ',
      '-sk',
      'test_a_live_b_',
      `xai-${'a1B'.repeat(99)}`,
    ]) {
      const stream = redactor.stream()
      let shown = 0
      let given = 0
      for (let at = 0; at < 120_000; at += 200) {
        const chunk = piece.repeat(200).slice(at % piece.length, (at % piece.length) + 200)
        given += chunk.length
        const out = stream.push(chunk)
        shown += out === '' ? 0 : given - shown
      }
      expect([piece, given - shown]).toEqual([piece, expect.any(Number)])
      expect(given - shown).toBeLessThan(80_000)
    }
  })

  test('a run of base64 without an end is not held back', () => {
    const stream = redactor.stream()
    const out = stream.push('QUJDREVG'.repeat(100_000))
    expect(out.length).toBeGreaterThan(799_900)
  })
})

describe('P1 hostile texts', () => {
  // Quadratic time would take minutes here; the bound is the test's own time-out.
  const keywords = [...new Set([...MARKS.flatMap((mark) => mark.keywords), ...SPELLINGS.keys()])]
  test.each(['', '=', ':"', '="\\"', '-', ' ', '\n', '://', '@'])(
    'every keyword, repeated with %j',
    (joint) => {
      for (const keyword of keywords) redactor.text((keyword + joint).repeat(10_000 / (keyword.length + 1)))
    },
  )

  test('half a million characters of what begins and never ends', () => {
    for (const piece of [
      'password=',
      'password="',
      'Cookie: a=b;',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ-',
      'bearer a.',
      'card 4 ',
      '\\"token\\":\\"',
      '://a:b',
      'token:token:',
    ])
      redactor.text(piece.repeat(500_000 / piece.length))
  })

  test('50 MB in one string, lone surrogates, NUL', () => {
    const long = 'const a = "b" // \ud800 \0 '.repeat(50_000_000 / 24)
    expect(redactor.text(long)).toBe(long)
  })

  test('P2 redacting twice changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(...samples.map(({ text }) => text), ...MUST_GO.map(([text]) => text), '\n', ' '),
        ),
        (parts) => {
          const once = redactor.text(parts.join(' '))
          expect(redactor.text(once)).toBe(once)
        },
      ),
      { numRuns: 500 },
    )
  })
})
