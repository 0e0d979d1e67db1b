// A blind corpus of ordinary texts from agent transcripts: much in them resembles a secret, nothing is one.
import { createHash } from 'node:crypto'
import { Buffer } from 'node:buffer'
import { createRandom } from '../../packages/ledger/src/conformance/random.ts'

const { below: rnd } = createRandom(0x0bad_cafe)
function of(alphabet: string, n: number): string {
  let out = ''
  for (let i = 0; i < n; i++) out += alphabet[rnd(alphabet.length)]
  return out
}
const LOW = 'abcdefghijklmnopqrstuvwxyz'
const DIG = '0123456789'
const B62 = DIG + LOW + LOW.toUpperCase()
const hex = (n: number): string => of('0123456789abcdef', n)
const HEX = (n: number): string => hex(n).toUpperCase()
const digits = (n: number): string => of('123456789', 1) + of(DIG, n - 1)
const alnum = (n: number): string => of(B62, n)
const bytes = (n: number): Buffer => Buffer.from(Array.from({ length: n }, () => rnd(256)))
const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-${of('89ab', 1)}${hex(3)}-${hex(12)}`
const sri = (algorithm = 'sha512'): string =>
  `${algorithm}-${createHash(algorithm).update(bytes(16)).digest('base64')}`
const list = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

const all: string[] = []
function add(...texts: string[]): void {
  all.push(...texts)
}

// ---- git --------------------------------------------------------------------------------------------------

add(
  `commit ${hex(40)} (HEAD -> main, origin/main)
Author: Kim Berger <kim@acme.io>
Date:   Tue Mar 4 10:21:55 2025 +0100

    Rename the token counter to usage meter`,
  `${hex(7)} fix(auth): do not log the password field
${hex(7)} chore: bump vitest to 3.1.2
${hex(7)} feat(api-keys): list keys by prefix only
${hex(7)} docs: explain how to rotate a secret`,
  `[main ${hex(7)}] Add key rotation docs
 3 files changed, 41 insertions(+), 2 deletions(-)
 create mode 100644 docs/rotation.md`,
  `From github.com:acme-labs/billing
   ${hex(9)}..${hex(9)}  main       -> origin/main
 * [new tag]             v4.12.0    -> v4.12.0`,
  `diff --git a/src/auth/token.ts b/src/auth/token.ts
