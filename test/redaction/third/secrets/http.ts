import { again, plain, secretTexts } from '../corpus.ts'
import { basic, form, jwt, password, strong, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const http = secretTexts('http')`
GET /v1/account HTTP/1.1
Host: api.example.com
Authorization: Bearer ${jwt}
Accept: application/json

HTTP/1.1 200 OK
Content-Type: application/json
ETag: W/"${plain(v.hex32)}"
%%
> POST /oauth/token HTTP/1.1
> Host: id.example.com
> Content-Type: application/x-www-form-urlencoded
>
> grant_type=client_credentials&client_id=reporting&client_secret=${v.letters32}
< HTTP/1.1 200 OK
< {"access_token":"${jwt}","token_type":"Bearer","expires_in":3600}
%%
{"access_token":"${v.googleAccess}","expires_in":3599,"refresh_token":"${v.googleRefresh}","scope":"openid email","token_type":"Bearer"}
%%
{
  "token": "${v.githubOauth}",
  "user": { "id": 5521, "login": "mia" }
}
%%
POST /login HTTP/1.1
Content-Type: application/x-www-form-urlencoded

username=anna%40example.com&password=${weak}&csrf_token=${plain(v.hex32)}
%%
HTTP/2 302
location: /dashboard
set-cookie: sessionid=${v.sessionId}; HttpOnly; Path=/; SameSite=Lax
%%
Cookie: _ga=GA1.2.1823.177; sessionid=${v.letters32}; theme=dark
%%
cookie: next-auth.session-token=${jwt}; lang=de
%%
* Server auth using Basic with user 'ops'
> GET /api/health HTTP/1.1
> Authorization: Basic ${basic('ops')}
> User-Agent: curl/8.5.0
%%
X-Api-Key: ${v.generic}
X-Request-Id: ${plain(v.uuid)}
%%
api-key: ${v.azureOpenai}
content-type: application/json
%%
DD-API-KEY: ${v.datadogApi}
DD-APPLICATION-KEY: ${v.datadogApplication}
%%
x-amz-security-token: ${v.awsSession}
x-amz-date: 20260304T101112Z
%%
GET https://store.example.com/backup.tar?sv=2023-11-03&se=2026-12-31T00%3A00%3A00Z&sr=b&sp=r&sig=${v.azureSignature}
%%
https://bucket.example.com/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${v.awsId}%2F20260304%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20260304T101112Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=${v.hex64}
%%
callback: https://app.example.com/auth#access_token=${v.urlSafe43}&token_type=bearer&expires_in=3600&state=${plain(v.hex32)}
%%
{"email":"lee@example.com","password":"${strong}","otp":"481920"}
%%
{"data":{"createApiKey":{"id":"key_18","name":"ci","secret":"${v.generic}"}}}
%%
{"id":"whk_71","url":"https://hooks.example.com/in","signing_secret":"${v.stripeHook}","enabled":true}
%%
PUT /_security/user/kibana/_password
{ "password": "${password}" }
%%
curl 'https://chat.example.com/api/me' -H 'cookie: auth_token=${v.hex40}; ct0=${plain(v.hex32)}' -H 'authorization: Bearer ${form('A{a21}%3D{a60}')}'
%%
Private-Token: ${v.gitlabPersonal}
%%
Authorization: token ${v.githubClassic}
Accept: application/vnd.github.v3+json
%%
Authorization: Bot ${v.discordBot}
%%
authorization: ApiKey ${v.letters64}
%%
Proxy-Authorization: Basic ${basic('egress')}
%%
[{"name":"Authorization","value":"Bearer ${v.slackUser}"},{"name":"Accept","value":"*/*"}]
%%
{"webhook_url":"https://discord.com/api/webhooks/119283746519283746/${v.discordHookPath}"}
%%
Sec-WebSocket-Protocol: graphql-ws
{"type":"connection_init","payload":{"authToken":"${jwt}"}}
%%
{"jsonrpc":"2.0","method":"auth.login","params":{"user":"zabbix","password":"${weak}"},"id":1}
{"jsonrpc":"2.0","result":true,"id":1}
%%
WWW-Authenticate: Bearer realm="images"
{"errors":[{"code":"UNAUTHORIZED"}]}
retry with refresh_token=${v.urlSafe43}
%%
# @name login
POST {{host}}/login
{"login":"root","password":"${weak}"}

###
GET {{host}}/me
Authorization: Bearer ${v.urlSafe43}

###
GET {{host}}/me/keys
Authorization: Bearer ${again(v.urlSafe43)}
`
