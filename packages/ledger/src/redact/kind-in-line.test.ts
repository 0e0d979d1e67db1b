import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const SECRETS = ['Violet2019#', 'PirateCopper61', 'aT9!xK2$Lq']

describe('how a line ties a word to a login', () => {
  const lines = [
    'you can log in as admin with @',
    'Login with qa@example.com / @',
    'I changed the password from @ to something else',
    'FYI the mailbox pw got changed to @ yesterday',
    'Just type @ when it asks for the password.',
    'Router login is admin/@',
    '[Alice 10:02] the prod password?\n[Bob 10:03] @',
    'Password\n\n    @',
    'The SNMP community is @',
    'ACL SETUSER app on >@ ~* +@all',
    'bot@example.com:@',
    "btoa('bob:@')",
    'db_password%3D@%26x%3D1',
  ]
  test.each(lines)('P1 is found: %s', (line) => {
    for (const secret of SECRETS) {
      // An address escapes these signs.
      if (line.includes('%') && /[#$!]/.test(secret)) continue
      const text = line.replace(
        line.includes('@example.com:@') ? /@$/ : / @|(?<=[>/:'D])@(?!example)/,
        (found) => found.replace('@', () => secret),
      )
      expect(text).toContain(secret)
      expect([text, redactor.text(text).includes(secret)]).toEqual([text, false])
    }
  })

  test.each([
    'Log in with GitHub and OAuth2',
    'You are logged in as bob with 12 roles',
    'changed the password policy from 8 to 12 characters',
    'I changed the password hashing from bcrypt to argon2id',
    'use bcrypt12 as the password hash',
    'use OAuth2 if password login is disabled',
    'contact bob@example.com / alice@example.com',
    'git clone git@github.com:acme/app.git',
    'The SNMP community is public by default.',
    '[Alice 10:02] did you reset your password?\n[Bob 10:03] yes',
    'redirect=https%3A%2F%2Fx.example.com%2Freset%3Fpassword%3Dtrue',
  ])('P1 is left where none is told: %s', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})

test('P1 a name inside of what was no find is asked about too', () => {
  expect(redactor.text('password: password: Violet2019#')).toBe('password: password: [redacted:password:f]')
})

test('P1 T4 the kind of a placeholder speaks for nobody, also when its end was cut off', () => {
  const text = '[redacted:password:0123456789] word2024 and [redacted:password:0123456 then word2025'
  expect(redactor.text(text)).toBe(text)
  const stream = redactor.stream()
  expect(Array.from(text, (char) => stream.push(char)).join('') + stream.end()).toBe(text)
})

test('P1 the short address of a hook is no plain text', () => {
  expect(redactor.text('https://hooks.zapier.com/hooks/catch/123456/kt8vzq2')).not.toContain('kt8vzq2')
})
