import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const PASSWORD = 'Marble#47lantern'
const KEY = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY'
const PHRASE = 'harbor-violin-copper-52'
const JOIN = 'k7x2m9.q4w8e1r5t9y3u7i2'
const COOKIE = 'QWZXPLMKOIJNUHBYGVTF'

describe('secrets that their place gives away', () => {
  test.each([
    `admin_password      = "${PASSWORD}"`,
    `password: process.env.PG_PASS ?? '${PASSWORD}'`,
    `\${MAIL_PASSWORD:-${PASSWORD}}`,
    `Environment.Get("DB_PASSWORD") ?? "${PASSWORD}"`,
    `secret: '${PHRASE}'`,
    `new mysqli("localhost", "root", "${PASSWORD}")`,
    `jwt.verify(token, '${PHRASE}')`,
    `scram.Mechanism(scram.SHA256, "kim", "${PASSWORD}")`,
    `url.UserPassword("kim", "${PASSWORD}")`,
    `NewClient("https://db.example.org", "${KEY}")`,
    `$ pulumi stack output dbPassword --show-secrets\n${PASSWORD}`,
    `$ gcloud auth print-access-token\n${KEY}`,
    `await page.fill('#password', '${PASSWORD}')`,
    `{"selector":"input[type=password]","value":"${PASSWORD}"}`,
    `<input value="${PASSWORD}" type="password">`,
    `<property name="password">${PASSWORD}</property>`,
    `host,usuario,contraseña\nh1,bob,${PASSWORD}`,
    `| User | Password |\n|---|---|\n| bob | ${PASSWORD} |`,
    `user,api_key\nbob,${KEY}`,
    `INSERT INTO users (email, password) VALUES ('b', 'x'), ('c', '${PASSWORD}')`,
    `htpasswd -nb bob ${PASSWORD}`,
    `sqlplus scott/${PASSWORD}@db`,
    `expect "*?assword:*"\nsend "${PASSWORD}\\r"`,
    `$ terraform output -raw db_password\n${PASSWORD}`,
    `$ argocd admin initial-password -n argocd\n${PASSWORD}`,
    `$ cat /var/lib/rabbitmq/.erlang.cookie\n${COOKIE}`,
    `$ kubeadm token list\nTOKEN                     TTL\n${JOIN}   23h`,
    `cloudflared service install eyJhIjoi${KEY}${KEY}${KEY}`,
    `code=4/0A${KEY}&state=x`,
    `root token at_aB3dE5fG7h_${KEY}${KEY}`,
    `Your temporary password is:\n\n${PASSWORD}`,
    `Bot: What's the password?\nKim: ${PASSWORD}`,
    `mit "${PASSWORD}" als Passwort`,
    `Heslo je ${PASSWORD}`,
    `set ADMIN_PASSWORD to \`${PASSWORD}\``,
    `https://maker.ifttt.com/trigger/x/with/key/${KEY}`,
  ])('P1 %s', (text) => {
    const out = redactor.text(text)
    expect(out).toContain('[redacted:')
    for (const secret of [PASSWORD, KEY, PHRASE, JOIN, COOKIE]) expect(out).not.toContain(secret)
    const stream = redactor.stream()
    const pieces = Array.from(text, (char) => stream.push(char)).join('')
    expect(pieces + stream.end()).toBe(out)
  })

  test('P1 what is typed into a field of a page', () => {
    const input = { element: 'Password field', ref: 'e4', text: PASSWORD }
    expect(JSON.stringify(redactor.value({ input }).value)).not.toContain(PASSWORD)
  })

  test.each([
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/mail-Xy12Zq',
    'checksum/secret: 8cee5e407c9edbc51b381edd5ecb52753802895b4da91ebc08a282fe7f4363b4',
    'SESSION_SECRET=change-me',
    '$ op read op://Infra/db/username\napp_orders4',
    '"Authorization": "Bearer " + token',
    '{"password": "Contraseña", "apiKey": "Clé API"}',
    'cookie: theme=dark; lang=de',
    '| Field | Password |\n|---|---|\n| type | string |',
    'Reset the password.\nVersion: 1.2.3',
  ])('P1 leaves %s', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})