index ${hex(10)}..${hex(10)} 100644
--- a/src/auth/token.ts
+++ b/src/auth/token.ts
@@ -18,7 +18,7 @@ export interface TokenPair {
-  const token = await issueToken(user)
+  const token = await issueToken(user, { ttl: '15m' })
   return { token, refreshToken }`,
  `100644 blob ${hex(40)}      84	.gitignore
100644 blob ${hex(40)}    1531	package.json
040000 tree ${hex(40)}       -	src`,
  `$ git rev-parse HEAD origin/main
${hex(40)}
${hex(40)}`,
  `$ git blame -L 10,12 src/login.ts
${hex(8)} (Lena Olsen 2024-11-02 14:11:08 +0100 10) export async function login(password: string) {
^${hex(7)} (Kim Berger 2023-02-01 09:00:00 +0100 11)   const hash = await scrypt(password)`,
  `fatal: ambiguous argument '${hex(12)}': unknown revision or path not in the working tree.`,
  `$ git submodule status
 ${hex(40)} vendor/zlib (v1.3.1)
+${hex(40)} vendor/openssl (openssl-3.3.0-12-g${hex(10)})`,
  `git bisect start
# bad: [${hex(40)}] speed up the tokenizer
git bisect bad ${hex(40)}
# good: [${hex(40)}] release 2.4
git bisect good ${hex(40)}`,
  `origin	git@github.com:acme-labs/billing.git (fetch)
origin	git@github.com:acme-labs/billing.git (push)
upstream	https://github.com/billing-oss/billing.git (fetch)`,
  `Merge pull request #1184 from acme-labs/feature/password-reset-flow

Password reset flow: mail template, rate limit, tests`,
  `Cherry-picked from commit ${hex(40)}. Conflicts in src/session/cookie.ts were resolved in favour of ours.`,
  `On branch secret-scanning
Changes not staged for commit:
	modified:   src/keys/keyring.ts
	modified:   test/passwords.test.ts`,
  `stash@{0}: WIP on main: ${hex(7)} wip token bucket`,
)

// ---- packages and lock files ------------------------------------------------------------------------------

add(
  `    "node_modules/picocolors": {
      "version": "1.1.1",
      "resolved": "https://npm.acme.io/picocolors/-/picocolors-1.1.1.tgz",
      "integrity": "${sri()}",
      "license": "ISC"
    },`,
  `"@babel/code-frame@^7.0.0", "@babel/code-frame@^7.26.2":
  version "7.26.2"
  resolved "https://registry.yarnpkg.com/@babel/code-frame/-/code-frame-7.26.2.tgz#${hex(40)}"
  integrity ${sri()}
  dependencies:
    js-tokens "^4.0.0"`,
  `  js-tokens@9.0.1:
    resolution: {integrity: ${sri()}}

  jsonwebtoken@9.0.2:
    resolution: {integrity: ${sri()}}
    engines: {node: '>=12', npm: '>=6'}`,
  `[[package]]
name = "secrecy"
version = "0.10.3"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "${hex(64)}"
dependencies = [
 "zeroize",
]`,
  `golang.org/x/crypto v0.31.0 h1:${bytes(32).toString('base64')}
golang.org/x/crypto v0.31.0/go.mod h1:${bytes(32).toString('base64')}
golang.org/x/oauth2 v0.24.0 h1:${bytes(32).toString('base64')}`,
  `cryptography==43.0.3 \\
    --hash=sha256:${hex(64)} \\
    --hash=sha256:${hex(64)}
passlib==1.7.4 \\
    --hash=sha256:${hex(64)}`,
  `name = "pyjwt"
version = "2.10.1"
files = [
    {file = "PyJWT-2.10.1-py3-none-any.whl", hash = "sha256:${hex(64)}"},
    {file = "pyjwt-2.10.1.tar.gz", hash = "sha256:${hex(64)}"},
]`,
  `      "name": "symfony/password-hasher",
      "version": "v7.1.6",
      "dist": {
        "type": "zip",
        "url": "https://api.github.com/repos/symfony/password-hasher/zipball/${hex(40)}",
        "reference": "${hex(40)}",
        "shasum": ""
      },`,
  `GEM
  remote: https://rubygems.org/
  specs:
    bcrypt (3.1.20)
    devise (4.9.4)
    jwt (2.9.3)
      base64

CHECKSUMS
  bcrypt (3.1.20) sha256=${hex(64)}`,
  `added 412 packages, and audited 413 packages in 9s

61 packages are looking for funding
found 0 vulnerabilities`,
  `npm warn deprecated har-validator@5.1.5: this library is no longer supported
npm warn deprecated request@2.88.2: request has been deprecated
npm notice New minor version of npm available! 10.8.2 -> 10.9.1`,
  `npm notice 📦  @acme/token-bucket@2.1.0
npm notice shasum: ${hex(40)}
npm notice integrity: ${sri().slice(0, 20)}[...]${alnum(13)}==
npm notice total files: 14`,
  `<script src="https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/js/bootstrap.bundle.min.js" \
integrity="${sri('sha384')}" crossorigin="anonymous"></script>`,
  `  nixpkgs = {
    locked = {
      lastModified = 1732014248,
      narHash = "${sri('sha256')}",
      rev = "${hex(40)}",
    };
  };`,
  `fetchFromGitHub {
  owner = "clew";
  repo = "ledger";
  rev = "v0.4.1";
  hash = "${sri('sha256')}";
}`,
  `      - uses: actions/checkout@${hex(40)} # v4.2.2
      - uses: actions/setup-node@${hex(40)} # v4.1.0
        with:
          node-version: 22`,
  `sha256 "${hex(64)}"
  license "MIT"

  depends_on "openssl@3"`,
  `Package: libsecret-1-0
Version: 0.21.4-1build3
SHA256: ${hex(64)}
Description: Secret store`,
  `typescript 5.7.2, eslint 9.17.0, vite 6.0.5, vitest 2.1.8, tsx 4.19.2, @types/node 22.10.2, prettier \
3.4.2, zod 3.24.1`,
  `Resolution: 1.0.0-rc.12+build.20250118.${hex(7)} satisfies ^1.0.0-rc.3`,
  `Deno lock: "jsr:@std/encoding@1.0.5": { "integrity": "${hex(64)}" }`,
  `<PackageReference Include="Microsoft.AspNetCore.Authentication.JwtBearer" Version="8.0.11" />
<PackageReference Include="Azure.Security.KeyVault.Secrets" Version="4.7.0" />`,
)

// ---- containers and cloud identifiers ---------------------------------------------------------------------

add(
  `latest: Pulling from library/postgres
${hex(12)}: Pull complete
${hex(12)}: Pull complete
Digest: sha256:${hex(64)}
Status: Downloaded newer image for postgres:16`,
  `CONTAINER ID   IMAGE              COMMAND                  STATUS        NAMES
${hex(12)}   redis:7-alpine     "docker-entrypoint.s…"   Up 3 hours    cache
${hex(12)}   acme/web:4.12.0    "node server.js"         Up 3 hours    web`,
  `FROM node:22-slim@sha256:${hex(64)} AS build
WORKDIR /app
COPY package*.json ./
RUN --mount=type=secret,id=npmrc,target=/home/ci/.npmrc npm ci`,
  `NAME                        READY   STATUS    RESTARTS   AGE
api-7d9c6b5f8d-x2k4p        1/1     Running   0          4d2h
secret-rotator-28911240-q7  0/1     Completed 0          11m
vault-0                     1/1     Running   1          31d`,
  `apiVersion: v1
kind: Pod
spec:
  containers:
    - name: api
      env:
        - name: DB_PASSWORD
          valueFrom:
            secretKeyRef:
              name: db
              key: password`,
  `$ kubectl describe secret db
Name:         db
Type:         Opaque

Data
====
password:  24 bytes
username:  4 bytes`,
  `arn:aws:secretsmanager:eu-central-1:418830271945:secret:prod/db-AbC9xQ
arn:aws:kms:eu-central-1:418830271945:key/${uuid()}`,
  `{
    "InstanceId": "i-0${hex(16)}",
    "ImageId": "ami-0${hex(16)}",
    "SubnetId": "subnet-0${hex(16)}",
    "SecurityGroups": [{ "GroupId": "sg-0${hex(16)}", "GroupName": "web" }],
    "KeyName": "ops-2024"
}`,
  `An error occurred (AccessDenied) when calling the AssumeRole operation: User: \
arn:aws:iam::418830271945:user/ci is not authorized to perform: sts:AssumeRole`,
  `x-amz-request-id: ${HEX(16)}
x-amz-id-2: ${bytes(56).toString('base64')}
ETag: "${hex(32)}"
Content-Length: 88120`,
  `resource "aws_db_instance" "main" {
  identifier                  = "shop"
  username                    = "root"
  manage_master_user_password = true
  password                    = var.db_password
}`,
  `variable "db_password" {
  type      = string
  sensitive = true
}

output "db_password" {
  value     = random_password.db.result
  sensitive = true
}`,
  `Outputs:

db_password = <sensitive>
vpc_id = "vpc-0${hex(16)}"`,
  `Terraform will perform the following actions:

  # random_password.db will be created
  + resource "random_password" "db" {
      + id          = (known after apply)
      + length      = 24
      + result      = (sensitive value)
    }

Plan: 1 to add, 0 to change, 0 to destroy.`,
  `services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD_FILE: /run/secrets/db_password
    secrets: [db_password]
secrets:
  db_password:
    file: ./secrets/db_password.txt`,
  `environment:
  POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:?set it in .env}
  REDIS_URL: redis://cache:6379/0`,
  `      - name: Deploy
        env:
          DEPLOY_TOKEN: \${{ secrets.DEPLOY_TOKEN }}
          NPM_TOKEN: \${{ secrets.NPM_TOKEN }}
        run: ./deploy.sh`,
  `2025-04-18T07:31:02.1180025Z   token: ***
2025-04-18T07:31:02.4410921Z   ssh-strict: true
2025-04-18T07:31:02.4412032Z   persist-credentials: true`,
  `projects/shop-prod-281907/locations/europe-west3/keyRings/app/cryptoKeys/orders/cryptoKeyVersions/3`,
  `/subscriptions/${uuid()}/resourceGroups/rg-shop/providers/Microsoft.KeyVault/vaults/kv-shop`,
  `Operation ID: operation-1733322110881-${hex(13)}-${hex(8)}-${hex(8)}`,
  `helm.sh/chart: postgresql-15.5.38
checksum/secret: ${hex(64)}
checksum/config: ${hex(64)}`,
  `Successfully built ${hex(12)}
Successfully tagged acme/web:4.12.0`,
  `#11 exporting manifest sha256:${hex(64)} done
#11 exporting config sha256:${hex(64)} done
#11 naming to docker.io/acme/web:latest done`,
  `kubectl create secret generic db --from-env-file=.env.production --dry-run=client -o yaml | kubeseal`,
  `vault policy write app - <<HCL
path "secret/data/app/*" {
  capabilities = ["read"]
}
HCL`,
  `E0412 09:11:02.118231   1 reflector.go:147] failed to list *v1.Secret: secrets is forbidden: User \
"system:serviceaccount:shop:api" cannot list resource "secrets" in API group ""`,
  `Zone ID: ${hex(32)}
Account ID: ${hex(32)}
Nameservers: ada.ns.cloudflare.com, rob.ns.cloudflare.com`,
)

// ---- hashes, checksums, ids, dumps ------------------------------------------------------------------------

add(
  `$ sha256sum dist/*
${hex(64)}  dist/app.js
${hex(64)}  dist/app.css
${hex(64)}  dist/index.html`,
  `MD5 (backup.tar.gz) = ${hex(32)}
SHA1 (backup.tar.gz) = ${hex(40)}`,
  `$ xxd -l 64 logo.png
00000000: 8950 4e47 0d0a 1a0a 0000 000d 4948 4452  .PNG........IHDR
00000010: 0000 0020 0000 0020 0806 0000 0073 7a7a  ... ... .....szz
00000020: ${list(8, () => hex(4)).join(' ')}  ................
00000030: ${list(8, () => hex(4)).join(' ')}  ................`,
  list(4, (i) => `${(i * 16).toString(16).padStart(8, '0')}  ${list(16, () => hex(2)).join(' ')}`).join('\n'),
  `traceparent: 00-${hex(32)}-${hex(16)}-01
tracestate: rojo=${hex(16)}`,
  `{"trace_id":"${hex(32)}","span_id":"${hex(16)}","parent_span_id":"${hex(16)}","name":"POST \
/login","duration_ms":41}`,
  `request_id=${uuid()} user_id=${uuid()} status=200 duration=18ms`,
  `INSERT INTO orders (id, customer_id, total) VALUES
('${uuid()}', '${uuid()}', 118.40),
('${uuid()}', '${uuid()}', 9.99);`,
  `x-request-id: ${uuid()}
cf-ray: ${hex(16)}-FRA
x-vercel-id: fra1::iad1::${of(LOW + DIG, 5)}-1733322110881-${hex(12)}`,
  `{"_id":"${hex(24)}","createdBy":"${hex(24)}","name":"Jahresbericht","__v":0}`,
  `ULIDs sort by time: 01JDZ3K5M8QWERTY9VXS2C7B4N, 01JDZ3K5M9H4Z6R0T1P8F5G2DA, 01JDZ3K5MB7C3W9X4E6Y2N8KVQ`,
  `The nanoid \`${of(B62 + '-_', 21)}\` is only the React key of the row; it has no meaning outside the \
component.`,
  `Snowflake ids: 1184412977312309300, 1184412977312309301 and 1184412980164325377 share the same worker.`,
  `SSH host key fingerprint: SHA256:${bytes(32).toString('base64').replace('=', '')}
This key is not known by any other names.`,
  `The authenticity of host 'git.acme.dev (203.0.113.9)' can't be established.
ED25519 key fingerprint is SHA256:${bytes(32).toString('base64').replace('=', '')}.
Are you sure you want to continue connecting (yes/no/[fingerprint])?`,
  `SHA1 Fingerprint=${list(20, () => HEX(2)).join(':')}
SHA256 Fingerprint=${list(32, () => HEX(2)).join(':')}`,
  `-----BEGIN CERTIFICATE-----
${list(9, () => bytes(48).toString('base64')).join('\n')}
-----END CERTIFICATE-----`,
  `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${bytes(21).toString('base64')}
${bytes(43).toString('base64')}
-----END PUBLIC KEY-----`,
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${of(B62, 43)} kim@laptop`,
  `Public Key: age1${of('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 58)} (this is the recipient, share it freely)`,
  `Serial Number: ${list(16, () => hex(2)).join(':')}
Signature Algorithm: ecdsa-with-SHA384
Issuer: C = US, O = Let's Encrypt, CN = E6
Subject: CN = shop.acme.io`,
  `<img alt="dot" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/\
w38GIAXDIBKE0DHxgljN\
BAAO9TXL0Y4OHwAAAABJRU5ErkJggg==">`,
  `background: url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7) \
no-repeat;`,
  `data:image/svg+xml;base64,${Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 \
24"><path d="M12 2v20M2 12h20"/></svg>',
  ).toString('base64')}`,
  `@font-face { font-family: Icons; src: \
url(data:font/woff2;base64,d09GMgABAAAAA${bytes(180).toString('base64')}) format('woff2') }`,
  `//# sourceMappingURL=data:application/json;base64,${Buffer.from(
    JSON.stringify({
      version: 3,
      sources: ['app.ts'],
      names: ['login', 'token'],
      mappings: 'AAAA,SAASA,EAAMC,GACb,OAAOC,QAAQD',
    }),
  ).toString('base64')}`,
  `{"version":3,"file":"app.js","sources":["../src/app.ts"],"names":[],"mappings":"AAAA,OAAO,EAAE,KAAK,EAAE,M\
AAM,OAAO,CAAC;AAE7B,\
MAAM,UAAU,MAAM,CAAC,IAAY;IACjC,OAAO,IAAI,CAAC,MAAM,CAAC"}`,
  `!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():"function"==typeof \
define&&define.amd?\
define(t):(e=e||self).dayjs=t()}(this,function(){"use strict";var \
e="millisecond",t="second",n="minute",r="hour",i="day",s="week",\
u="month",a="quarter",o="year",f=/^(\\d{4})-?(\\d{1,2})-?(\\d{0,2})[^0-9]*(\\d{1,2})?$/;return f});`,
  `assets/index-${alnum(8)}.js       142.31 kB │ gzip: 46.02 kB
assets/vendor-${alnum(8)}.js      311.80 kB │ gzip: 99.14 kB
assets/login-page-${alnum(8)}.css   4.11 kB │ gzip:  1.30 kB`,
  `main.${hex(20)}.chunk.js, runtime~main.${hex(20)}.js and 2.${hex(8)}.chunk.css were emitted.`,
  `ETag: W/"${hex(4)}-${of(B62 + '+/', 27)}"
Last-Modified: Mon, 12 May 2025 06:25:14 GMT`,
  `Message-ID: <CAK${of(B62 + '-_', 45)}@mail.gmail.com>
In-Reply-To: <${hex(32)}@acme.io>`,
  `magnet:?xt=urn:btih:${hex(40)}&dn=ubuntu-24.04.1-desktop-amd64.iso`,
  `ipfs://bafybeig${of('abcdefghijklmnopqrstuvwxyz234567', 51)}/metadata/118.json`,
  `Contract deployed to 0x${hex(40)} in block 21340118, tx 0x${hex(64)}`,
  `Transfer(from: 0x${hex(40)}, to: 0x${hex(40)}, value: 2500000000000000000)`,
  `bitcoin tx ${hex(64)} has 3 confirmations; it pays to bc1q${of('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 38)}`,
  `Guru Meditation: 0x00000050 (0x${HEX(16)}, 0x0000000000000000, 0x${HEX(16)})`,
  `rax: ${hex(16)}  rbx: ${hex(16)}  rcx: ${hex(16)}
rsp: ${hex(16)}  rbp: ${hex(16)}  rip: ${hex(16)}`,
  `==118==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200000eff0 at pc 0x${hex(12)} bp \
0x${hex(12)}
    #0 0x${hex(12)} in token_free src/lexer.c:118`,
  `nonce 0x${hex(16)}, gas limit 21000, block hash 0x${hex(64)}`,
  `Base64 of "Hello, world!" is SGVsbG8sIHdvcmxkIQ== and of an empty JSON object e30=.`,
  `Cache key: node-modules-linux-x64-${hex(64)}
Cache restored successfully`,
  `turbo 2.3.3: @acme/web:build: cache hit, replaying logs ${hex(16)}`,
  `"buildId": "${of(B62 + '-_', 21)}", "assetPrefix": "", "nextExport": false`,
  `Model file ggml-base.en.bin (sha1 ${hex(40)}) is already there, skipping the download.`,
  `crc32 ${hex(8)}, adler32 ${hex(8)}, xxh3 ${hex(16)}`,
)

// ---- speaking about secrets without giving one ------------------------------------------------------------

add(
  'The password must have at least 12 characters, one digit and one symbol.',
  'Password must not be longer than 72 bytes because bcrypt ignores the rest.',
  'Set API_KEY in your environment before you run the importer.',
  'export OPENAI_API_KEY=<your key here>',
  'export ANTHROPIC_API_KEY="your-api-key-here"',
  'curl -H "Authorization: Bearer $TOKEN" https://api.acme.io/v1/me',
  'curl -H "Authorization: Bearer <token>" https://api.acme.io/v1/me',
  'Authorization: Bearer ****************',
  'password: ********',
  'DB_PASSWORD=',
  'DB_PASSWORD=\nDB_HOST=localhost\nDB_PORT=5432\nAPI_KEY=\nAPI_URL=http://localhost:3000',
  '# .env.example\nSTRIPE_SECRET_KEY=sk_test_...\nSTRIPE_WEBHOOK_SECRET=whsec_...\nJWT_SECRET=replace-me',
  'Enter passphrase (empty for no passphrase):',
  '[sudo] password for kim:',
  'Password for user postgres: ',
  'psql: error: FATAL:  password authentication failed for user "shop"',
  "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)",
  "remote: Support for password authentication was removed on August 13, 2021.\nfatal: Authentication failed \
for \
'https://github.com/acme-labs/billing.git/'",
  'Permission denied (publickey,password).',
  'Error: Missing required environment variable JWT_SECRET',
  'openai.OpenAIError: The api_key client option must be set either by passing api_key to the client or by \
setting the \
OPENAI_API_KEY environment variable',
  '{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-pr****************wXyz."}}',
  '{"error":"invalid_token","error_description":"The access token expired"}',
  '{"error":"invalid_grant","error_description":"Invalid user credentials"}',
  'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer realm="api", error="invalid_token"',
  'WWW-Authenticate: Basic realm="Restricted area", charset="UTF-8"',
  'I never print secrets; the token is read from the keychain and passed on stdin.',
  'Please rotate the leaked token, then force-push the cleaned history.',
  'The key insight is that tokens are consumed lazily, so the parser needs one token of lookahead.',
  'Token count: 412, prompt tokens: 388, completion tokens: 24',
  'usage: { input_tokens: 18211, output_tokens: 902, cache_read_input_tokens: 16384, \
cache_creation_input_tokens: 0 }',
  'max_tokens: 4096, temperature: 0.2, stop: ["\\n\\n"]',
  'The tokenizer splits "unbelievable" in 3 tokens: un, believ, able.',
  'tokens/s: 81.4 | time to first token: 412 ms | context window: 200000 tokens',
  'next_page_token: null, page_size: 50, total: 118',
  'Primary key (id), foreign key (customer_id) references customers (id), unique key (email)',
  "KeyError: 'password'",
  'KeyboardInterrupt: user pressed Ctrl-C while the password prompt was open',
  'Press any key to continue . . .',
  'Keyboard shortcuts: Ctrl+K opens the palette, Alt+Shift+F formats, F2 renames.',
  'The secret of a good soup is a slow simmer and enough salt.',
  'It is an open secret that the migration took three years.',
  'Her password manager is Bitwarden; the team uses 1Password.',
  'Use a passphrase of five random words rather than a short password.',
  'Never commit credentials. Use a secret manager such as Vault, Doppler or AWS Secrets Manager.',
  'Secrets are stored encrypted with AES-256-GCM; the data key is wrapped by KMS.',
  'We hash passwords with argon2id (m=19456, t=2, p=1) and a 16-byte salt.',
  'Password reset requested: we sent a mail with a link that expires in 30 minutes.',
  'Forgot your password? Click "Reset password" on the login page.',
  'The login form has two inputs: email and password. The submit button is disabled until both are filled.',
  'Passwords do not match.',
  'Your password has expired and must be changed.',
  'Invalid username or password. 2 attempts left.',
  'Two-factor authentication: open your authenticator app and type the 6-digit code.',
  'Recovery codes are shown once; print them or store them in your password manager.',
  'Access token lifetime: 15 minutes. Refresh token lifetime: 30 days, rotating.',
  'The bearer token goes in the Authorization header, never in the query string.',
  'OAuth scopes: repo, read:org, workflow. The token needs at least repo.',
  'API keys start with sk_live_ in production and sk_test_ in the sandbox.',
  'GitHub tokens have a prefix: ghp_ for classic, github_pat_ for fine-grained, ghs_ for installations.',
  'AWS access key ids begin with AKIA (long-term) or ASIA (temporary).',
  'A JWT has three parts separated by dots: header, payload and signature.',
  'The regex `/AKIA[0-9A-Z]{16}/` finds AWS access key ids, `/gh[pousr]_[A-Za-z0-9]{36}/` GitHub tokens.',
  '-----BEGIN PRIVATE KEY----- marks the start of a PKCS#8 key; we reject files that contain this line.',
  'Expected "password" to be masked, received "[REDACTED]".',
  'password=[REDACTED] token=[REDACTED] user=kim',
  'secret: "<redacted>"',
  'apiKey: "***", region: "eu"',
  'token: ghp_************************************',
  'Using key ending in …4f2a',
  'postgres://user:***@db.internal:5432/shop',
  'postgres://USER:PASSWORD@HOST:5432/DATABASE',
  'postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}:5432/${DB_NAME}',
  'mongodb+srv://<username>:<password>@cluster0.mongodb.net/?retryWrites=true',
  'mysql -u root -p shop < dump.sql',
  'docker login -u acmebuild --password-stdin < ~/.docker-pass',
  'gh auth token | docker login ghcr.io -u kim --password-stdin',
  'read -s -p "Password: " PASSWORD && export PASSWORD',
  'export VAULT_TOKEN=$(vault login -token-only -method=oidc)',
  'DATABASE_URL=$(op read "op://prod/db/url") npm run migrate',
  'kubectl get secret db -o jsonpath="{.data.password}" | base64 -d | pbcopy',
  'aws secretsmanager get-secret-value --secret-id prod/db --query SecretString --output text',
  'openssl rand -base64 32 > secret.key && chmod 600 secret.key',
  'ssh-keygen -t ed25519 -C "kim@laptop" -f ~/.ssh/id_ed25519',
  'pass generate web/shop 24',
  'NPM_TOKEN is not set; publishing is skipped.',
  'The secrets scanner found 0 findings in 1,184 files.',
  'Found 3 unused exports: hashPassword, verifyToken, API_KEY_HEADER',
)

// ---- the same in other languages --------------------------------------------------------------------------

add(
  'Das Passwort muss mindestens zwölf Zeichen haben und darf nicht im Wörterbuch stehen.',
  'Bitte geben Sie Ihr Kennwort ein.',
  'Kennwort vergessen? Wir senden Ihnen einen Link zum Zurücksetzen.',
  'Das Passwort ist falsch.',
  'Der API-Schlüssel wird in den Einstellungen unter „Integrationen" erzeugt.',
  'Passwort: (nicht gesetzt)',
  'Passwörter werden nur gehasht gespeichert, niemals im Klartext.',
  'Ich habe das Passwortfeld aus dem Protokoll entfernt und einen Test ergänzt.',
  'Die Zugangsdaten liegen im Tresor, nicht im Repository.',
  'Le mot de passe doit contenir au moins 12 caractères.',
  'Mot de passe oublié ?',
  'Le mot de passe est incorrect, il reste deux essais.',
  'La clé API se trouve dans les paramètres du compte.',
  'Le jeton a expiré, reconnectez-vous.',
  'La contraseña debe tener al menos ocho caracteres.',
  '¿Olvidaste tu contraseña?',
  'La contraseña es obligatoria.',
  'El token caduca a los 15 minutos.',
  'A senha deve ter no mínimo 8 caracteres.',
  'Esqueceu a senha? Clique aqui.',
  'A senha é obrigatória e o token expirou.',
  'Hasło musi mieć co najmniej 12 znaków.',
  'Nie pamiętasz hasła? Kliknij tutaj.',
  'Hasło jest nieprawidłowe.',
  'Klucz API można wygenerować w ustawieniach konta.',
  'パスワードは8文字以上で入力してください。',
  'パスワードをお忘れですか?',
  'APIキーは環境変数で設定してください。',
  '密码长度不能少于八位。',
  '请输入密码',
  '忘记密码?请联系管理员。',
  'API 密钥保存在环境变量中,不要写入代码。',
  'La password deve contenere almeno una lettera maiuscola.',
  'Wachtwoord vergeten? Neem contact op met de helpdesk.',
  'Lösenordet måste innehålla minst en siffra.',
  'Пароль должен содержать не менее 8 символов.',
  '비밀번호는 8자 이상이어야 합니다.',
  'Şifre en az 8 karakter olmalıdır.',
  'login.password.label=Passwort\nlogin.password.placeholder=Ihr \
Passwort\nlogin.submit=Anmelden\nlogin.forgot=Passwort vergessen?',
  '{\n  "auth": {\n    "password": "Mot de passe",\n    "passwordConfirm": "Confirmer le mot de passe",\n    \
"token": "Jeton",\n\
    "apiKey": "Clé API"\n  }\n}',
  '{"password":"Contraseña","username":"Usuario","secret":"Secreto","signIn":"Iniciar sesión"}',
  'msgid "Password"\nmsgstr "Hasło"\n\nmsgid "Token"\nmsgstr "Token"\n\nmsgid "Secret key"\nmsgstr "Klucz \
tajny"',
)

// ---- code that handles secrets ----------------------------------------------------------------------------

add(
  'interface Credentials {\n  username: string\n  password: string\n  token?: string\n  apiKey: string | \
undefined\n}',
  "const apiKey = process.env.API_KEY\nif (!apiKey) throw new Error('API_KEY is not set')",
  'const { DATABASE_URL, JWT_SECRET } = process.env',
  'api_key = os.environ["OPENAI_API_KEY"]\nclient = OpenAI(api_key=api_key)',
  'password = getpass.getpass("Password: ")',
  'client = OpenAI(api_key=os.getenv("OPENAI_API_KEY"))',
  'String password = System.getenv("DB_PASSWORD");',
  'spring.datasource.password=${DB_PASSWORD}\nspring.datasource.username=${DB_USER:shop}',
  'token := os.Getenv("GITHUB_TOKEN")\nif token == "" {\n\tlog.Fatal("GITHUB_TOKEN is required")\n}',
  'let token = std::env::var("API_TOKEN").expect("API_TOKEN must be set");',
  'config.secret_key_base = Rails.application.credentials.secret_key_base',
  "'password' => env('DB_PASSWORD', ''),\n'key' => env('APP_KEY'),",
  'SECRET_KEY = config("SECRET_KEY")\nDEBUG = config("DEBUG", default=False, cast=bool)',
  'def verify_password(plain_password: str, hashed_password: str) -> bool:\n    return \
pwd_context.verify(plain_password, \
hashed_password)',
  "export async function hashPassword(password: string): Promise<string> {\n  const salt = randomBytes(16)\n \
 const key = await \
scryptAsync(password, salt, 64)\n  return `${salt.toString('hex')}:${key.toString('hex')}`\n}",
  "const token = jwt.sign(payload, secret, { expiresIn: '15m' })",
  "const token = req.headers.authorization?.replace('Bearer ', '')",
  "headers: { Authorization: `Bearer ${token}`, 'X-Api-Key': apiKey }",
  'headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}',
  'req.Header.Set("Authorization", "Bearer "+token)',
  "cookies.set('session', sessionId, { httpOnly: true, secure: true, sameSite: 'lax' })",
  "if (password !== passwordConfirm) {\n  errors.password = t('auth.passwordsDoNotMatch')\n}",
  "const [password, setPassword] = useState('')\nconst [showPassword, setShowPassword] = useState(false)",
  '<input type="password" name="password" placeholder="Password" autocomplete="current-password" required>',
  '<label for="password">Password</label>\n<input id="password" type="password" minlength="12">',
  '<TextField label="API key" value={apiKey} onChange={event => setApiKey(event.target.value)} \
type="password" />',
  "await page.fill('#password', process.env.TEST_PASSWORD!)",
  "await page.getByLabel('Password').fill(user.password)",
  "cy.get('input[name=password]').type(Cypress.env('password'), { log: false })",
  'expect(screen.getByLabelText(/password/i)).toBeInTheDocument()',
  "expect(response.body).not.toHaveProperty('password')",
  "it('rejects an expired token', async () => {\n  await \
expect(verifyToken(expired)).rejects.toThrow(TokenExpiredError)\n})",
  'z.object({ email: z.string().email(), password: z.string().min(12).max(128), token: z.string().optional() \
})',
  "password: Joi.string().pattern(new RegExp('^[a-zA-Z0-9]{3,30}$')).required()",
  'model User {\n  id           String   @id @default(uuid())\n  email        String   @unique\n  \
passwordHash String\n  apiKeys      \
ApiKey[]\n  resetToken   String?\n}',
  'CREATE TABLE users (\n  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),\n  email text NOT NULL UNIQUE,\n  \
password_hash text NOT \
NULL,\n  api_token text,\n  created_at timestamptz NOT NULL DEFAULT now()\n);',
  'ALTER TABLE accounts ADD COLUMN password_changed_at timestamptz, DROP COLUMN password_plain;',
  'SELECT id, email, password_hash IS NOT NULL AS has_password FROM users WHERE reset_token = $1',
  'UPDATE users SET password_hash = $1, reset_token = NULL WHERE id = $2 RETURNING id;',
  "ALTER ROLE app WITH PASSWORD :'password';",
  "CREATE USER app WITH PASSWORD '${APP_DB_PASSWORD}';",
  'CREATE INDEX CONCURRENTLY idx_tokens_hash ON api_tokens (token_hash) WHERE revoked_at IS NULL;',
  'enum TokenKind {\n  OpenParen,\n  CloseParen,\n  Identifier,\n  StringLiteral,\n  Keyword,\n  \
EndOfFile,\n}',
  'while (this.token !== Token.EOF) {\n  const token = this.scanner.scan()\n  if (token === Token.Comment) \
continue\n  tokens.push(token)\n}',
  "fn next_token(&mut self) -> Option<Token<'a>> {\n    let token = self.tokens.get(self.pos).copied();\n   \
 self.pos += 1;\n    token\n}",
  'for key, value in sorted(headers.items()):\n    if key.lower() in {"authorization", "cookie", \
"x-api-key"}:\n        value = "***"\n\
    print(f"{key}: {value}")',
  "const SECRET_KEYS = ['password', 'passwd', 'secret', 'token', 'apiKey', 'authorization'] as \
const",
  "function redact(value: string): string {\n  return value.replace(/(password|token)=\\S+/gi, \
'$1=[redacted]')\n}",
  'public record LoginRequest(@NotBlank String username, @NotBlank String password) {}',
  'services.Configure<JwtOptions>(builder.Configuration.GetSection("Jwt"));\nvar key = \
builder.Configuration["Jwt:Key"];',
  '$securePassword = Read-Host -AsSecureString "Password"\n$cred = Get-Credential -UserName corp\\svc_backup',
  'data "aws_secretsmanager_secret_version" "db" {\n  secret_id = "prod/db"\n}\n\nlocals {\n  password = \
jsondecode(data.aws_secretsmanager_secret_version.db.secret_string)["password"]\n}',
  'ansible_password: "{{ lookup(\'env\', \'WIN_PASSWORD\') }}"\nansible_become_pass: "{{ vault_become_pass \
}}"',
  'auth:\n  existingSecret: postgres-credentials\n  secretKeys:\n    adminPasswordKey: postgres-password\n   \
 userPasswordKey: password',
  'type ApiKey = { id: string; prefix: string; hash: Buffer; lastUsedAt: Date | null }',
  'keys = sorted(d.keys(), key=lambda k: d[k])\nprimary_key = keys[0]',
  'map.put(key, value); // key is the normalised path',
  'const key = `${tenant}:${user}:${resource}`\nreturn cache.get(key)',
  'key={item.id} tokenType="identifier" passwordPolicy="strict" secretName="db-credentials"',
  'private readonly tokenService: TokenService,\nprivate readonly passwordHasher: PasswordHasher,\nprivate \
readonly \
secretsManagerClient: SecretsManagerClient,',
  "throw new UnauthorizedException('Invalid API key')",
  'raise HTTPException(status_code=401, detail="Could not validate credentials", \
headers={"WWW-Authenticate": "Bearer"})',
  'AuthenticationManagerBuilder.passwordEncoder(new BCryptPasswordEncoder(12))',
  '@app.post("/token")\nasync def login(form_data: OAuth2PasswordRequestForm = Depends()) -> Token:\n    \
user = \
authenticate_user(form_data.username, form_data.password)',
  'securitySchemes:\n  bearerAuth:\n    type: http\n    scheme: bearer\n    bearerFormat: JWT\n  \
apiKeyAuth:\n    type: apiKey\n    in: \
header\n    name: X-API-Key',
  'properties:\n  password:\n    type: string\n    format: password\n    minLength: 12\n  token:\n    type: \
string\n    nullable: true',
  '| Variable | Required | Description |\n|---|---|---|\n| `API_KEY` | yes | Key of the partner API |\n| \
`JWT_SECRET` | yes | At least \
32 bytes |\n| `SMTP_PASSWORD` | no | Only with SMTP |',
  '| Field | Type | Notes |\n| --- | --- | --- |\n| password | string | write-only |\n| token | string | \
returned once |',
  'usage: importer [-h] [--api-key KEY] [--password-file FILE] [--token-env NAME] input\n\noptions:\n  \
--api-key KEY  key of the API \
(default: $API_KEY)',
  'name,username,password_last_changed,mfa\nBerger,k.berger,2025-01-04,yes\nOlsen,p.olsen,2023-11-30,no',
  'user,password_enabled,password_last_used,access_key_1_active\nci,false,N/A,true\nkim,true,2025-03-02T10:00\
:00+00:00,false',
)

// ---- tests, logs, tools -----------------------------------------------------------------------------------

add(
  ` ✓ src/auth/password.test.ts (14 tests) 212ms
 ✓ src/auth/token.test.ts (9 tests) 48ms
 ❯ src/keys/keyring.test.ts (6 tests | 1 failed) 31ms
   × returns the newest key → expected 'k3' to be 'k2'

 Test Files  1 failed | 2 passed (3)
      Tests  1 failed | 28 passed (29)`,
  `FAILED tests/test_login.py::test_wrong_password - AssertionError: assert 200 == 401
FAILED tests/test_login.py::test_expired_token - KeyError: 'token'
========================= 2 failed, 118 passed in 4.11s =========================`,
  `ok  	github.com/acme/shop/internal/token	0.412s	coverage: 91.2% of statements
ok  	github.com/acme/shop/internal/secret	0.118s	coverage: 88.0% of statements
---	FAIL: TestPasswordPolicy (0.00s)`,
  `src/login.ts(41,7): error TS2322: Type 'string | undefined' is not assignable to type 'string'.
src/token.ts(12,3): error TS2554: Expected 2 arguments, but got 1.`,
  `/srv/app/src/keys.ts
  18:9  error    'secret' is assigned a value but never used  @typescript-eslint/no-unused-vars
  40:1  warning  Unexpected console statement                 no-console`,
  `Traceback (most recent call last):
  File "/srv/app/auth.py", line 88, in login
    user = authenticate(username, password)
TypeError: authenticate() missing 1 required positional argument: 'password'`,
  `2025-05-04 10:12:31,556 INFO  [http-nio-8080-exec-4] c.a.s.LoginController - login ok user=kim \
method=password mfa=totp`,
  `level=info ts=2025-06-01T10:00:01.118Z msg="token refreshed" client=reporting expires_in=3600`,
  `level=warn msg="password policy: 3 users have no password set" job=nightly`,
  `10.0.0.4 - - [12/May/2025:06:25:14 +0000] "GET /assets/index-${alnum(8)}.js HTTP/1.1" 200 46021 "-" \
"Mozilla/5.0 (X11; Linux x86_64)"`,
  `10.0.0.9 - kim [12/May/2025:06:25:15 +0000] "POST /login HTTP/2.0" 302 0 "https://app.acme.io/login" \
"Mozilla/5.0"`,
  `May 12 06:25:14 web1 sshd[2211]: Accepted publickey for deploy from 203.0.113.7 port 51122 ssh2: ED25519 \
SHA256:${bytes(32).toString('base64').replace('=', '')}`,
  `May 12 06:25:19 web1 sshd[2219]: Failed password for invalid user admin from 198.51.100.44 port 40218 \
ssh2`,
  `pam_unix(sudo:session): session opened for user root(uid=0) by kim(uid=1000)`,
  `total 48
drwxr-xr-x  6 kim kim 4096 Mar  4 10:21 .
-rw-------  1 kim kim  411 Mar  4 10:21 id_ed25519
-rw-r--r--  1 kim kim   92 Mar  4 10:21 id_ed25519.pub
-rw-------  1 kim kim 1184 Mar  4 10:21 credentials.json`,
  `./src/auth/password.ts:18:export function checkPassword(password: string): boolean {
./src/auth/password.ts:44:  // TODO: check the password against the breach list
./src/auth/token.ts:9:const TOKEN_TTL_SECONDS = 900
./docs/secrets.md:3:# Secrets`,
  `src/secrets/vault.ts
src/secrets/index.ts
src/tokens/refresh-token.entity.ts
src/users/dto/change-password.dto.ts
test/fixtures/passwords.txt`,
  `PASS src/components/PasswordInput/PasswordInput.test.tsx
PASS src/components/ApiKeyTable/ApiKeyTable.test.tsx
Snapshot Summary
 › 2 snapshots written`,
  `Lighthouse: performance 91, accessibility 100, best practices 96, SEO 92; LCP 1.8 s, CLS 0.01, TBT 118 ms`,
  `PING db.internal (10.4.2.11) 56(84) bytes of data.
64 bytes from 10.4.2.11: icmp_seq=1 ttl=64 time=0.412 ms
64 bytes from 10.4.2.11: icmp_seq=2 ttl=64 time=0.388 ms`,
  `eth0: inet 10.20.0.17/24 ether 02:42:0a:14:00:11 inet6 fe80::42:aff:fe14:11/64
wlan0: ether a4:83:e7:2f:91:0c`,
  `2001:0db8:85a3:0000:0000:8a2e:0370:7334 → fe80::1ff:fe23:4567:890a, 2a01:4f8:c17:b0f::2`,
  `;; ANSWER SECTION:
acme.io.  300 IN TXT "v=spf1 include:_spf.google.com ~all"
acme.io.  300 IN TXT "google-site-verification=${of(B62 + '-_', 43)}"
mail._domainkey.acme.io. 300 IN TXT "v=DKIM1; k=rsa; \
p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${of(B62 + '+/', 120)}"`,
  `HTTP/2 200
content-type: text/html; charset=utf-8
cache-control: public, max-age=31536000, immutable
strict-transport-security: max-age=63072000; includeSubDomains; preload
content-security-policy: default-src 'self'; script-src 'self' '${sri('sha256')}'`,
  `cookie: theme=dark; lang=de; consent=necessary`,
  `set-cookie: lang=de; Path=/; Max-Age=31536000; SameSite=Lax`,
  `access-control-allow-headers: authorization, content-type, x-api-key, x-csrf-token
access-control-allow-methods: GET, POST, OPTIONS`,
  `GET https://www.google.com/search?q=how+to+rotate+an+api+key&hl=en&source=hp&num=20`,
  `https://eu-central-1.console.aws.amazon.com/cloudwatch/home?region=eu-central-1#logsV2:log-groups/log-grou\
p/$252Faws$252Flambda$252F\
token-rotator`,
  `https://www.amazon.de/dp/B0C8J9ZKXV/ref=sr_1_3?crid=2M096C61O4MLT&keywords=password+notebook&qid=173332211\
0&sr=8-3`,
  `https://github.com/acme-labs/billing/blob/${hex(40)}/src/auth/token.ts#L18-L41`,
  `https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html#securing_access-keys`,
  `https://www.figma.com/file/${alnum(22)}/Design-System?type=design&node-id=118-2044&mode=design`,
  `https://docs.google.com/spreadsheets/d/1${of(B62 + '-_', 43)}/edit#gid=0`,
  `https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&index=3`,
  `https://shop.acme.io/products/keyring-leather?utm_source=newsletter&utm_medium=email&utm_campaign=spring_2\
025&variant=41188823990`,
  `https://app.acme.io/orders?cursor=${Buffer.from('{"id":118,"at":"2025-03-01"}').toString('base64url')}&lim\
it=50&sort=-created_at`,
  `https://login.microsoftonline.com/common/oauth2/v2.0/authorize?client_id=${uuid()}&response_type=code&redi\
rect_uri=\
http%3A%2F%2Flocalhost%3A3000%2Fcallback&scope=openid%20profile`,
  `https://unpkg.com/browse/react-dom@18.3.1/umd/react-dom.production.min.js`,
  `https://en.wikipedia.org/wiki/Donaudampfschifffahrtselektrizit%C3%A4tenhauptbetriebswerkbauunterbeamtenges\
ellschaft`,
  `https://maps.app.goo.gl/?link=https://www.google.com/maps/place/52.5200066,13.404954/data%3D!3m1!4b1`,
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"src/auth/p\
assword.ts"}}}`,
  `{"type":"tool_use","id":"toolu_01${alnum(22)}","name":"Bash","input":{"command":"npm test -- \
password","description":"Run tests"}}`,
  `{"type":"tool_result","tool_use_id":"toolu_01${alnum(22)}","content":"29 passed","is_error":false}`,
  `{"id":"msg_01${alnum(22)}","type":"message","role":"assistant","model":"claude-sonnet-4-20250514","stop_re\
ason":"end_turn",\
"usage":{"input_tokens":412,"output_tokens":88}}`,
  `{"id":"chatcmpl-${alnum(29)}","object":"chat.completion","created":1733322110,"model":"gpt-4o-2024-08-06",\
"system_fingerprint":\
"fp_${hex(10)}","usage":{"prompt_tokens":118,"completion_tokens":17,"total_tokens":135}}`,
  `{"id":"call_${alnum(24)}","type":"function","function":{"name":"get_weather","arguments":"{\\"city\\":\\"G\
dynia\\"}"}}`,
  `{"id":"evt_1${alnum(23)}","object":"event","type":"invoice.paid","data":{"object":{"id":"in_1${alnum(23)}"\
,"customer":"cus_${alnum(14)}",\
"amount_paid":11840}}}`,
  `cus_${alnum(14)}, sub_1${alnum(23)}, price_1${alnum(23)} and prod_${alnum(14)} were archived.`,
  `{"ok":true,"channel":"C04LR9PQ2","ts":"1733322110.118229","message":{"user":"U02K8QZ1M","team":"T01ABCD23"\
}}`,
  `systemd[1]: Started session-118.scope - Session 118 of User kim.`,
  `kernel: usb 1-2: New USB device found, idVendor=1050, idProduct=0407 (YubiKey OTP+FIDO+CCID), \
SerialNumber=0`,
  `{"level":30,"time":1733322110881,"pid":2217,"hostname":"${hex(12)}","reqId":"req-${of(
    LOW + DIG,
    4,
  )}","msg":"request completed"}`,
  `Compiling secrecy v0.10.3
   Compiling jsonwebtoken v9.3.0
   Compiling password-hash v0.5.0
    Finished \`release\` profile [optimized] target(s) in 41.18s`,
  `Downloading torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl (906.4 MB)
Installing collected packages: tokenizers, safetensors, transformers
Successfully installed safetensors-0.4.5 tokenizers-0.20.3 transformers-4.46.3`,
  `Loading checkpoint shards: 100%|██████████| 4/4 [00:11<00:00,  2.81s/it]
Setting \`pad_token_id\` to \`eos_token_id\`:128001 for open-end generation.`,
  `special_tokens_map: {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": \
"<|finetune_right_pad_id|>"}`,
  `CPU: AMD Ryzen 7 7840U, GPU: Radeon 780M, RAM: 32 GiB LPDDR5X-7500, SSD: SAMSUNG MZVL21T0HCLR-00B00`,
  `#define KEY_LEFTCTRL 29
#define KEY_PASSWORD_MAX 128
#define TOKEN_BUFFER_SIZE 0x4000`,
  `mov    rax, QWORD PTR fs:0x28
lea    rdi, [rip+0x${hex(4)}]        # ${hex(8)} <password_prompt>
call   ${hex(6)} <getpass@plt>`,
  `[\n  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,\n]`,
  `assert_eq!(sha256(b"abc"), hex!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));`,
  `MD5 of the empty string is d41d8cd98f00b204e9800998ecf8427e.`,
  `GUID_DEVINTERFACE_KEYBOARD = {884b96c3-56ef-11d1-bc8c-00a0c91405dd}`,
  `viewBox="0 0 24 24" d="M12 1a5 5 0 0 0-5 5v3H6a2 2 0 0 0-2 2v9a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-9a2 2 0 0 \
0-2-2h-1V6a5 5 0 0 0-5-5z"`,
  `--color-token-keyword: #d73a49; --color-token-string: #032f62; --color-token-comment: #6a737d;`,
  `.hljs-keyword,.token.keyword{color:#d73a49}.token.string{color:#032f62}`,
  `{"editor.tokenColorCustomizations":{"textMateRules":[{"scope":"keyword.control","settings":{"foreground":"\
#C586C0"}}]}}`,
  `$ crontab -l
0 3 * * 0 /usr/local/bin/rotate-secrets --all >> /var/log/rotate.log 2>&1
*/5 * * * * /usr/local/bin/check-tokens`,
  `Screenshot saved to /tmp/shots/login-password-error-${hex(8)}.png (1280×720)`,
  `- textbox "Email" [ref=e40]
- textbox "Password" [ref=e42]
- button "Sign in" [ref=e44]
- link "Forgot password?" [ref=e45]`,
)

