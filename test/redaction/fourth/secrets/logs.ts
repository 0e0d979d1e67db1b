import { again, plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k
const x48 = f('{x48}')

export const logs = secretTexts('logs')`
2026-01-19T08:14:02.118Z INFO  [boot] config loaded {"port":8080,"db":{"host":"pg","user":"app","password":"${k.alnum}"},"features":["a","b"]}
2026-01-19T08:14:02.240Z INFO  [boot] listening on :8080
%%
Error: connect ECONNREFUSED 10.0.4.2:5432
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)
    at async Pool.connect (/app/node_modules/pg-pool/index.js:45:11) {
  errno: -111,
  code: 'ECONNREFUSED',
  connectionString: 'postgres://app:${k.urlpw}@10.0.4.2:5432/app'
}
%%
AuthenticationError: 401 Incorrect API key provided: ${k.oaiOld}. You can find your API key at https://platform.openai.com/account/api-keys.
    at APIError.generate (/app/node_modules/openai/error.mjs:48:20)
    at OpenAI.makeStatusError (/app/node_modules/openai/core.mjs:302:25)
%%
Jan 19 09:11:43 web-2 sshd[2211]: Accepted publickey for deploy from 10.1.0.4 port 51022 ssh2: ED25519 SHA256:${plain(f('{b43}'))}
Jan 19 09:11:58 web-2 sudo:   deploy : TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/mysqldump -uroot -p${k.weak} shop
%%
[2026-01-18 22:01:33] production.ERROR: SQLSTATE[HY000] [1045] Access denied for user 'kontor'@'10.4.0.9' (using password: YES) {"exception":"[object] (PDOException(code: 1045) at Connector.php:70)
[stacktrace]
#0 Connector.php(70): PDO->__construct('mysql:host=10.4...', 'kontor', '${k.strong}', Array)
#1 Connector.php(46): Connector->createPdoConnection()"}
%%
level=debug ts=2026-01-19T07:00:12Z caller=client.go:91 msg="outgoing request" method=GET url=https://api.pagerduty.com/incidents header.Authorization="Token token=${f('u+{w18}')}" dur=212ms
%%
10.3.0.7 - - [19/Jan/2026:10:00:01 +0000] "GET /export?api_key=${f('{a32}')}&from=2026-01-01 HTTP/1.1" 200 18822 "-" "python-requests/2.32.3"
10.3.0.9 - - [19/Jan/2026:10:00:02 +0000] "GET /healthz HTTP/1.1" 200 2 "-" "kube-probe/1.31"
%%
npm error code E401
npm error 401 Unauthorized - GET https://npm.pkg.github.com/@brightloop%2fui
npm verbose stack HttpErrorAuthUnknown
npm verbose argv "install" "--//npm.pkg.github.com/:_authToken=${k.ghp}"
npm error A complete log of this run can be found in: /home/ops/.npm/_logs/2026-01-19T08_02_11_120Z-debug-0.log
%%
fatal: unable to access 'https://x-access-token:${k.ghs}@github.com/nordkap/infra.git/': The requested URL returned error: 403
Error: Process completed with exit code 128.
%%
Traceback (most recent call last):
  File "/srv/etl/load.py", line 31, in <module>
    engine = create_engine("postgresql+psycopg2://etl:${k.urlpw}@warehouse:5439/dwh")
  File "/usr/lib/python3/sqlalchemy/create.py", line 2, in create_engine
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not translate host name "warehouse"
%%
{"level":30,"time":1768812345678,"pid":1,"hostname":"api-0","req":{"id":"req-9q","method":"POST","url":"/login","body":{"email":"t.vermeer@fietsplan.nl","password":"${k.weak}"}},"msg":"request completed","responseTime":41}
{"level":30,"time":1768812345990,"pid":1,"hostname":"api-0","req":{"id":"req-9r","method":"GET","url":"/me"},"msg":"request completed","responseTime":3}
%%
DEBUG botocore.auth: Authorization header: AWS4-HMAC-SHA256 Credential=${k.awsId}/20260119/eu-west-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, Signature=${plain(k.x64)}
DEBUG botocore.endpoint: Sending http request: POST /
DEBUG botocore.auth: x-amz-security-token:${k.awsSession}
%%
[smtp] < 334 VXNlcm5hbWU6
[smtp] > bm8tcmVwbHlAcGV0aXRwb3J0LmZy
[smtp] < 334 UGFzc3dvcmQ6
[smtp] > ${k.base64(k.strong)}
[smtp] < 235 2.7.0 Authentication successful
%%
warn: webhook signature mismatch, expected secret ${k.whsec} (endpoint we_${plain(f('1{a23}'))})
info: retry 1/3 in 2000ms
%%
E/flutter (19332): [ERROR:flutter/runtime/dart_vm_initializer.cc(41)] Unhandled Exception: DioException [bad response]: 403
E/flutter (19332): headers: {content-type: application/json, x-goog-api-key: ${k.goog}, x-client: app/4.2.0}
E/flutter (19332): #0      ApiClient.get (package:kiosk/api.dart:88:7)
%%
panic: runtime error: invalid memory address or nil pointer dereference
goroutine 1 [running]:
main.NewClient({0xc000124000, 0x1b}, {Token:"${f('glsa_{a32}_{x8}')}", URL:"https://grafana.nordkap.no"})
	/src/cmd/sync/main.go:44 +0x1d
exit status 2
%%
2026-01-17 03:00:04,118 DEBUG paramiko.transport userauth password user=sftpuser pass=${k.alnum} host=sftp.bancolar.es
2026-01-17 03:00:04,907 INFO  etl downloaded 14 files
%%
Playwright trace
  1) [chromium] › login.spec.ts:8 › logs in
    await page.getByLabel('Password').fill('${k.weak}')
    Error: locator.fill: Timeout 30000ms exceeded.
%%
[otp] sending sms to +49 171 ***88: "Ihr TAN-Code lautet ${k.code6}. Gültig 5 Minuten."
[otp] provider accepted id=SM${plain(k.x32)}
%%
kafka.errors.NoBrokersAvailable: NoBrokersAvailable
INFO config: {'bootstrap_servers': 'b-1.msk:9096', 'security_protocol': 'SASL_SSL', 'sasl_mechanism': 'SCRAM-SHA-512', 'sasl_plain_username': 'ingest', 'sasl_plain_password': '${k.strong}'}
%%
java.sql.SQLException: ORA-01017: invalid username/password; logon denied
	at oracle.jdbc.driver.T4CTTIoer11.processError(T4CTTIoer11.java:630)
DEBUG c.b.o.Pool - HikariConfig jdbcUrl=jdbc:oracle:thin:orders/${k.alnum}@ora1.bancolar.es:1521/ORD maxPoolSize=10
%%
time="2026-01-19T06:30:00Z" level=info msg="auto-generated admin password (shown once)" password=${f('{a16}')}
time="2026-01-19T06:30:00Z" level=info msg="server started" addr=":9000"
%%
[jupyterhub] To access the server, copy and paste one of these URLs:
        http://gpu-01:8888/lab?token=${x48}
     or http://127.0.0.1:8888/lab?token=${again(x48)}
%%
supervisor | worker-3 | retrying with credentials user=svc_fax secret=${k.weak} attempt=2
supervisor | worker-3 | ok
%%
[Nest] 41  - 01/19/2026, 8:40:11 AM   DEBUG [JwtStrategy] validating ${k.jwt}
[Nest] 41  - 01/19/2026, 8:40:11 AM     LOG [JwtStrategy] user 4412 ok
%%
##[debug]Evaluating condition for step: 'Deploy'
##[debug]..=> true
Run netlify deploy --prod --auth ${f('nfp_{a36}')} --site ${plain(k.uuid)}
Deploy path: /home/runner/work/web/dist
`
