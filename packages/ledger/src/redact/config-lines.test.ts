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
    ["SECRET_KEY='q7$m!z)0(w8e^r&t*y2u+i-o=p@a#s%d1f'\n", 'w8e^r'],
    ['AWS_ACCESS_KEY_ID=f46e2f462b779cc78c70079115bdaa6b\n', 'f46e2f'],
    ['fs.s3a.secret.key=ejMjdX3g20wVBWSQQJfW7Evm9wSbVOzwJexojFBI\n', 'ejMjdX'],
    ['key:generate --show\nbase64:vT3kQ8wZ1rX5nB7mC9dF2gH4jK6lP0sA3uYeI8oRtWq=\n', 'vT3kQ8'],
    ['334 UGFzc3dvcmQ6\nQ29wcGVyLktpdGU5\n235 2.7.0 ok', 'Q29wcGV'],
    ['Authorization: Hawk id="x", nonce="j4", mac="VyOurq6ylgk99hKXkOkwF9Xv5Y5JbvmF="', 'VyOurq6'],
    ['trojan://copper-kite9@host.example:443', 'copper-kite9'],
    ['PUT http://192.0.2.50/api/eoo3G0lWto2DCyqGDy0NmaHicloaNvTR-0QK4pVk/lights/3/state', 'eoo3G0lW'],
    ['HomeKit setup code: 733-65-115', '733-65-115'],
    ['oc login --token=sha256~VJ2HTFyrUEAkCdj-5vtsa9ML_ly-h_k8f_xkEleUFIw', 'VJ2HTFyr'],
    [`bearer: ${'A'.repeat(22)}rSa3JVM1AStJwMxGjzAK7WAIV88huEFlFcTkbMypSjEfC3QO%3DGa`, 'rSa3JVM1'],
    [`AC${'9f'.repeat(16)}:a1d9f93fc1a38b6be4f0fe2727455686`, 'a1d9f93f'],
    ['register GR1348941ltNWG6LCXgmYJaOKI-_0 here', 'ltNWG6LC'],
    ['curl -u o.2SgGcRK2xMBAHspmKpTdjOPr1oNHzQbT: https://example.org', '2SgGcRK2'],
    ['$ vault operator unseal QofyBHoQnAjcd8LSmQHv+zUxA+PyCAZgq3BWPh3LKlR=', 'QofyBHoQ'],
    ['the token for staging: fp_NdOzpfhNIMlYA0yXKgeBBBwO8AgXHejmXS996nzT', 'NdOzpfhN'],
    ['pan|exp|cvv\n4111|0827|417\n', '417'],
    ['type(ref="card-cvc", text="417")', '417'],
    ["page.fill('#otp', '417204')", '417204'],
    ['{"selector":"#cvv","value":"417"}', '417'],
    ['params={"q": town, "appid": "f46e2f462b779cc78c70079115bdaa6b"}', 'f46e2f'],
    ["session({ secret: 'copperkettle' })", 'copperkettle'],
    ['app.secret_key = "copper-kettle"', 'copper-kettle'],
    ['$ terraform output -raw mq_password\nv5]Kd:2Gz<pW!r8Hs&nT\n', 'v5]Kd'],
    ["SECRET_KEY='django-insecure-m)$2x0q=^u7v#w4&k9zt!5e_p8rj@c6b+1ynd3fgs(hio'\n", 'w4&k9zt'],
    ['{"card":{"exp_month":11,"cvc":"417"}}', '417'],
    ['card 3714 4963 5398 431, 08/27', '3714 4963'],
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
