import { describe, expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const { text: redact } = createRedactor({}, () => '')

/** As programs and people make them, the plainest first. */
const CHOSEN = ['velvet_otter77', 'Comet-Kettle-84', 'marlow.1979', 'GandalfKettle54', 'KwzPlmu74%tr']
const shown = (place: string, secret: string): string => redact(place.replace('§', () => secret))

describe('where a machine keeps a password', () => {
  test.each([
    "login=kim\npassword='§'\n",
    'NEXUS_PASS = "§"',
    '.{ .username = "zig", .password = "§" }',
    'Kennwort: §\n',
    'time="2026-01-19T06:30:00Z" level=info msg="made a password" password=§\n',
    'Usr="kim";Pwd="§";',
    'user=jitsi:§\nrealm=x\n',
    'basic.auth.user.info=KX5SCOUNVCXETR1J:§\n',
    '[relay.example.org]:587    kim:§\n',
    "EXEC SQL CONNECT TO 'BANK' USER 'BATCH' USING '§' END-EXEC.",
    'A temporary password is generated for root@localhost: §\n',
    '{"smtpPassword":{"S":"§"},"plan":{"S":"pro"}}',
    "cy.get('#password').type('§{enter}')",
    'When I fill in "Kennwort" with "§"',
    'keychain.set("§", forKey: "user.password")',
    "MOVE '§' TO WS-FTP-PASSWORD.",
    'Content-Disposition: form-data; name="password"\r\n\r\n§\r\n--x',
    '5) "password"\n6) "§"\n',
    '<auth-user-pass>\nkim\n§\n</auth-user-pass>',
    'rootpw --plaintext §\n',
    'oskar issued server command: /login §\n',
    'C:\\> schtasks /create /tn x /ru WERFT\\svc /rp §\n',
    '$ mc alias set lab https://s3.example.org:9000 kim §\n',
    '$ op item get x --fields label=username,label=password --reveal\nkim@example.org,§\n',
    'a1="//fs1/x" a2="-U" a3="WERFT/scan%§"',
    'login_as kim §\n',
    'C: a001 LOGIN "kim@example.org" "§"',
    "'password' => Hash::make('§'),",
    'DBI->connect("dbi:Pg:dbname=x", "kim", "§", { RaiseError => 1 })',
    "ssh.connect('172.18.4.9', 22, 'netops', '§', timeout=8)",
    'con <- dbConnect(RMariaDB::MariaDB(), "studie", "kim", "§", "stats")',
  ])('P1 is found: %s', (place) => {
    for (const secret of CHOSEN) {
      const clean = shown(place, secret)
      expect([clean, clean.includes(secret.slice(0, 5))]).toEqual([clean, false])
    }
  })

  test.each([
    ['SecretID:         c898a4d2-d0e1-441c-a8a4-50bfa3f8b896', 'c898'],
    ['BUNDLE_GEMS__EXAMPLE__COM: "f1ac1fc5:9836da59"', '9836da59'],
    [
      'static const uint8_t APPKEY[16] = { 0x7E, 0x32, 0xE7, 0xC3, 0x3C, 0x82, 0x8B, 0x36, 0xF0, 0x10, 0x72, 0x33, 0x1E, 0x03, 0x3A, 0x69 };',
      '0xE7',
    ],
    ['$ curl -u JPkLeA15e0CDADPqrHWz: https://example.org', 'JPkLeA15'],
    ['> GET sess:refresh:88\n"rt_P_KV603awaMvkD5xOha84BHKSpPjPOpzzq"\n', 'KV603'],
    [`K10${'6153f3c9de74ec51'.repeat(4)}::ky3ysq.msxqu80cttt75cyk`, 'msxqu80'],
    ['login: ADMIN\npass: GOVNHQWSLE\n', 'GOVNHQWSLE'],
  ])('P1 is found by its form there: %s', (text, part) => {
    expect(redact(text)).not.toContain(part)
  })

  test.each([
    'user: 1000:1000\n',
    'user = "www-data:www-data"',
    'auth: SHA256:Yd9uUwR5hv0JfL7m1PqkzXW2aTtBcE8Gn4sOiQ6rVlM',
    'postgresql://USER:PASSWORD@HOST:5432/DATABASE',
    'postgres://user:password@localhost:5432/mydb',
    'redis://:${REDIS_PASSWORD}@cache:6379',
    'password = rule_name1\n',
    'const signingKey = secret.Parameter!.Value!',
    'password: !secret wifi_password\n',
    'DB_PASSWORD=op://Infra/dwh/password\n',
    'server.ssl.key-store-password=@keystore.password@\n',
    '{"webhookSecret": "__WEBHOOK_SECRET__", "apiKey": "%API_KEY%"}',
    'password: ENC[AES256_GCM,data:pSMMSkNE9fq8Q6cu,iv:3qPagnLwbQRMJznoqTMk9BI=,tag:0BdbSj74jHX0SuUn==,type:str]',
    '{"password": "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER", "update_password": "on_create"}',
    '"User Id=" & user & ";Password=" & pwd & ";"',
    'key: Linux-pnpm-a34b753a249f98bc379da665ca0436abaad770076432b6304b15dd92510f0c5e',
    '_acme-challenge.example.org. 300 IN TXT "rY1LDaKrTf91ja7eUKexG9F0G6I3fxB1ufH-VBwokTA"',
    '$ getent passwd deploy\ndeploy:x:1001:1001:Deploy user:/home/deploy:/bin/bash',
    'NAME            DIGEST              CREATED AT\nSESSION_SECRET  04ccdca5fa3a79b2    3d ago\n',
    'SetUp failed for volume "signing-key" : secret "signing-key-v4" not found',
    'address public constant TOKEN = 0x9ef2af26c71955d725c961fb5845e318e439fa33;',
    'SASL LOGIN authentication failed: UGFzc3dvcmQ6',
    'dbConnect(RPostgres::Postgres(), host = "stats", user = "forscher", password = keyring::key_get("stats"))',
    "Hash::make('password')",
    'static const uint8_t PUBLIC_KEY[16] = { 0x7E, 0x32, 0xE7, 0xC3, 0x3C, 0x82, 0x8B, 0x36, 0xF0, 0x10, 0x72, 0x33, 0x1E, 0x03, 0x3A, 0x69 };',
  ])('P1 stays as it is: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  test('P1 a reference under the name of a header stays in a value as well', () => {
    const value = { headers: { authorization: 'Bearer ${ACCESS_TOKEN}' }, api_key: '••••••••7f2c' }
    expect(createRedactor({}, () => '').value(value).value).toBe(value)
  })
})
