import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const { text: redact } = redactor
const JOINED = ['glass-otter', 'Heron.marsh', 'Copper_kite', 'Tin+Ladle', 'gl4ss-Otter']

describe('words that somebody joined for a password', () => {
  test.each([
    'password: §\n',
    '  mail_password = "§"\n',
    "$pass = '§';",
    'db.pass=§\n',
    'spring.datasource.password=§\n',
    'Server=db;User Id=sa;Password=§;Encrypt=True;',
    '{"password": "§"}',
    '<password>§</password>',
    '<wsse:Password Type="PasswordText">§</wsse:Password>',
    '<Password><Value>§</Value></Password>',
    "INSERT INTO users (login, password) VALUES ('kim', '§');",
    "INSERT INTO options VALUES (7,'mail_pass','§','yes');",
    "UPDATE settings SET value = '§' WHERE name = 'smtp_password';",
    "UPDATE users SET password_hash = crypt('§', gen_salt('bf'))",
    "EXEC sp_addlinkedsrvlogin @rmtuser = 'kim', @rmtpassword = '§';",
    'COPY users (login, password) FROM stdin;\nkim\t§\njo\t§\n\\.\n',
    '["password"]=>\n  string(12) "§"\n',
    '["password":protected]=>\n  string(12) "§"\n',
    '#<Config @user="kim", @password="§">',
    '{User:kim Password:§ Host:db}',
    '{db.url=x, db.password=§}',
    'remote_username kim\nremote_password §\n',
    'user stats insecure-password §\n',
    '| User | kim |\n| Password | § |\n',
    '[["Service","User","Password"],\n ["Shop","kim","§"]]\n',
    '[sudo] password for kim: §\n',
    '- **Password:** `§`\n',
    'client.login("kim", "§")',
    'signInWithEmailAndPassword("kim@example.org", "§")',
    "User.objects.create_user('kim', 'kim@example.org', '§')",
    'new SftpClient("sftp.example.org", 22, "kim", "§")',
    'keyStore.load(stream, "§".toCharArray());',
    'browser_type(element="Password field", text="§")',
    '- textbox "Password" [ref=e16]: "§"\n',
    "page.type('input[name=\"pass\"]', '§')",
    'args: ["--password", "§"]',
    '["sshpass", "-p", "§", "ssh", "kim@host"]',
    '$ curl -sku kim:§ https://example.org',
    '$ rabbitmqctl add_user kim §',
    '$ samba-tool user create kim §',
    '> Connect-VIServer -Server v -User kim -Password §',
    '> wmic /node:h /user:kim /password:§ os get',
    '$ arangosh --server.password §',
    '#define WIFI_PASSWORD  "§"',
    'env[DB_PASSWORD] = §\n',
    '"kim"  *  "§"  *\n',
    "wireless.radio0.key='§'\n",
    'register => kim:§@sip.example.org\n',
    'jwt.secret=§\n',
  ])('P1 are found: %s', (place) => {
    for (const secret of JOINED) {
      const text = place.replaceAll('§', () => secret)
      const out = redact(text)
      expect([out, out.includes(secret.slice(0, 5))]).toEqual([out, false])
      const inside = redact(JSON.stringify({ output: `build 7\n${text}` }))
      expect([inside, inside.includes(secret.slice(0, 5))]).toEqual([inside, false])
      const stream = redactor.stream()
      expect(Array.from(text, (char) => stream.push(char)).join('') + stream.end()).toBe(out)
    }
  })

  test.each([
    { args: ['deploy', '--password', 'glass-otter-hum'] },
    { argv: ['sshpass', '-p', 'glass-otter-hum', 'ssh', 'kim@host'] },
    { new_password: 'glass-otter-hum', confirm: 'glass-otter-hum' },
    { action: 'type', selector: '#pass', text: 'glass-otter-hum' },
  ])('P1 are found in a value: %j', (value) => {
    expect(JSON.stringify(redactor.value(value).value)).not.toContain('glass')
  })

  test.each([
    'password: auto-generated\n',
    'password: case-sensitive\n',
    'password = config.value\n',
    'password: user-defined\n',
    '"forgot_password": "Reset-Link"',
    'password = data.vault_kv_v2.app.data["admin_password"]\n',
    "'password' => 'required|string|min:10|confirmed',",
    '{"errors":{"password":"must contain a digit","password_confirmation":"does not match"}}',
    '"no-hardcoded-password": "error",',
    '{"access_token": "string", "password": "string", "api_key": "your-api-key"}',
    'STRIPE_SECRET_KEY=sk_test_xxx\nAPI_KEY=sk_live_...q9Zt\nDB_PASSWORD=changeme\n',
    "CREATE USER app IDENTIFIED BY '${APP_DB_PASSWORD}';",
    '  --password string       the password of the database\n',
    'usage: login [--user USER] [--password PASSWORD]\n',
    '<Password><Value>*SENSITIVE*DATA*DELETED*</Value></Password>',
    '<PublicKeyToken>b77a5c561934e089</PublicKeyToken>',
    'example.org/jwt/v5 v5.2.1 h1:OuVbFODueb089Lh128TAcimifWaLhJwVflnrgM17wHk=\n',
    'SPEC CHECKSUMS:\n  SwiftJWT: 5b316d1389b003d23c27e98d63d0668473e7de7f\n',
    'passwd/stable 1:4.13+dfsg1-1+b2 amd64 [upgradable from: 1:4.13+dfsg1-1+b1]\n',
    'Key {f97c4b7a-404d-4029-a79f-5a6ae5141f86} may be persisted to storage in unencrypted form.',
    'Set-Cookie: locale=fr-FR; Path=/; SameSite=Lax\n',
    'if x:\n    pass\n    sys.exit(1)\n',
    "dict.fromkeys(['username', 'password', 'repository'])",
    'class _X25519PrivateKey(X25519PrivateKey):\n',
    'EC_KEY *d2i_ECPrivateKey_fp(FILE *fp, EC_KEY **eckey);\n',
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n',
    'i.push({token:o[0],start:o.index,end:o.index+o[0].length});return i',
  ])('P1 what only looks alike stays: %s', (text) => {
    expect(redact(text)).toBe(text)
  })
})
