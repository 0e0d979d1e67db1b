import { expect, test, vi } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({ policies: ['secrets', 'personal'] }, (secret) => String(secret.length))
const label = ['RSA', 'PRIVATE', 'KEY'].join(' ')
const hostile = (piece: string, length: number): string =>
  `${piece.repeat(length / piece.length)} password: hunter22`

const shapes = [
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
  'cookie:a=b;',
  `-----BEGIN ${label}-----`,
  '--a-a-',
  'A_',
  'M',
  '\\',
  'bearer ',
  '[redacted:a:b]',
  '+1 ',
  'password is ',
  'set password ',
  'legal ',
  'machine a login ',
  'secret phrase: abc ',
  'aB3',
  "apiKey', '",
]

/** How many characters are gone through by patterns. */
function workOf(text: string): number {
  const { exec } = RegExp.prototype
  let work = 0
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, asked) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const match = exec.call(this, asked)
    const end = match ? match.index + match[0].length : this.sticky ? from : asked.length
    work += 1 + Math.max(0, end - from)
    return match
  })
  redactor.text(text)
  spy.mockRestore()
  return work
}

test.each(shapes)(
  'P1 hostile text finishes, and twice as much of it is twice the work: %j',
  (piece) => {
    expect(redactor.text(hostile(piece, 60_000))).not.toContain('hunter22')
    expect(workOf(hostile(piece, 20_000)) / workOf(hostile(piece, 10_000))).toBeLessThan(2.5)
  },
  120_000,
)

test('P1 hostile text of 1 MB finishes', () => {
  expect(redactor.text(hostile('password=', 1_000_000))).not.toContain('hunter22')
}, 120_000)

test('P1 hostile text in the places of secrets finishes, whole and in pieces', () => {
  const pieces = [
    '$ token ',
    '$ password ',
    'user,password\n',
    '| password ',
    '(password) values ',
    'password "',
    '"text":"a1b2c3" ',
  ]
  for (const piece of pieces) {
    const text = `${piece.repeat(40_000 / piece.length)}\n password: hunter22`
    expect(redactor.text(text).includes('hunter22'), piece).toBe(false)
    const stream = redactor.stream()
    let out = ''
    for (let at = 0; at < text.length; at += 4000) out += stream.push(text.slice(at, at + 4000))
    expect((out + stream.end()).includes('hunter22'), piece).toBe(false)
  }
}, 300_000)
