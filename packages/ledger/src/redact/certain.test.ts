import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const PHRASE = 'harbor-linen-frost'
const WORD = 'sunflower'
const GROUPS = 'qzxv bnmk lopw yuti'
const AWS = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYq0w3zRkEYx'
const COOKIE = 'q8w7e6r5t4y3u2i1o0pasdfg'
const ALL = [PHRASE, WORD, GROUPS, AWS, COOKIE, 'harbor.linen.frost', 'Linen!Frost2']

const expectFound = (text: string): void => {
  const out = redactor.text(text)
  for (const secret of ALL) expect(out).not.toContain(secret)
  expect(redactor.text(out)).toBe(out)
  expect(redactor.value({ content: text }).redacted).toBeGreaterThan(0)
  const stream = redactor.stream()
  let streamed = ''
  for (const char of text) streamed += stream.push(char)
  expect(streamed + stream.end()).toBe(out)
}

describe('plain words where nothing but a password stands', () => {
  test.each([
    `{"user":"kim","pass":"${PHRASE}"}`,
    `smtp:\n  pass: ${PHRASE}\n`,
    'MQTT_PW=harbor.linen.frost',
    `export ROOT_PW=${WORD}`,
    `ENV ADMIN_PASSWORD ${PHRASE}`,
    `Username: kim\nPassword: ${WORD}\n`,
    `auth: {\n  user: 'kim',\n  pass: '${WORD}'\n}`,
    `db_password = "${WORD}"`,
    `      MYSQL_PASSWORD: ${WORD}\n`,
    `- name: REDIS_PASSWORD\n  value: ${WORD}\n`,
    `<password>${WORD}</password>`,
    `helm install x --set auth.password=${WORD}`,
  ])('P1 assigned: %s', expectFound)

  test.each([
    `Server=db;User ID=sa;Password=${WORD};Timeout=3`,
    `host=db user=app password=${WORD} dbname=app`,
    `scott/${WORD}@//db.internal:1521/ORCL`,
    `db.internal:5432:app:appuser:${WORD}`,
    `*:*:*:postgres:${PHRASE}`,
    `name,email,password\nkim,kim@x.org,${WORD}\n`,
  ])('P1 in connections and tables: %s', expectFound)

  test.each([
    `CREATE LOGIN kim WITH PASSWORD = N'${WORD}'`,
    `create user kim identified by '${WORD}';`,
    `CREATE USER kim IDENTIFIED BY ${WORD} DEFAULT TABLESPACE users;`,
    `EXEC sp_addlogin 'kim', '${WORD}', 'master'`,
    `requests.get(url, auth=("kim", "${PHRASE}"))`,
    `{"login":["kim","${PHRASE}"]}`,
    `curl_setopt($ch, CURLOPT_USERPWD, "kim:${WORD}");`,
    `USER kim\nPASS ${WORD}\n230 ok`,
    `redis-server --requirepass ${WORD}`,
    `masterauth ${PHRASE}`,
    `stats auth admin:${WORD}`,
    `binddn cn=admin\nbindpw ${WORD}`,
    `username kim password ${WORD}`,
  ])('P1 in statements and settings of servers: %s', expectFound)

  test.each([
    `$ vault kv get -field=password secret/db\n${WORD}`,
    `$ gcloud secrets versions access latest --secret=db\n${WORD}`,
    `$ pass show mail/kim\n${WORD}`,
    `~ % op read "op://dev/db/password"\n${PHRASE}`,
    `Bot: What is the wifi password?\nKim: ${PHRASE}`,
  ])('P1 printed or answered below: %s', expectFound)

  test.each([
    `kim / ${PHRASE} is the login for staging`,
    `user / password: kim / ${WORD}`,
    `The password is first Anchor88, then Linen!Frost2`,
    `pw nas = ${PHRASE}`,
    `Het wachtwoord voor wifi is ${PHRASE}`,
    `mot de passe : ${PHRASE}`,
    `The app password is ${GROUPS}`,
    `App Password for mail\n${GROUPS}`,
  ])('P1 told: %s', expectFound)

  test.each([
    `AKIAIOSFODNN7EXAMPLZ / ${AWS}`,
    `User name,Access key ID,Secret access key\nkim,AKIAIOSFODNN7EXAMPLZ,${AWS}\n`,
    `{"name":"session","value":"${COOKIE}"}`,
  ])('P1 keys and sessions: %s', expectFound)
})

test('P1 in objects: a cookie, and a short name beside a user', () => {
  const value = { cookies: [{ name: 'connect.sid', value: COOKIE }], auth: { user: 'kim', pass: WORD } }
  const out = JSON.stringify(redactor.value(value).value)
  expect(out).not.toContain(COOKIE)
  expect(out).not.toContain(WORD)
})

const X = 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'
test('P1 the public members of a JSON Web Key stay', () => {
  const value = { kty: 'EC', crv: 'P-256', x: X, y: X }
  expect(redactor.value(value).value).toEqual(value)
  expect(redactor.text(JSON.stringify(value))).toBe(JSON.stringify(value))
})

test.each([
  'password: required',
  "password: the user's password",
  'username: string\npassword: string',
  'user: kim\npassword: optional',
  'pass: all-tests-green',
  'PASS test-login-flow',
  'compass=north-east-wind',
  'secret: orders-ledger-signer',
  'password = form.values.login',
  'file.ts:1234:5:error:unexpected-token',
  'requirepass directive',
  'masterauth is needed',
  '| option | password |\n|---|---|\n| type | string |',
  '{"login":["kim","lee"]}',
  'CREATE USER kim IDENTIFIED BY <password>',
  'app password: that this will need more',
  '$ vault kv get -field=password secret/db\nError',
  'PASSWORD="$(op read op://vault/item/password)"\nSECRET_KEY=',
  '{"name":"session","value":"closed"}',
  'kim / lee are the reviewers',
])('P1 ordinary words stay: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})
