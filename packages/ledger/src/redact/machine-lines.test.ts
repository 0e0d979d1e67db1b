import { describe, expect, test } from 'vitest'
import { expectLeft, expectNoneLeft } from '../../test/marked-texts.ts'
import type { JsonValue } from '../json.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const HEX = '5e1f0c9a7b3d48269c0e1f5a7d3b8264'
const KEY = 'q7Tz0Rk3vXw9Lm2Bn5Yc8Hd1'

describe('lines that programs write', () => {
  test.each([
    'db_password = "«wN4}hc[8Rz,Tk»"',
    "password: '«sieve;Copper9»'",
    'Contraseña: «hB6}wRn-3Tc»\n',
    'Server=db;Uid=kim;Pwd=«Kite{moss}7»;',
    'jdbc:sqlserver://db;user=kim;password={«kite;moss»};',
    'MYSQL_ROOT_PASSWORD=«moss»\n',
    'DB_PASSWORD="«three pears 9»"',
    '      APP_DBPASS: «kite-moss»\n      TZ: UTC\n',
    'GRAFANA_PASSWORD: «grafana_moss»\n',
    'SESSION_SECRET=«my-long-words-of-a-signing-phrase-2031»',
    `METRICS_API_KEY            «${HEX}»\nTZ                         UTC\n`,
    'NAME            VALUE\nSESSION_SECRET  «copper-kettle-lantern»\n',
    '| AUTH_SALT | «kD[2_z;Lq8+v%Vn0!xR4w:Tb^6yJ&mS*1cG(eP)9u» | constant |',
    '> CONFIG GET requirepass\n1) "requirepass"\n2) "«moss_cache»"\n',
    '$ redis-cli config get requirepass\nrequirepass\n«moss-redis»\n',
    '$ cat userlist.txt\n"kim" "«moss.Kettle.64»"\n"stats" "«Copper-2209»"\n',
    `"kim" "«md5${HEX}»"\n`,
    '$ vault operator unseal «QofyBHoQnAjcd8LSmQHv+zUxA+PyCAZgq3BWPh3LKlR=»\n',
    `{"method":"user.login","id":1}\n{"jsonrpc":"2.0","result":"«${HEX}»","id":1}`,
    '│ full-tokenid │ root@pam!x │\n│ value        │ «0e4f795d-52cf-408e-a7cf-8152eea8b3b9» │',
    "#1 /srv/Connector.php(44): createPdoConnection('mysql:host=db', 'kim', '«Kite-moss»', Array)",
    "#4 /srv/Auth.php(20): App\\Auth->attempt('kim@example.org', '«Kite-moss»', true)",
    `https://chat.example.org/hooks/${HEX.slice(0, 24)}/«${KEY}${KEY}»`,
    `"POST /services/T04HPI27TZ/B0RD26744DH/«${KEY}» HTTP/1.1" 200 22`,
    `"POST /api/webhooks/112233445566778899/«${KEY}${KEY}${KEY}» HTTP/1.1" 204`,
    'id,pan,exp\n7,«4539578763621486»,1227\n8,«375050571924424»,0427,39.00\n',
    `{ name: 'li_at', value: '«${KEY}»', path: '/' }`,
    `cy.setCookie('sessionid', '«${KEY}»')`,
    'wpa_passphrase=«kite moss 12»\n',
    "# password field\nadb shell input text '«Kite7moss»'\n",
    "document.querySelector('#password').value = '«Kite7moss»'",
    'network={ ssid="x" psk="«kite moss 12»" }',
  ])('P1 tell a secret: %s', (marked) => expectNoneLeft(redactor, marked))

  test.each([
    'password: getPassword(user1, 9)',
    'password = "[A-Za-z0-9]{8,32}"',
    'const a={password:e.Pw1},b=2;',
    '  password: users[0].Password1,\n',
    'password: Map<String,V2>\n',
    'DB_PASSWORD=$(aws ssm get-parameter --name x)\n',
    'DB_PASSWORD=settings.DB_PASS\n',
    'DB_PASSWORD=/run/secrets/db\n',
    'JWT_SECRET=my_jwt_secret\n',
    'NAME            DIGEST\nDB_PASSWORD     c2f19ab3d4e5f607\n',
    'NAME            UPDATED\nDEPLOY_KEY      2026-01-02\n',
    'PARTITION_KEY       tenant12345-region-eu\n',
    '127.0.0.1:6379> CONFIG GET maxmemory\n1) "maxmemory"\n2) "268435456"\n',
    '"name" "value12345"\n"other" "Value-Thing-9"\n',
    'POST /api/webhooks/stripe HTTP/1.1',
    'https://example.org/hooks/useEffect/customHookExample',
    "{ name: '_ga', value: 'GA1.2.1234567890.1234567890', domain: '.example.org' }",
    "new PDO('mysql:host=localhost;dbname=test', 'root', 'password')",
    ' rolname | has_password | rolvaliduntil\n',
    'read -rsp "Passwort: " PW && PGPASSWORD="$PW" pg_dump',
    'Stored as `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.',
    'password: "{{ app_password | password_hash(\'sha256\') }}"',
    'password: {{ .Values.redis.password | b64enc | quote }}',
    'src/password.ts:7:export function checkPassword(plain: string) {\nsrc/password.ts:24:export function isStrong(',
    '{"existingSecret":"redis-admin","imagePullSecrets":"registry-main"}',
    `"client_token":"hmac-sha256:${'3f9c01ab'.repeat(8)}"`,
    `encrypted_regex: ^(password|token)$\n    age: age1${'q3x8m2'.repeat(10).slice(2)}\n`,
    'Password: simplest. Key: safest.',
    "allow: ['Content-Type', 'Authorization', 'B3-Trace']",
    '"Set-Cookie": `${name}=${session.id}; HttpOnly; Path=/`',
    '"Set-Cookie": "shop-token=; Path=/; Max-Age=0"',
    '{ "x-worker-api-key": this.#auth.key2 }',
    '$case: "password", value: PasswordFlow2.decode(reader, 4)',
    'if (options.workerKey && !utils_1.shared.inCloud2) shape[key] = convertToSchema$1(value)',
    'After a loss of the network connection. Pass `offset` to go on.',
    'methods: "md5", "password", "scram-sha-256"',
    'Files: src/passwd/sha2/*\nCopyright: 2009-2022 Kim\nLicense: KimBSD-2.8\n',
    'It is the username and password separated\nby a colon',
    'SECRET_KEY="YOURSECRETKEYGOESHERE"',
    "parse('postgres://someuser:somepassword@somehost:5432/somedb')",
    'type Flow = FlowOauth2Implicit | FlowOauth2Password | FlowOauth2Application',
    '        | "current-password"\n        | "honorific-prefix"\n        | "transaction-amount"\n',
    "paths: ['password', 'secrets.*', 'users.*.token']",
    '{"password": "Doesn\'t match", "pass": "Walrus\'s name is unique"}',
    '"password": "パスワードを入力してください"',
    'Send <code>authorization: Bearer TOKEN</code>',
    "'Cookie: sid={s}; theme={s}'",
    'self._signing_key = key[:16]\nself._encryption_key = key[16:]\n',
    'const storageKey = "shop-scroll-position-v1_3"',
  ])('P1 stay where they tell none: %s', (text) => expectLeft(redactor, text))

  test.each([
    { usuario: 'kim', clave: 'kite.2031' },
    { login: 'kim', пароль: 'kite2031' },
    { 用户名: 'kim', 密码: 'kite2031' },
    { korisnik: 'kim', lozinka: 'kite2031' },
    { target: '#password', text: 'kite2031' },
    { element: 'password input', keys: 'kite2031' },
    { env: { DB_PASS: 'kite', smtpPw: 'kitemoss' } },
    { username: 'kim', pwd: 'kite-moss' },
    { columns: ['id', 'login', 'password'], rows: [[1, 'kim', 'kite2031']] },
    { fields: [{ name: 'id' }, { name: 'password' }], data: [[1, 'kite2031']] },
  ] as readonly JsonValue[])('P1 a name in an object tells it: %j', (value) => {
    expect(JSON.stringify(redactor.value(value).value)).not.toMatch(/kite/)
  })

  test.each([
    { producto: 'Aspirina', clave: 'A-20034' },
    { user: 'kim', pwd: '/home/kim' },
    { first_pass: 'done', TEST_PASS: 'true' },
    { columns: ['id', 'token', 'name'], rows: [[1, 'noun', 'x']] },
    { target: 'src/password.ts', text: 'export const x = 1' },
    { password: 'Passwort', пароль: 'Пароль', 密码: '密码' },
  ] as readonly JsonValue[])('P1 a label, a place or a number of goods stays: %j', (value) => {
    expect(redactor.value(value)).toEqual({ value, redacted: 0 })
  })
})
