import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const logs = ordinaryTexts('logs')`
2026-01-19T08:00:01Z INFO auth token refreshed user=4412 expires_in=900
2026-01-19T08:00:02Z WARN auth password attempt failed user=4413 ip=10.0.0.7 attempts=3
%%
Jan 19 06:25:01 web-1 sshd[811]: Failed password for invalid user admin from 203.0.113.9 port 40122 ssh2
Jan 19 06:25:03 web-1 sshd[811]: Connection closed by invalid user admin 203.0.113.9 port 40122 [preauth]
%%
FATAL:  password authentication failed for user "atlas"
DETAIL:  Connection matched pg_hba.conf line 95: "host all all all scram-sha-256"
%%
ERROR 1045 (28000): Access denied for user 'root'@'172.18.0.1' (using password: YES)
%%
TypeError: Cannot read properties of undefined (reading 'accessToken')
    at getSession (/app/src/auth/session.ts:41:22)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async handler (/app/src/pages/api/me.ts:9:19)
%%
JsonWebTokenError: invalid signature
    at /app/node_modules/jsonwebtoken/verify.js:171:19
    at getSecret (/app/node_modules/jsonwebtoken/verify.js:97:14)
%%
npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.
added 1204 packages, and audited 1205 packages in 12s
found 0 vulnerabilities
%%
 ✓ src/auth/password.test.ts (14 tests) 210ms
 ✓ src/auth/token.test.ts (22 tests) 98ms
 ❯ src/auth/secret.test.ts (3 tests | 1 failed) 12ms
   × masks the api key
 Test Files  1 failed | 2 passed (3)
%%
{"level":30,"time":1768812345678,"pid":1,"hostname":"api-${f('{x10}')}-${f('{l5}')}","reqId":"${k.uuid}","msg":"password reset mail sent"}
%%
10.1.0.4 - - [19/Jan/2026:09:00:01 +0000] "POST /oauth/token HTTP/1.1" 200 812 "-" "okhttp/4.12.0"
10.1.0.4 - - [19/Jan/2026:09:00:02 +0000] "GET /static/js/main.${f('{x8}')}.js HTTP/1.1" 304 0 "-" "Mozilla/5.0 (X11; Linux x86_64)"
%%
#8 [internal] load build context
#8 transferring context: 1.21MB 0.1s done
#9 [deps 3/4] RUN --mount=type=secret,id=npmrc npm ci
#9 CACHED
#10 exporting manifest sha256:${k.x64} done
%%
Run pnpm publish
  env:
    NODE_AUTH_TOKEN: ***
    GITHUB_TOKEN: ***
npm notice shasum: ${k.sha}
npm notice integrity: sha512-${f('{b12}')}[...]${f('{b12}')}==
%%
[vite] hmr update /src/components/PasswordInput.vue
[vite] page reload src/store/token.ts
%%
level=info ts=2026-01-19T07:11:00.221Z caller=main.go:88 msg="leader elected" id=${k.uuid} lease=token-controller
%%
W0119 06:00:11.201334       1 authentication.go:66] Unable to authenticate the request: invalid bearer token
E0119 06:00:12.882101       1 reflector.go:147] failed to list *v1.Secret: secrets is forbidden: User "system:serviceaccount:dev:default" cannot list resource "secrets"
%%
openai usage: prompt_tokens=18223 completion_tokens=911 total_tokens=19134 cached_tokens=16384 cost=0.0312
%%
{"timestamp":"2026-01-19T07:00:00.000Z","event":"session_start","session_id":"${k.uuid}","model":"claude-sonnet-4-5","max_tokens":8192}
%%
AuthenticationError: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_011C${f('{a20}')}"}
%%
Error: Missing required environment variable: STRIPE_SECRET_KEY
    at required (file:///app/dist/env.js:7:11)
    at file:///app/dist/env.js:14:21
%%
segfault at 7f${f('{x10}')} ip 00005${f('{x11}')} sp 00007ffd${f('{x8}')} error 4 in node[400000+2a01000]
%%
goroutine 18 [chan receive]:
testing.(*T).Run(0xc0${f('{x8}')}, {0x10${f('{x6}')}, 0x12}, 0x10${f('{x6}')})
	/usr/local/go/src/testing/testing.go:1751 +0x392
main.TestPasswordReset(0x0?)
%%
[INFO] --- maven-jar-plugin:3.4.1:jar (default-jar) @ token-service ---
[INFO] Building jar: /build/target/token-service-1.8.0.jar
[INFO] BUILD SUCCESS
%%
Traceback (most recent call last):
  File "/srv/app/auth.py", line 22, in login
    raise InvalidPassword("password does not match")
app.errors.InvalidPassword: password does not match
%%
kernel: [  812.110021] audit: type=1400 apparmor="DENIED" operation="open" profile="snap.token-ring" name="/proc/811/cmdline" pid=811
%%
2026/01/19 08:22:10 [error] 31#31: *4412 connect() failed (111: Connection refused) while connecting to upstream, client: 10.2.0.3, request: "GET /api/keys HTTP/1.1", upstream: "http://10.2.0.8:9000/api/keys"
%%
redis: 1:M 19 Jan 2026 08:00:00.101 * Background saving started by pid 4412
redis: 1:M 19 Jan 2026 08:00:00.322 # Warning: no password is set, protected mode is enabled
%%
SLOW QUERY 2113ms: SELECT "t"."id", "t"."token_hash" FROM "tokens" AS "t" WHERE "t"."user_id" = $1 AND "t"."revoked_at" IS NULL /* trace ${k.x32} */
%%
Certificate:
    Data:
        Serial Number: ${f('{x2}:{x2}:{x2}:{x2}:{x2}:{x2}:{x2}:{x2}:{x2}:{x2}')}
        Issuer: C=US, O=Let's Encrypt, CN=R11
        Validity: Not After : Apr 12 08:11:02 2026 GMT
        X509v3 Subject Key Identifier: ${f('{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}')}
%%
dotnet: warn: Microsoft.AspNetCore.DataProtection.KeyManagement.XmlKeyManager[35]
      No XML encryptor configured. Key {${k.uuid}} may be persisted to storage in unencrypted form.
%%
##[group]Run actions/cache@v4
key: Linux-pnpm-${k.x64}
restore-keys: Linux-pnpm-
Cache restored from key: Linux-pnpm-${k.x64}
%%
[webpack] asset main.${f('{x20}')}.js 412 KiB [emitted] [immutable] [minimized] (name: main)
[webpack] asset vendors.${f('{x20}')}.js 1.1 MiB [emitted] [immutable] [big]
%%
Kafka: group=token-events topic=auth.password-changed partition=3 offset=88121734 lag=0 member=consumer-1-${k.uuid}
%%
Dec 31 23:59:59 nas smbd[912]: check_ntlm_password: Authentication for user [scanner] -> [scanner] FAILED with error NT_STATUS_WRONG_PASSWORD
%%
eslint
/app/src/auth.ts
  12:7  error  'password' is assigned a value but never used  @typescript-eslint/no-unused-vars
  31:3  error  'secretKey' is defined but never used          @typescript-eslint/no-unused-vars
✖ 2 problems (2 errors, 0 warnings)
%%
src/auth/token.ts(14,9): error TS2322: Type 'string | undefined' is not assignable to type 'string'.
src/auth/password.ts(3,10): error TS2305: Module '"./secret.ts"' has no exported member 'readSecret'.
%%
[2026-01-19 07:12:01] local.INFO: Password reset requested {"user_id":4412,"ip":"10.0.0.9","agent":"Firefox/134.0"}
%%
Playwright: 1 flaky, 61 passed (2.1m)
  [chromium] › password-reset.spec.ts:14:3 › shows an error for an expired token ─ flaky
  trace: test-results/password-reset-${f('{x5}')}-chromium/trace.zip
%%
gc 118 @412.221s 1%: 0.021+4.1+0.003 ms clock, 0.17+1.2/3.9/0+0.028 ms cpu, 48->51->26 MB
%%
Uploading artifact coverage.zip: 100% done. SHA256 digest of uploaded artifact zip is ${k.x64}
Artifact coverage.zip successfully finalized. Artifact ID ${f('{n1}{99}')}
%%
Lambda REPORT RequestId: ${k.uuid} Duration: 212.11 ms Billed Duration: 213 ms Memory Size: 512 MB XRAY TraceId: 1-${f('{x8}')}-${f('{x24}')}
`