// ---- numbers, business, other domains ---------------------------------------------------------------------

add(
  `date,open,high,low,close,volume
2025-03-03,188.12,190.40,187.55,189.98,41822011
2025-03-04,190.02,191.77,188.90,189.10,38811204
2025-03-05,189.00,189.44,184.31,185.02,52009117`,
  list(6, () => list(6, () => `${rnd(9)}.${digits(6)}`).join(',')).join('\n'),
  `[${list(24, () => `${rnd(2) ? '-' : ''}0.0${digits(7)}`).join(', ')}]`,
  `lat,lon,ele,time
54.518890,18.530540,12.4,2025-05-01T06:11:02Z
54.519012,18.530981,12.9,2025-05-01T06:11:07Z`,
  `2025-01-31T23:59:59.999Z 2025-02-28T00:00:00+01:00 20250304T102155Z 2025-W10-2 1733322110881`,
  `Order no. 302-8841127-9930145 was shipped with DHL, tracking number 00340434161094042557.`,
  `UPS tracking 1Z999AA10123456784, expected delivery on Thursday by 18:00.`,
  `Sendungsnummer JJD000390007882810117, Abholung in der Filiale 412 ab morgen.`,
  `Invoice RE-2025-004118, customer number 10048812, due within 14 days, total EUR 1,184.20.`,
  `IBAN of the charity (public): DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX`,
  `VAT ID DE811907980, HRB 118233 B, Amtsgericht Charlottenburg`,
  `ISBN 978-3-16-148410-0, ISBN-10 0-306-40615-2, ISSN 2049-3630, DOI 10.1038/s41586-020-2649-2`,
  `arXiv:2401.04088v1 [cs.LG], PMID 33057194, ORCID 0000-0002-1825-0097`,
  `EAN 4006381333931, GTIN 00012345600012, ASIN B0C8J9ZKXV, SKU KEY-LTHR-BRN-02`,
  `VIN WVWZZZ1JZXW000001, licence plate GD 4118K, next inspection 11/2026`,
  `Please call our sales desk at +49 30 901820 or +1 (415) 555-0132, Mo–Fr 9–17.`,
  `Fax: 0049 (0)40 42883-0, Hotline: 0800 330 1000, Durchwahl -118`,
  `Flight LH 1334 FRA–GDN, seat 14C, boarding at gate B42, baggage 0220 118233`,
  `The patent US 10,118,233 B2 describes a keyless entry system for vehicles.`,
  `Drug list: acetylsalicylic acid, hydroxychloroquine, N-acetyl-p-aminophenol, 5-methyltetrahydrofolate`,
  `(2S,5R,6R)-3,3-dimethyl-7-oxo-6-(2-phenylacetamido)-4-thia-1-azabicyclo[3.2.0]heptane-2-carboxylic acid`,
  `CC(C)CC1=CC=C(C=C1)C(C)C(=O)O is ibuprofen; InChIKey HEFNNWSXXWATRW-UHFFFAOYSA-N`,
  `InChI=1S/C8H10N4O2/c1-10-4-9-6-5(10)7(13)12(3)8(14)11(6)2/h4H,1-3H3, InChIKey RYYVLZVUVIJVGH-UHFFFAOYSA-N`,
  `>NM_000518.5 Homo sapiens hemoglobin subunit beta
${list(4, () => of('ACGT', 60)).join('\n')}`,
  `primer forward ${of('ACGT', 24)}, primer reverse ${of('ACGT', 22)}, Tm 58.4 °C`,
  `MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHVDPENFRL\
LGNVLVCVLAHHFGKEF`,
  `1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 \
1/2-1/2`,
  `FEN r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3, best move a7a6 (depth 28, +0.31)`,
  `rnbqkb1r/pp1p1ppp/4pn2/2p5/2PP4/2N5/PP2PPPP/R1BQKBNR w KQkq c6 0 4`,
  `Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz ist das längste Wort im Bericht.`,
  `Kraftfahrzeughaftpflichtversicherung, \
Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung, Donaudampfschifffahrtskapitän`,
  `Die Passwortrichtlinienüberprüfungskommission tagt am Donnerstag um 14 Uhr.`,
  `Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch is a village on Anglesey.`,
  `Produkte: Xiaomi Redmi Note 13 Pro+, Sony WH-1000XM5, LG OLED55C47LA, HP LaserJet M110we, ThinkPad T14s \
Gen4 21F6002TGE`,
  `NVIDIA GeForce RTX 4090 (driver 560.35.03, CUDA 12.6), Intel i9-14900K, ASUS ROG STRIX Z790-E`,
  `Siemens 6ES7214-1AG40-0XB0, Bosch 0 280 158 827, Festo DSNU-25-100-PPV-A`,
  `Lot 7K4M-22B91, best before 11/2026, batch release signed by QA on 3 March`,
  `sudoku: 530070000600195000098000060800060003400803001700020006060000280000419005000080079`,
  `π ≈ 3.14159265358979323846264338327950288419716939937510, e ≈ \
2.71828182845904523536028747135266249775724709369995`,
  `2^127 − 1 = 170141183460469231731687303715884105727 is prime; 2^128 = \
340282366920938463463374607431768211456`,
  `UTM 34U 340118 6044229, MGRS 34UCF4011844229, plus code 9F6W5GXP+CQ, what3words ///harbor.walnut.kettle`,
  `Morse: .--. .- ... ... .-- --- .-. -.. means the word itself, nothing more.`,
  `|:G2 BAG|A2 BAB|G2 BAG|E2 DEG|G2 BAG|A2 BAB|d2 edB|A2 G:|`,
  `Cmaj7 Am7 Dm7 G7 | Em7 A7b9 Dm7 G13 | tempo 118, key of C`,
  `0 8 * * 1-5 Europe/Warsaw; RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20251231T230000Z`,
  `BEGIN:VEVENT
UID:${uuid()}@acme.io
DTSTART;TZID=Europe/Oslo:20250602T090000
SUMMARY:Key handover for the new office
END:VEVENT`,
  `\\documentclass{article}\\begin{document}$\\hat{H}\\psi = E\\psi$, see~\\cite{knuth1997art} for the key \
schedule.\\end{document}`,
  `G-${of('ABCDEFGHJKLMNPQRSTUVWXYZ' + DIG, 10)} is the public Google Analytics measurement id, \
GTM-${of('ABCDEFGHJKLMNPQRSTUVWXYZ' + DIG, 7)} the container.`,
  `Kundenkartennummer 2610 0048 8121 3, Filiale Wedding, 118 Punkte`,
  `Lotto am Samstag: 4 – 11 – 18 – 23 – 33 – 41, Superzahl 7`,
  `Regex for a plate: ^[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} [1-9][0-9]{0,3}[EH]?$`,
)

