import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const CHOSEN = 'Wq8#lsKd02m'
const WEAK = 'sommer2291'
const HEX = '9944b09199c62bcf9418ad846dd0e4bb'
const UUID = '693a91f6-7aac-4bc4-97a0-0ec2bcfa5aaa'
const DRAWN = 'kd92lsQpX7aB91mmT0Zw'
const ALL = [CHOSEN, WEAK, HEX, UUID, DRAWN, '482193', '4471', 'XK29L-9QPZ1-77ABC']

const inPieces = (text: string, size: number): string => {
  const stream = redactor.stream()
  let out = ''
  for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size))
  return out + stream.end()
}

const expectFound = (text: string): void => {
  const out = redactor.text(text)
  for (const secret of ALL) expect(out).not.toContain(secret)
  expect(out).toContain('[redacted:')
  expect(redactor.text(out)).toBe(out)
  expect(redactor.value(text).redacted).toBeGreaterThan(0)
  for (const size of [1, 7]) expect(inPieces(text, size)).toBe(out)
}

describe('a word that looks like a secret, in a line that names one', () => {
  test.each([
    `A temporary password is generated for root@localhost: ${CHOSEN}`,
    `[OPS-1183] reset the service account, it's svc_print with pw ${CHOSEN} now. Closing.`,
    `Use these creds for the test env: qa_user / ${CHOSEN}`,
    `10:11:12 <kim> the box is 10.0.0.4, root / ${CHOSEN}`,
    `DEBUG auth: trying credentials kim:${CHOSEN} against ldap`,
    `@kim: here you go → ${CHOSEN} (that's the vpn password)`,
    `I set it to ${CHOSEN} – that's the new root password.`,
    `Password ........ ${WEAK}`,
    `bindpw ${WEAK}`,
    `user: deploy pass: ${WEAK}`,
    `cassandra -u kim -p ${WEAK}`,
    `ALTER USER app IDENTIFIED BY ${WEAK};`,
    `secret = ENV.fetch('APP_SECRET') { '${DRAWN}' }`,
    `<param name="pwd" value="${WEAK}"/>`,
    `password    ${WEAK}`,
  ])('P1 passwords: %s', expectFound)

  test.each([
    `Het wachtwoord voor de testserver is ${CHOSEN}`,
    `Zugangsdaten: Benutzername kberger, Kennwort ${CHOSEN}`,
    `Votre identifiant : kberger / mot de passe : ${WEAK}`,
    `usuario: kberger contraseña: ${WEAK}`,
    `użytkownik kim, hasło ${WEAK}`,
    `Пароль для входа ${CHOSEN}`,
    `логин kim, пароль ${WEAK}`,
    `数据库密码为${CHOSEN}，请妥善保管`,
    `口令：${WEAK}`,
    `아이디 kim 비밀번호 ${WEAK}`,
    `كلمة المرور هي ${CHOSEN}`,
    `שם משתמש kim סיסמה ${WEAK}`,
    `รหัสผ่านคือ ${CHOSEN}`,
    `Mật khẩu của bạn là ${CHOSEN}`,
  ])('P1 in other languages: %s', expectFound)

  test.each([
    `Mi clave de API es ${HEX}, ¿puedes probar la llamada?`,
    `Klucz API: ${HEX} – wklej go do pliku .env`,
    `我的 API 密钥是:${HEX}`,
    `webhook secret ${HEX}`,
    `our Datadog API key is ${HEX}`,
    `wandb login ${HEX}`,
    `snyk auth ${UUID}`,
    `twilio: ${HEX}`,
    `nexus admin.password ${UUID}`,
    `client secret (copy now, shown once): ${DRAWN}`,
    `Product key XK29L-9QPZ1-77ABC`,
  ])('P1 keys and tokens: %s', expectFound)

  test.each([
    `Customer's telephone banking PIN as noted by the agent: 4471`,
    'alarm code 4471, keys under the mat',
    'one-time password: 482193',
    'Your code: 482193. Do not share it.',
    'ПИН-код 4471',
    '验证码：482193',
  ])('P1 numbers: %s', expectFound)
})

test.each([
  'The password must contain at least 8 characters, e.g. Abc123!x is accepted.',
  'Failed password for invalid user admin1 from 192.168.1.4 port 51514 ssh2',
  'password: z.string().min(8).max(128).regex(/[A-Z]/),',
  "if (password !== confirmPassword2) throw new Error('E1001: passwords differ')",
  'passwordHash: await bcrypt.hash(input.password, 12)',
  'Passwords are hashed with argon2id (m=65536,t=3,p=4) and a 16-byte salt.',
  'Please never send me the password in chat; use 1Password8 instead.',
  'I forgot my password for kim@acme.io, ticket #48213, can you reset it?',
  'das Passwort-Feld heißt #pw-input2 und hat maxlength=64',
  'Le mot de passe doit contenir 12 caractères, dont 1 chiffre (ex. Abcdef12!).',
  'Contraseña incorrecta, quedan 2 intentos (código ERR-4012).',
  'Пароль должен содержать не менее 12 символов (см. п. 4.2.1).',
  '密码长度至少 12 位，见 RFC6238 和 docs/v2。',
  `commit ${HEX}12345678  Rotate the API key (#1421)`,
  `idempotency key ${UUID} was reused`,
  `login ok for u42 from 10.0.0.2 in 2ms req=${HEX.slice(0, 16)}`,
  `user login 2024-11-02T10:11:12Z session ${UUID}`,
  `gpg: using EDDSA key 839DF34B66D038A5A12BE77E7D55FE23A9AB13B0`,
  `{"path":"src/auth/password.ts","sha":"${HEX}01234567","size":4118}`,
  `S3 key logs/2024/11/02/app-01.log.gz (etag "${HEX}")`,
  `auth service deployed, image acme/auth@sha256:${HEX}${HEX}`,
  'cache key user:42:profile:v3 missed; refetched in 12ms',
  'API key rotation: done 2025-01-04, next 2025-04-04 (owner: team-sec2)',
  'kubectl get secret pg-creds-7f8c -o yaml',
  'secretKeyRef:\n  name: pg-creds-7f8c\n  key: password',
  'apiKey: process.env.OPENAI_API_KEY, model: "gpt-4o-2024-08-06"',
  'export DB_PASSWORD=$(aws secretsmanager get-secret-value --secret-id prod/db1)',
  'docker run -e POSTGRES_PASSWORD -p 5432:5432 postgres:16.3-alpine3.20',
  '"jsonwebtoken": "^9.0.2", "passport-jwt": "4.0.1", "bcryptjs": "2.4.3"',
  'token usage: prompt_tokens=1204, completion_tokens=98, model=claude-3-5-sonnet-20241022',
  'HTTP status code 404 and error code E1234; exit code 137; ZIP code: 28195',
  'Your code is on branch feature/login-2fa, build 48213 passed.',
  'GPIO pin 12 drives the LED; Bug 4821: the PIN pad renders twice (react@18.3.1).',
  'The serial number is C02XK29L9QPZ, model MacBookPro18,3.',
  'Passcode lock: Settings > Face ID & Passcode > Auto-Lock 5 minutes on iPhone15,2.',
  'Incorrect API key provided: sk-pr****************wXyz.',
])('P1 ordinary lines stay: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})
