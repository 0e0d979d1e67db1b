import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const DOTS = 'maple.comet.velvet.otter'
const HYPHENS = 'maple-comet-velvet-otter'
const UNDERSCORES = 'maple_comet_velvet_otter'
const WEAK = 'MapleComet47'
const PAIR = 'Anchor-Planet64'
const YEAR = 'Summer2021#'
const HEX = '5f4c1e0b9d8a7f6e5d4c3b2a19087f6e'
const LONG = 'wthWw2d0YHLEyLgV55zl4Vb4tWw-6-a6DiHqzX5d'.repeat(5)
const ALL = [DOTS, HYPHENS, UNDERSCORES, WEAK, PAIR, YEAR, HEX, LONG.slice(8)]

const expectFound = (text: string): void => {
  const out = redactor.text(text)
  for (const secret of ALL) expect(out).not.toContain(secret)
  expect(redactor.text(out)).toBe(out)
  expect(redactor.value({ content: text }).redacted).toBeGreaterThan(0)
}

describe('words that were joined for a password, and weak ones', () => {
  test.each([
    `SMTP_PASS=${DOTS}`,
    `LDAP_BIND_PW=${HYPHENS}`,
    `spring.datasource.password=${UNDERSCORES}`,
    `Server=db;User ID=sa;Password=${UNDERSCORES};Timeout=30`,
    `jdbc:mysql://h/db?user=a&password=${DOTS}&ssl=true`,
    `jdbc:oracle:thin:erp/${HYPHENS}@ora.internal:1521/ERP`,
    `jdbc:oracle:thin:erp/${WEAK}@//ora:1521/ERP`,
    `- name: DB_PASSWORD\n  value: ${HYPHENS}`,
    `<password>${HYPHENS}</password>`,
    `tool --password ${HYPHENS}`,
    `ENV DB_PASSWORD ${UNDERSCORES}`,
  ])('P1 in the place of a password: %s', expectFound)

  test.each([
    `The password for the staging database is ${HYPHENS}`,
    `La password è ${DOTS}`,
    `the pw is ${DOTS}`,
    `login is kim / ${UNDERSCORES}, thanks`,
    `the storepass is ${WEAK} and the keypass is ${YEAR}`,
    `username ines / pw ${PAIR}?`,
    `creds: goran / ${PAIR}.`,
    `sudo asks for a password, just type ${PAIR}.`,
    `admin:${WEAK} works on https://cam.internal`,
    `  stats auth admin:${WEAK}`,
    `the api key i got from the weather site is ${HEX}`,
  ])('P1 told in a line: %s', expectFound)

  test.each([
    `> what's the wifi password again?\n${DOTS}`,
    `which password did you use?\n\n${WEAK}`,
    `User: what was the password?\nAssistant: ${UNDERSCORES}`,
    `$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n${HYPHENS}`,
    `| user | password |\n|---|---|\n| kim | ${WEAK} |\n| lee | ${UNDERSCORES} |`,
    `INSERT INTO users (name, password) VALUES ('kim', N'${WEAK}'), ('lee', '${UNDERSCORES}')`,
  ])('P1 in the lines below: %s', expectFound)

  test.each([
    `{"auth":["svc-report","${YEAR}"],"url":"https://reports.internal/daily"}`,
    `{ "keyName": "key1", "permissions": "FULL", "value": "${LONG}==" }`,
    `{"kty":"RSA","e":"AQAB","n":"AQAB","d":"${LONG}"}`,
    `{"p":"${LONG}","kty":"RSA"}`,
  ])('P1 in objects, as text and as values: %s', (text) => {
    expectFound(text)
    const value = JSON.stringify(redactor.value(JSON.parse(text)).value)
    for (const secret of ALL) expect(value).not.toContain(secret)
  })
})

test.each([
  'POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?missing}',
  '${DB_PASSWORD:?DB_PASSWORD must be set}',
  'mongodb://<username>:<password>@cluster.example.org/<database>',
  'https://<user>:<token>@host/<path>',
  '"scripts": { "token": "node scripts/print-token.ts", "secrets": "sops -d secrets.enc.yaml" }',
  '{"password":"{{ lookup(\'env\', \'DB_PASSWORD\') }}"}',
  'SELECT id FROM users WHERE name = @name AND password = @password',
  'password: config.database.credentials.password',
  'password: auth.reset.form.title',
  'const password = form.values.login.password',
  'The password reset is in account-recovery-mail-service.',
  'did the password reset work?\nNo.',
  'where is the password field?\nsrc/login/form.tsx',
  'the password is not-yet-set-here',
  'secretName: orders-frontend-tls-secret',
  '"auth": ["basic", "oauth2"]',
  'user:Customer2024 was added to group admin:Billing',
  '{"d":"M10 20 L30 40 C50 60","fill":"none"}',
  '{"keyName":"primary","value":"enabled"}',
])('P1 ordinary texts stay: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})

test('P1 references and commands stay under the names of secrets', () => {
  const value = {
    password: '{{ vault_password }}',
    secrets: 'sops -d secrets.enc.yaml',
    api_key: '${API_KEY}',
    auth: ['basic', 'oauth2'],
  }
  expect(redactor.value(value).value).toEqual(value)
})
