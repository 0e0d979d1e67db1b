import { alignRedacted, createRedactor, recut, redactBody } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeText } from './text.ts'

const redactor = createRedactor({ rules: [{ kind: 'badge', key: /^badge$/ }] }, (secret) =>
  secret.length.toString(16),
)
const SECRETS = [
  ['sk', 'proj', 'Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1Jk3'].join('-'),
  ['ghp', 'Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1J'].join('_'),
] as const

const prose = fc.constantFrom(
  'the owl ',
  'sees ',
  'seven mice, ',
  'na\u00efve \u{1f989} ',
  '\n',
  '{"a": 1} ',
  '[redacted:x:1] ',
)
const text = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: prose },
      { weight: 1, arbitrary: fc.constantFrom(...SECRETS.map((each) => `${each} `)) },
    ),
  )
  .map((parts) => parts.join(''))
const cuts = fc.array(fc.nat(9), { minLength: 1, maxLength: 40 })

/** The text in pieces of these lengths, over and over. */
function cut(whole: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  for (let [at, n] = [0, 0]; at < whole.length; n++) {
    const length = (lengths[n % lengths.length] ?? 0) + (n % lengths.length === 0 ? 1 : 0)
    pieces.push(whole.slice(at, at + length))
    at += length
  }
  return pieces
}

describe('redaction of what came in chunks', () => {
  it('P1 the chunks together are the redacted whole, however it was cut', () => {
    fc.assert(
      fc.property(text, cuts, (whole, lengths) => {
        const pieces = cut(whole, lengths)
        const clean = recut(pieces, redactBody(whole, 'text/plain', redactor))
        expect(clean.join('')).toBe(redactor.text(whole))
        expect(clean.length).toBe(pieces.length)
        for (const secret of SECRETS) expect(clean.join('')).not.toContain(secret)
      }),
      { numRuns: 300 },
    )
  })

  it('D4 chunks that lie before a secret, or after it, stay as they were', () => {
    const pieces = ['one ', 'two ', `key ${SECRETS[0].slice(0, 9)}`, SECRETS[0].slice(9), ' three', ' four']
    const clean = recut(pieces, redactBody(pieces.join(''), 'text/plain', redactor))
    expect(clean.slice(0, 2)).toEqual(['one ', 'two '])
    expect(clean[2]).toBe('key ')
    expect(clean[3]).toMatch(/^\[redacted:[a-z0-9-]+:[0-9a-f]+\]$/)
    expect(clean.slice(4)).toEqual([' three', ' four'])
  })

  it('P1 JSON goes by its keys, lines of JSON one by one and by what they spell together', () => {
    const json = JSON.stringify({ badge: 'B-4711', other: 'kept' })
    expect(recut([json], redactBody(json, 'application/json', redactor))[0]).toMatch(
      /^\{"badge":"\[redacted:badge:\w+\]","other":"kept"\}$/,
    )
    const tokens = SECRETS[0].match(/.{1,6}/g) ?? []
    const event = (content: string, more: object = {}): string =>
      `data: ${JSON.stringify({ id: 'a1', delta: { content }, ...more })}\n\n`
    const events = [
      event('it is '),
      ...tokens.map((token) => event(token)),
      event(' indeed'),
      event('', { badge: 'B-0815' }),
      'data: [DONE]\n\n',
    ]
    const clean = recut(events, redactBody(events.join(''), 'text/event-stream', redactor))
    const said = clean
      .flatMap((each) =>
        each.startsWith('data: {') ? [JSON.parse(each.slice(6)) as { delta: { content: string } }] : [],
      )
      .map(({ delta }) => delta.content)
    expect(said.join('')).toMatch(/^it is \[redacted:[a-z0-9-]+:\w+\] indeed$/)
    expect(clean[0]).toBe(events[0])
    expect(clean.at(-1)).toBe(events.at(-1))
    expect(clean.join('')).not.toContain('B-0815')
    for (const token of tokens.slice(2)) expect(clean.join('')).not.toContain(token)
  })

  it('P1 a rule that rewrites everything is taken as it is', () => {
    expect(alignRedacted('abc', 'xyz')).toEqual([{ start: 0, end: 3, text: 'xyz' }])
    expect(alignRedacted('a b', 'a [redacted:k:1] c')).toEqual([
      { start: 0, end: 3, text: 'a [redacted:k:1] c' },
    ])
    const upper = createRedactor({ redact: (each) => each.toUpperCase() }, () => '1')
    expect(recut(['ab', 'cd'], redactBody('abcd', 'text/plain', upper)).join('')).toBe('ABCD')
  })
})

describe('text that came in bytes', () => {
  it('D4 has the same bytes again, wherever it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), cuts, (whole, lengths) => {
        const bytes = new TextEncoder().encode(`\ufeff${whole}`)
        const pieces: Uint8Array[] = []
        for (let at = 0; at < bytes.length; ) {
          const length = (lengths[pieces.length % lengths.length] ?? 0) + 1
          pieces.push(bytes.subarray(at, at + length))
          at += length
        }
        expect(new TextEncoder().encode((decodeText(pieces) ?? []).join(''))).toEqual(bytes)
      }),
      { numRuns: 100 },
    )
  })

  it('D4 is not taken for text when it is none', () => {
    expect(decodeText([Uint8Array.from([0xff, 0xfe])])).toBeUndefined()
    expect(decodeText([Uint8Array.from([0xe2, 0x80])])).toBeUndefined()
    expect(decodeText([])).toEqual([])
  })
})
