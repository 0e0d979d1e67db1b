import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const SECRET = 'PirateCopper61'

describe('a value whose name stands beside it or above it', () => {
  const objects: readonly JsonValue[] = [
    { db_password: { sensitive: true, type: 'string', value: SECRET } },
    { db_url: { sensitive: true, type: 'string', value: SECRET } },
    { Name: '/prod/db/password', Type: 'SecureString', Value: SECRET, Version: 3 },
    { ParameterKey: 'DBPassword', ParameterValue: SECRET },
    { id: 'password', type: 'CONCEALED', label: 'password', value: SECRET },
    { ssid: 'Office', psk: SECRET },
    { root_pass: SECRET },
    { smtpPass: SECRET, port: 25 },
    { field: 'password', text: SECRET },
    { name: 'SMTP_PASS', value: SECRET },
    { type: 'random_password', instances: [{ attributes: { length: 16, result: SECRET } }] },
  ]
  test.each(objects)('P1 is found as an object and as its text: %j', (value) => {
    expect(JSON.stringify(redactor.value(value).value)).not.toContain(SECRET)
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
      expect(redactor.text(text)).not.toContain(SECRET)
  })

  test.each([
    { password: { type: 'string', title: 'Password', default: '' } },
    { password: { value: 'Mot de passe', touched: false } },
    { token: { value: '#ff00aa', type: 'color' } },
    { render_pass: 'shadow', proxy_pass: 'http://backend' },
    { db_pass: 'DB_PASSWORD' },
    { password: 'process.env.DB_PASSWORD', secret: '${{ secrets.DB }}', token: '(not set)' },
    { authorization: 'Bearer ****1234', api_key: 'N/A' },
    { element: 'Pin to board', text: '2024' },
    { sensitive: true, type: 'string', value: '${var.db_password}' },
    { ParameterKey: 'InstanceType', ParameterValue: 't3.micro' },
    { Name: '/prod/db/host', Type: 'String', Value: 'database' },
    { pin: 'GPIO17', otp: 'required', recovery_codes_remaining: '8' },
  ] as readonly JsonValue[])('P1 is left when it is none: %j', (value) => {
    expect(redactor.value(value)).toEqual({ value, redacted: 0 })
    expect(redactor.text(JSON.stringify(value))).toBe(JSON.stringify(value))
  })
})

describe('codes that are typed', () => {
  test.each([
    [{ otp: '482193' }, ['482193']],
    [{ mfa_code: '482193', pin: '7391' }, ['482193', '7391']],
    [{ recovery_codes: ['8F3K-2L9Q', '7M4N-1P6R'] }, ['8F3K-2L9Q', '7M4N-1P6R']],
    ['Backup codes: 8F3K-2L9Q, 7M4N-1P6R, 5T2V-9W8X', ['8F3K-2L9Q', '7M4N-1P6R', '5T2V-9W8X']],
    ['backup codes: 4821 3907, 1192 8834', ['4821 3907', '1192 8834']],
    ['Setup key: JBSW Y3DP EHPK 3PXP', ['JBSW Y3DP EHPK 3PXP']],
    ['Use code 482193 to sign in.', ['482193']],
    ['Enter 482193 to verify your account.', ['482193']],
    ['Uw verificatiecode is 482193', ['482193']],
  ] as readonly [JsonValue, readonly string[]][])('P1 are found: %j', (value, secrets) => {
    const out = JSON.stringify(redactor.value(value).value)
    for (const secret of secrets) expect(out).not.toContain(secret)
  })

  test.each([
    'Use code 482193 at checkout for a discount.',
    'Enter 100000 to raise the limit.',
    'Backup codes: generated 2026-01-02, expires 2027-01-02',
    'Country codes: 0049, 0033, 0044',
    'Setup key bindings: ctrl then hold then turn over',
    '2FA: 482 users',
  ])('P1 are left when they are other numbers: %s', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})
