import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'
import { HOLD_LIMIT } from './stream.ts'

const fingerprint = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 10)
const redactor = createRedactor({}, fingerprint)
const label = ['RSA', 'PRIVATE', 'KEY'].join(' ')

test('T4 a stream lets ordinary prose flow, holding only the unfinished word', () => {
  const stream = redactor.stream()
  expect(stream.push('Seventeen tawny wo')).toBe('Seventeen tawny ')
  expect(stream.push('lves ran. 日本語の文')).toBe('wolves ran. 日本語の文')
  expect(stream.push(' password: ')).toBe(' password: ')
  expect(stream.push('hunter22')).toBe('')
  expect(stream.push(' ok ') + stream.end()).toBe(`[redacted:password:${fingerprint('hunter22')}] ok `)
})

test('T4 a stream waits for what is told, and for the rest of a recovery phrase', () => {
  const stream = redactor.stream()
  expect(stream.push('so the password is ')).toBe('so the password is ')
  expect(stream.push('"correct horse ')).toBe('')
  expect(stream.push('battery staple", wolves ran. ')).toBe(
    `"[redacted:password:${fingerprint('correct horse battery staple')}]", wolves ran. `,
  )
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  const shown = [stream.push(`ok: ${words.slice(0, 40)}`), stream.push(`${words.slice(40)} `), stream.end()]
  expect(shown[0]).toBe('ok: ')
  expect(shown.join('')).toBe(`ok: [redacted:recovery-phrase:${fingerprint(words)}] `)
})

test('T4 a private key that never ends is withheld beyond the limit, not leaked', () => {
  const stream = redactor.stream()
  let out = stream.push(`see -----BEGIN ${label}-----\n`)
  const line = `${'MIIEpQ7+/aB3'.repeat(5)}\n`
  for (let sent = 0; sent < HOLD_LIMIT * 3; sent += line.length) out += stream.push(line)
  out += stream.push('----') + stream.push(`-END ${label}`) + stream.push('----- and on ') + stream.end()
  expect(out).toMatch(/^see \[redacted:private-key:\w{10}\] and on $/)
})

test('P1 both of two commands in a line are redacted, whole and in pieces', () => {
  const line = 'sshpass -p "hunter22" ssh bob@host sshpass -p "marble47" ssh bob@host '
  const stream = redactor.stream()
  expect(stream.push(line.slice(0, 22)) + stream.push(line.slice(22)) + stream.end()).toBe(
    redactor.text(line),
  )
  expect(redactor.text(line)).not.toMatch(/hunter22|marble47/)
})

test('T4 what stands before a private key in the same word waits for it, and tables that come at once are seen', () => {
  const personal = createRedactor({ policies: ['secrets', 'personal'] }, fingerprint)
  const texts = [
    `078-05-1120-----BEGIN ${label}-----\n${'aB3'.repeat(14)}\n a; `,
    "INSERT INTO users (email, password) VALUES ('b', 'Marble#47lantern') and on ",
  ]
  for (const text of texts)
    for (const size of [1, 4, text.length]) {
      const stream = personal.stream()
      let out = ''
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size))
      expect(out + stream.end()).toBe(personal.text(text))
      expect(out).not.toMatch(/078-05|Marble/)
    }
})

test('T4 a rule of the user does not let out a private key line by line', () => {
  const own = createRedactor({ rules: [{ kind: 'order', pattern: /ORD-\d{6}/ }] }, fingerprint)
  const stream = own.stream()
  const lines = [
    `-----BEGIN ${label}-----`,
    'MIIEpQ7aB3'.repeat(6),
    `-----END ${label}-----`,
    'ORD-123456',
    '',
  ]
  const out = lines.map((line) => stream.push(`${line}\n`)).join('') + stream.end()
  expect(out).toBe(own.text(`${lines.join('\n')}\n`))
  expect(out).not.toContain('MIIE')
})

test('T4 the head of a long table still counts when its last rows come', () => {
  const head = '| User | Password |\n|---|---|\n'
  const rows = Array.from({ length: 60 }, (_, i) => `| somebody with a name ${i} | Marble#47lantern${i} |\n`)
  const stream = redactor.stream()
  const out = [head, ...rows].map((row) => stream.push(row)).join('') + stream.end()
  expect(out).not.toContain('Marble')
  expect(out).toBe(redactor.text(head + rows.join('')))
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
