import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const uuid = form('{x8}-{x4}-4{x3}-9{x3}-{x12}')
const hex = form('{x12}')

export const ordinaryLogs = ordinaryTexts('logs')`
2026-03-04T09:12:44.182Z INFO  [boot] listening on :3000
2026-03-04T09:12:44.390Z INFO  [boot] 14 migrations applied
%%
Traceback (most recent call last):
  File "app/main.py", line 41, in <module>
    token = decode(raw)
  File "app/auth.py", line 12, in decode
    return jwt.decode(raw, key, algorithms=["HS256"])
jwt.exceptions.ExpiredSignatureError: Signature has expired
%%
TypeError: Cannot read properties of undefined (reading 'token')
    at refreshToken (src/auth/refresh-token.ts:41:18)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async handler (src/routes/session.ts:12:3)
%%
Exception in thread "main" java.lang.NullPointerException: password
	at com.example.auth.LoginService.check(LoginService.java:58)
	at com.example.auth.LoginController.login(LoginController.java:31)
%%
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x4a2f1c]

goroutine 1 [running]:
main.main()
	main.go:21 +0x1c
%%
10.2.0.8 - - [04/Mar/2026:10:00:01 +0000] "GET /assets/index-${form('{a8}')}.js HTTP/1.1" 200 48112 "-" "Mozilla/5.0 (X11; Linux x86_64)"
%%
10.2.0.8 - - [04/Mar/2026:10:00:01 +0000] "POST /login HTTP/1.1" 401 32
%%
{"level":30,"time":1772617872123,"pid":4121,"hostname":"web-1","reqId":"${uuid}","msg":"request completed","responseTime":12.41}
%%
Mar  4 10:20:31 web-1 sshd[4121]: Accepted publickey for ops from 10.0.0.5 port 51123 ssh2: ED25519 SHA256:${form('{b43}')}
%%
Mar  4 10:20:31 web-1 sshd[4121]: Failed password for root from 203.0.113.9 port 41122 ssh2
%%
auth: user anna signed in with password from 198.51.100.7
%%
WARN token bucket empty for tenant 17, 3 requests delayed
%%
usage: prompt_tokens=812 completion_tokens=96 total_tokens=908 cached_tokens=512
%%
##[group]Run actions/setup-node@v4
with:
  node-version: 22
  token: ***
##[endgroup]
%%
#8 [build 3/5] RUN npm ci
#8 sha256:${form('{x64}')} 3.2MB / 3.2MB done
#8 DONE 14.2s
%%
npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported
added 812 packages, and audited 813 packages in 14s
%%
 ✓ test/auth/password.test.ts (12 tests) 214ms
 ✓ test/auth/token.test.ts (8 tests) 91ms
 Test Files  2 passed (2)
%%
FAIL src/login.test.ts > refuses a wrong password
AssertionError: expected 200 to be 401
%%
=== RUN   TestTokenRefresh
--- PASS: TestTokenRefresh (0.02s)
ok  	example.com/auth	0.412s
%%
test_password_reset (tests.test_auth.AuthTests) ... ok
test_token_expiry (tests.test_auth.AuthTests) ... FAIL
%%
I0304 10:11:12.182931    4121 controller.go:211] "Starting workers" controller="secret" worker count=1
%%
E0304 10:11:12.182931 reconciler.go:88] secret "db-credentials" not found in namespace "prod"
%%
Normal  Pulled  12s  kubelet  Successfully pulled image "images.example.com/api:2.3.1" in 2.1s
Warning  FailedMount  3s  kubelet  MountVolume.SetUp failed for volume "tls": secret "tls-cert" not found
%%
aws_db_instance.main: Creating...
aws_db_instance.main: Still creating... [1m0s elapsed]
aws_db_instance.main: Creation complete after 4m12s [id=main-${hex}]
%%
  # aws_secretsmanager_secret.db will be created
  + resource "aws_secretsmanager_secret" "db" {
      + arn  = (known after apply)
      + name = "prod/db"
    }
%%
  ~ password = (sensitive value)
  ~ tags     = { "env" = "prod" }
%%
[gc] 14:02:11.221 Pause Young (Normal) 412M->38M(1024M) 4.182ms
%%
0x00007f8b1c0a2e40 in __GI_raise (sig=6) at raise.c:50
#1 0x00007f8b1c08b859 in __GI_abort () at abort.c:79
%%
segfault at 7ffd1a2b3c4d ip 000055d0c8a1b2c3 sp 00007ffd1a2b3c00 error 4 in app[55d0c8a00000+12000]
%%
kafka: consumer group billing rebalanced, generation 41, member consumer-1-${uuid}
%%
slow query (1820 ms): SELECT count(*) FROM events WHERE session_token IS NOT NULL
%%
[webpack] asset main.${form('{x20}')}.js 214 KiB [emitted] [immutable] [minimized] (name: main)
%%
Sentry event ${form('{x32}')} sent, release api@2.3.1+${form('{x7}')}
%%
Received SIGTERM, draining 4 connections
Closed store, 812 events flushed
%%
redis: NOAUTH Authentication required.
%%
CSRF token missing or incorrect.
%%
remote: Invalid username or password.
fatal: Authentication failed for 'https://git.example.com/acme/api.git/'
%%
DEBUG cache miss key=user:4412:permissions ttl=300
DEBUG cache hit key=session:index:eu
%%
Deploy 812 by mia: api 2.3.0 -> 2.3.1, checksum ok, secrets unchanged (7)
%%
time=10:11:12 level=INFO msg="key rotated" key_id=k-2026-03 alg=RS256
%%
Warning: Using a password on the command line interface can be insecure.
%%
mysql: [ERROR] ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: NO)
`