// ---- what users and models say ----------------------------------------------------------------------------

add(
  'Can you add a "show password" toggle to the login form? The icon should be on the right.',
  'I moved the API key out of the code; it now comes from the environment and the tests use a stub.',
  'The bug: the refresh token was sent to the old endpoint, so every second request failed with 401.',
  'I have not touched the secrets. The only file that changes is `src/auth/token.ts`.',
  'The password is checked on the server, the client only shows the strength meter.',
  'The password is hashed with argon2id before it is stored.',
  'The token is invalid because the clock of the container is 9 minutes behind.',
  'The secret is mounted as a file under /run/secrets, so it never appears in `docker inspect`.',
  'The key is missing in the translation file de.json; I added `auth.password.tooShort`.',
  'The api key is required, otherwise the server answers 403.',
  'Your API key is valid and has the scopes read and write.',
  'What is the password policy of this app? I only see a minimum length.',
  'Which token should I use, the project token or the group token?',
  'Where do I find my API key? The docs mention a settings page that does not exist any more.',
  'Please do not paste your password here; set it with `wrangler secret put DB_PASSWORD` instead.',
  'You will be asked for the passphrase of your key; it is not shown while you type.',
  'Das Passwort wird beim ersten Start abgefragt und im Schlüsselbund gespeichert.',
  'Kannst du bitte prüfen, warum das Token nach fünf Minuten abläuft?',
  'Der Schlüssel ist das Tripel aus Mandant, Benutzer und Ressource.',
  'Le jeton est stocké dans un cookie httpOnly, pas dans localStorage.',
  'El problema era la clave foránea: orders.customer_id apuntaba a la tabla vieja.',
  'Przeniosłem hasło do zmiennej środowiskowej i dodałem test.',
  'トークンの有効期限は15分です。更新は自動で行われます。',
  '令牌已过期,需要重新登录。',
  'I ran the tests three times: 412 passed, 0 failed. The flaky one (token refresh) is stable now.',
  'The commit that broke it is ' + hex(40) + ' – it renamed `apiKey` to `key` without the migration.',
  'Rollback to image sha256:' + hex(64) + ' fixed the login.',
  'The user id in the ticket, ' + uuid() + ', belongs to a test account that was deleted in May.',
  'Session ' + uuid() + ' ended after 41 turns; 18,211 input tokens and 902 output tokens.',
  'Added a unit test with the password "********" to be sure that masked values pass through unchanged.',
  'Passwordless login means that there is no password at all: the user confirms with a passkey.',
  'WebAuthn: the private key never leaves the authenticator; the server stores only the public key and a \
counter.',
  'Tokenization of card data replaces the number by a reference; the vault belongs to the payment provider.',
  'In the token bucket algorithm each request takes one token; tokens are refilled at 10 per second.',
  'A secret ballot was held; 41 votes for, 3 against.',
  'The Secret Garden (1911), The Secret History (1992), Secrets and Lies (1996)',
  'Pass: 118, fail: 2, skip: 4. Pass rate 95.2 %.',
  'Pass the salt, please. The boarding pass is in the drawer.',
  'He passed: Mathematics, Physics and Chemistry. Keywords: lattice, phonon, basis.',
  'Key results: revenue +11 %, churn 2.1 %, NPS 48. Key risks: hiring, energy prices.',
  'key takeaways: (1) cache less, (2) measure first, (3) delete code',
  'Signature: Dr. Katharina Wollschläger, Berlin, 3 March 2025',
  'The signature of `map` is `(fn: (value: T, index: number) => U) => U[]`.',
  'Credentials: M.Sc. (Computer Science), CISSP, AWS Certified Solutions Architect – Professional',
  'Auth: OAuth 2.1 with PKCE; code_challenge_method=S256; the verifier stays in memory.',
  'Session: Tuesday 14:00, room 4.118; bring your badge and a laptop.',
  'Cookie: 200 g butter, 150 g sugar, 1 egg, 250 g flour, a pinch of salt; bake 12 minutes at 180 °C.',
  'PIN layout: 1 VCC, 2 GND, 3 SDA, 4 SCL, 5 INT, 6 RST',
  'Pin the version to 4.12.0 and remove the override.',
  'postal code 10115, floor 4, building B, room 412',
  'Error code 0x80070005: access is denied. Event ID 4625, logon type 3.',
  'QR code of the museum: audio guide number 4118#, press stop to end.',
  'Country codes: DE +49, FR +33, ES +34, PL +48, PT +351, JP +81, CN +86',
)

