import { again, plain, secretTexts } from '../corpus.ts'
import { basic, form, jwt, password, phrase, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const logs = secretTexts('logs')`
2026-03-04T09:12:44.182Z INFO  [boot] connecting to postgres://app:${urlPassword}@db.internal:5432/app
2026-03-04T09:12:44.390Z INFO  [boot] connected, 14 migrations applied
%%
Traceback (most recent call last):
  File "app/main.py", line 41, in <module>
    engine.connect()
  File "sqlalchemy/engine/base.py", line 3269, in connect
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not connect to "postgresql://etl:${urlPassword}@warehouse.internal:5432/dwh"
%%
openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: ${v.openaiLegacy}. You can find your API key in your account settings.', 'type': 'invalid_request_error'}}
%%
DEBUG:urllib3.connectionpool:https://api.example.com:443 "GET /v1/search?q=tea&api_key=${v.generic} HTTP/1.1" 200 1832
%%
10.2.0.8 - - [04/Mar/2026:10:00:01 +0000] "GET /reset?token=${v.urlSafe43} HTTP/1.1" 302 0 "-" "Mozilla/5.0"
%%
10.2.0.8 - - [04/Mar/2026:10:02:11 +0000] "GET /export.csv?access_token=${jwt} HTTP/2.0" 200 48112
%%
[2026-03-04 10:11:12] local.DEBUG: login attempt {"email":"tom@example.com","password":"${weak}","remember":true}
%%
{"level":"debug","time":1772617872,"msg":"outgoing request","headers":{"authorization":"Bearer ${jwt}","accept":"*/*"},"url":"https://billing.internal/v1/invoices"}
%%
{"level":30,"msg":"config loaded","config":{"db":{"user":"api","password":"${password}","host":"db.internal"},"cache":{"ttl":60}}}
%%
##[group]Run docker build
docker build --build-arg NPM_TOKEN=${v.npmToken} -t app:${plain(v.hex40)} .
##[endgroup]
#1 [internal] load build definition from Dockerfile
%%
+ export SONAR_TOKEN=${v.sonar}
+ SONAR_TOKEN=${again(v.sonar)}
+ ./gradlew sonarqube
BUILD SUCCESSFUL in 1m 3s
%%
Running with gitlab-runner 17.2.0
  on shared-3 ${v.gitlabRunner}
Preparing the "docker" executor
Fetching changes with git depth set to 50...
%%
fatal: unable to access 'https://deploy:${v.githubClassic}@git.example.com/acme/api.git/': The requested URL returned error: 403
%%
error: failed to push some refs to 'https://${v.githubFine}@git.example.com/acme/site.git'
%%
java.sql.SQLException: Access denied for user 'crm'@'10.0.0.9' (using password: YES)
  at com.zaxxer.hikari.pool.HikariPool.createPoolEntry(HikariPool.java:477)
  config: jdbcUrl=jdbc:mysql://db.internal/crm?user=crm&password=${urlPassword}
%%
Mar  4 10:20:31 web-1 sudo:   ops : TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/mysql -uroot -p${urlPassword} -e show processlist
%%
root      4121  0.3  1.2  python worker.py --broker redis://:${urlPassword}@redis.internal:6379/1 --api-token ${v.generic}
%%
Error: Request failed with status code 401
    at createError (node_modules/axios/lib/core/createError.js:16:15)
  config: {
    url: 'https://api.example.com/v1/messages',
    method: 'post',
    headers: {
      'x-api-key': '${v.anthropic}',
      'Content-Type': 'application/json'
    }
  }
%%
botocore.auth DEBUG: StringToSign built
Credentials(access_key='${v.awsId}', secret_key='${v.awsSecret}', token=None)
%%
WARN  TelegramLongPollingBot - GET https://api.telegram.example.org/bot${v.telegramBot}/getUpdates timed out
%%
Generated initial admin password: ${password}
Please change it after the first login.
%%
*************************************************************
Jenkins initial setup is required. An admin user has been created and a password generated.
Please use the following password to proceed to installation:

${v.hex32}
*************************************************************
%%
[entrypoint] GENERATED ROOT PASSWORD: ${v.base64Of32}
%%
Password for the elastic user (reset with \`bin/elasticsearch-reset-password -u elastic\`):
  ${form('{a14}')}*${form('{a5}')}
%%
Vault initialised.
Unseal Key 1: ${form('{b44}')}
Unseal Key 2: ${form('{b44}')}
Initial Root Token: ${form('hvs.{a24}')}
%%
You can now join any number of worker nodes by running:
kubeadm join 10.0.0.10:6443 --token ${form('{l6}.{l16}')} --discovery-token-ca-cert-hash sha256:${plain(v.hex64)}
%%
    To access the server, open this link in a browser:
        http://127.0.0.1:8888/lab?token=${form('{x48}')}
%%
✔ Created API key
  name    ci-deploy
  key     ${v.generic}
  Keep it safe, it will not be shown again.
%%
[12:01:44] trace: > Authorization: Basic ${basic('svc-sync')}
[12:01:44] trace: < 200 OK
%%
time="2026-03-04T12:00:00Z" level=error msg="notify failed" err="Post \"https://hooks.slack.com/services/${v.slackHookPath}\": context deadline exceeded"
%%
FAIL src/login.test.ts > logs in
AssertionError: expected 401 to be 200
  request body: {"username":"qa","password":"${weak}"}
%%
query: UPDATE accounts SET api_token = '${v.letters64}', updated_at = now() WHERE id = 7 (3.1 ms)
%%
Started ProcessBuilder: [pg_dump, --dbname=postgresql://backup:${urlPassword}@pg.internal/app, -Fc]
%%
dotenv loaded 3 keys: { STRIPE_SECRET_KEY: '${v.stripeLive}', PORT: '3000', COOKIE_SECRET: '${phrase}' }
%%
celery@worker1 ready. transport: amqp://guest:${urlPassword}@mq.internal:5672//
%%
System.Data.SqlClient.SqlException (0x80131904): Login failed for user 'erp'.
ConnectionString: Server=tcp:sql.internal,1433;Initial Catalog=erp;User ID=erp;Password=${urlPassword};Encrypt=True
%%
Set-Cookie: session=${v.letters64}; Path=/; HttpOnly
ok   login keeps the session (31 ms)
`
