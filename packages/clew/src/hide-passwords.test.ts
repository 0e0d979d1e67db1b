import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hidePasswords } from './hide-passwords.ts'

it.each([
  ['postgresql://ann:PW@db.example:5432/agents', 'postgresql://ann:***@db.example:5432/agents'],
  ['postgres://:PW@db.example/agents', 'postgres://:***@db.example/agents'],
  ['postgres://ann:PW@one:5432,two:5432/agents', 'postgres://ann:***@one:5432,two:5432/agents'],
  ['POSTGRES://ann:PW@db.example/agents', 'POSTGRES://ann:***@db.example/agents'],
  ['https://ann:PW@clew.example', 'https://ann:***@clew.example'],
  [
    'postgres://db/agents?user=ann&password=PW&schema=s',
    'postgres://db/agents?user=ann&password=***&schema=s',
  ],
  ['postgres://db/agents?sslpassword=PW', 'postgres://db/agents?sslpassword=***'],
  ['https://clew.example/?access_token=PW#x', 'https://clew.example/?access_token=***#x'],
  // Signs of a password that were not encoded.
  ['postgres://ann:PW@PW@db.example/agents', 'postgres://ann:***@db.example/agents'],
  ['postgres://ann:PW/PW?PW#PW@db.example/agents', 'postgres://ann:***@db.example/agents'],
  ['postgres://ann:PW:PW@db.example/agents', 'postgres://ann:***@db.example/agents'],
  [
    "Unknown command 'postgres://ann:PW@db/agents'. See help.",
    "Unknown command 'postgres://ann:***@db/agents'. See help.",
  ],
])('P3 %s is shown without its password', (text, shown) => {
  expect(hidePasswords(text)).toBe(shown)
})

it.each([
  'sqlite:.clew/ledger.db',
  'sqlite:/data/a:b@c.db',
  'sqlite:///data/a:b@c.db',
  'memory:',
  'Use postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
  'http://localhost:2539',
  'The server http://localhost:2539 answered ann@example.org',
  'postgres://ann@db.example:5432/agents?schema=mine&sslmode=require',
])('%s has no password and stays', (text) => expect(hidePasswords(text)).toBe(text))

it('P3 no password of a well-formed URL is left, whatever is in it', () => {
  const password = fc.string({ minLength: 1 }).map((text) => `<${text}>`)
  fc.assert(
    fc.property(password, (secret) => {
      const url = new URL('postgres://ann@db.example/agents')
      url.password = secret
      expect(hidePasswords(url.href)).toBe('postgres://ann:***@db.example/agents')
    }),
  )
})