// ---- documents and configuration --------------------------------------------------------------------------

add(
  `# Rotating the database password

1. Create a new password with \`openssl rand -base64 24\`.
2. Store it with \`vault kv put secret/db password=-\` (it reads from stdin).
3. Restart the pods: \`kubectl rollout restart deploy/api\`.

Never send the password by chat.`,
  `## Authentication

All requests need an API key. Pass it in the \`X-API-Key\` header:

\`\`\`http
GET /v1/orders HTTP/1.1
X-API-Key: YOUR_API_KEY
\`\`\`

Keys can be revoked in the dashboard.`,
  `### Environment

| name | default |
| --- | --- |
| PORT | 3000 |
| LOG_LEVEL | info |
| SESSION_SECRET | none, required |
| TOKEN_TTL | 900 |`,
  `server:
  port: 8080
auth:
  token-ttl: 15m
  refresh-token-ttl: 30d
  password:
    min-length: 12
    max-age: 365d
    history: 5
  max-login-attempts: 5`,
  `[tool.ruff.lint]
select = ["E", "F", "S105", "S106"] # hardcoded passwords
ignore = ["S101"]`,
  `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "strict": true,
    "erasableSyntaxOnly": true
  },
  "exclude": ["dist", "secrets"]
}`,
  `.env
.env.*
!.env.example
*.pem
*.key
credentials.json
secrets/`,
  `{"passwordPolicy":{"minLength":12,"requireDigit":true,"requireSymbol":true},"tokenLifetime":"PT15M","apiKe\
yHeader":"X-API-Key"}`,
  `PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
]`,
  `Host github.com
  User git
  IdentityFile ~/.ssh/id_ed25519
  IdentitiesOnly yes
  PasswordAuthentication no`,
  `PermitRootLogin no
PasswordAuthentication no
PubkeyAuthentication yes
AuthorizedKeysFile .ssh/authorized_keys`,
  `ssl_certificate     /etc/letsencrypt/live/shop.acme.io/fullchain.pem;
ssl_certificate_key /etc/letsencrypt/live/shop.acme.io/privkey.pem;
auth_basic "Staging";
auth_basic_user_file /etc/nginx/.htpasswd;`,
  `credential.helper=osxkeychain
user.signingkey=${HEX(16)}
commit.gpgsign=true
url.git@github.com:.insteadof=https://github.com/`,
  `pub   ed25519 2024-01-08 [SC] [expires: 2027-01-07]
      ${HEX(40)}
uid           [ultimate] Kim Berger <kim@acme.io>
sub   cv25519 2024-01-08 [E]`,
  `gpg: Signature made Tue Mar  4 10:21:55 2025 CET
gpg:                using EDDSA key ${HEX(40)}
gpg: Good signature from "Kim Berger <kim@acme.io>" [ultimate]`,
  `-----BEGIN PGP SIGNATURE-----

iHUEABYKAB0WIQ${of(B62, 50)}
${bytes(45).toString('base64')}
=${of(B62, 4)}
-----END PGP SIGNATURE-----`,
  `rules:
  - id: hardcoded-password
    pattern: $X.password = "..."
    message: Do not hardcode a password
    languages: [javascript, typescript]
    severity: ERROR`,
  `[[rules]]
id = "generic-api-key"
description = "Generic API key"
regex = '''(?i)(key|token|secret)\\s*[:=]\\s*["'][0-9a-z\\-_]{20,}["']'''
keywords = ["key", "token", "secret"]`,
  `permissions:
  contents: read
  id-token: write
  packages: write`,
  `apiVersion: external-secrets.io/v1beta1
kind: ExternalSecret
metadata:
  name: db
spec:
  secretStoreRef: { name: vault, kind: ClusterSecretStore }
  data:
    - secretKey: password
      remoteRef: { key: secret/db, property: password }`,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
rules:
  - apiGroups: [""]
    resources: ["secrets", "serviceaccounts/token"]
    verbs: ["get", "create"]`,
  `{"$schema":"https://json.schemastore.org/package.json","name":"@acme/secrets","version":"1.4.0","type":"mo\
dule",\
"exports":{".":"./dist/index.js","./tokens":"./dist/tokens.js"}}`,
  `<dependency>
  <groupId>com.auth0</groupId>
  <artifactId>java-jwt</artifactId>
  <version>4.4.0</version>
</dependency>`,
  `<string name="prompt_password">Password</string>
<string name="error_incorrect_password">This password is incorrect</string>
<string name="action_forgot_password">Forgot password?</string>`,
  `"password.label" = "Passwort";
"password.hint" = "Mindestens 12 Zeichen";
"token.expired" = "Sitzung abgelaufen";`,
  `feature: Login
  Scenario: wrong password
    Given a user "kim@acme.io"
    When she logs in with a wrong password
    Then she sees "Invalid username or password"`,
  `sequenceDiagram
  Client->>Auth: POST /token (code, verifier)
  Auth-->>Client: access token, refresh token
  Client->>API: GET /me (bearer token)`,
  `CHANGELOG
## 4.12.0
- feat: API keys can be scoped
- fix: the password field kept the caret position
- security: tokens are compared in constant time (GHSA-9wx4-h78v-vm56, CVE-2024-21538)`,
  `Reviewed-by: Lena Olsen <lena@acme.io>
Change-Id: I${hex(40)}
Co-authored-by: Kim Berger <kim@acme.io>`,
  `Vulnerability: CWE-798 Use of Hard-coded Credentials in src/legacy/ftp.ts, line 41. Severity: high. The \
literal itself is not shown.`,
)

// ---- generated rows of everyday data ----------------------------------------------------------------------

for (let i = 0; i < 12; i++) {
  const rows = list(
    3 + rnd(4),
    (k) =>
      `${1000 + i * 40 + k},${uuid()},${hex(8)},2025-0${1 + rnd(9)}-1${rnd(10)},${rnd(900)}.${digits(2)}`,
  )
  add(
    `id,external_id,revision,day,${
      ['amount', 'weight_kg', 'score', 'latency_ms'][i % 4]
    }\n${rows.join('\n')}`,
  )
}
for (const name of [
  'login.css',
  'token-list.svg',
  'password-meter.wasm',
  'keys.json',
  'auth.worker.js',
  'secret-santa.pdf',
]) {
  add(`${hex(64)}  ${name}\n${hex(64)}  ${name}.map`)
}
for (const [path, size] of [
  ['src/auth/password.ts', 4118],
  ['public/keyboard.png', 88120],
  ['docs/tokens.md', 1204],
] as const) {
  add(`{"path":"${path}","sha":"${hex(40)}","size":${size},"url":"https://api.github.com/repos/acme-labs/bill\
ing/git/blobs/${hex(40)}"}`)
}
for (const verb of ['login', 'refresh', 'logout', 'reset-password']) {
  add(`[${verb}] trace=${hex(32)} span=${hex(16)} status=${verb === 'login' ? 401 : 204} took=${rnd(400)}ms \
node=web-${hex(5)}-${of(LOW, 5)}`)
}
for (const bits of [64, 128, 160, 256, 384]) {
  add(`Test vector for the ${bits}-bit digest of the public sample file: ${hex(bits / 4)}`)
}

export const ORDINARY: readonly string[] = all
