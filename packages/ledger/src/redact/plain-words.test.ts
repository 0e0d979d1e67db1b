import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')

describe('one plain word that is said to be the password', () => {
  test.each([
    'The wifi password is swordfish.',
    'Password: swordfish',
    'Das Passwort lautet swordfish',
    'パスワード：swordfish',
    'Пароль: swordfish',
    'password = "swordfish"',
    '+  password: swordfish',
    'config/db.yml:12:  password: swordfish',
    'connecting with {user=app, password=swordfish, host=db}',
    "await page.fill('#password', 'swordfish')",
    'os.environ["DB_PASSWORD"] = "swordfish"',
    '$ printenv DB_PASSWORD\nswordfish',
    'password    swordfish\nusername    app',
  ])('P1 is found: %s', (text) => {
    expect(redactor.text(text)).not.toContain('swordfish')
    expect(redactor.value({ content: text }).redacted).toBe(1)
  })

  test.each([
    'The password is wrong.',
    'Das Passwort ist kaputt.',
    'La password è sbagliata',
    'Le mot de passe est vide.',
    'The password is stored in Vault.',
    'password: required',
    'password: Passwort',
    "errors.password = 'missing'",
    'fields = ("email", "password", "nickname")',
    '{"command":"npm test -- password","description":"Run tests"}',
    'Show password\nSubmit',
    '$ vault kv list secret/\nKeys',
    'const renderPass = "shadowmap"',
  ])('P1 is left when it says something of passwords: %s', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})

test('P1 one common word does not make a name of four', () => {
  expect(redactor.text('DB_PASS=lemon_hazel_autumn_shadow')).toBe('DB_PASS=[redacted:password:f]')
  expect(redactor.text('password: nginx-ingress-controller-metrics')).toContain('nginx')
})
