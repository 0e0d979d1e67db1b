import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const http = secretTexts('http')`
curl https://api.openai.com/v1/chat/completions \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer ${k.oai}" \
  -d '{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}'
%%
> GET /v1/orders?limit=20 HTTP/2
> Host: api.tallyport.eu
> user-agent: curl/8.7.1
> accept: */*
> authorization: Bearer ${k.jwt}
>
< HTTP/2 200
< content-type: application/json
< x-request-id: ${plain(k.uuid)}
%%
POST /oauth/token HTTP/1.1
Host: auth.brightloop.io
Content-Type: application/x-www-form-urlencoded

grant_type=client_credentials&client_id=reporting&client_secret=${k.a40}&scope=read%3Areports
%%
HTTP/1.1 200 OK
Set-Cookie: connect.sid=s%3A${f('{w32}.{a43}')}; Path=/; HttpOnly; Secure; SameSite=Lax
Set-Cookie: theme=dark; Path=/
Content-Length: 17

{"ok":true,"n":3}
%%
{"access_token":"${k.jwt}","token_type":"Bearer","expires_in":3600,"refresh_token":"${f('v1.{w60}')}","scope":"openid profile email"}
%%
fetch("https://app.petitport.fr/api/me", {
  "headers": {
    "accept": "application/json",
    "cookie": "_ga=GA1.2.${plain(f('{99}'))}.17${plain(f('{98}'))}; sessionid=${f('{l32}')}; csrftoken=${f('{a64}')}",
    "x-requested-with": "XMLHttpRequest"
  },
  "method": "GET"
});
%%
curl -X POST https://api.anthropic.com/v1/messages -H 'x-api-key: ${k.ant}' -H 'anthropic-version: 2023-06-01' -d @req.json
{"type":"error","error":{"type":"not_found_error","message":"model: claude-4"}}
%%
PUT /acme-uploads/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${k.awsId}%2F20260119%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20260119T081500Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=${k.x64} HTTP/1.1
Host: s3.eu-west-1.amazonaws.com
%%
https://kontorblob.blob.core.windows.net/exports/2026-01.csv?sv=2022-11-02&ss=b&srt=o&sp=r&se=2026-03-01T00:00:00Z&sig=${f('{a41}%2B{a1}%3D')}
%%
http --auth jenkins:${f('11{x32}')} POST https://ci.nordkap.no/job/portal/build
HTTP/1.1 201 Created
Location: https://ci.nordkap.no/queue/item/4412/
%%
GET /repos/nordkap/portal/actions/secrets HTTP/1.1
Authorization: token ${k.ghp}
Accept: application/vnd.github+json
X-GitHub-Api-Version: 2022-11-28
%%
{"log":{"entries":[{"request":{"method":"POST","url":"https://login.bancolar.es/session","postData":{"mimeType":"application/json","text":"{\"user\":\"m.ortega\",\"password\":\"${k.weak}\"}"}},"response":{"status":200}}]}}
%%
Proxy-Authorization: Basic ${k.basic('kontor-proxy')}
Proxy-Connection: keep-alive
%%
https://maps.googleapis.com/maps/api/geocode/json?address=Hauptstr.+12,+Kiel&key=${k.goog}
{ "status": "REQUEST_DENIED", "error_message": "This API project is not authorized to use this API." }
%%
POST https://api.telegram.org/bot${k.telegram}/sendMessage
{"chat_id": 55120, "text": "deploy done"}
-> 200 {"ok":true,"result":{"message_id":412}}
%%
await page.request.post('/login', { form: { email: 'qa+3@brightloop.io', password: '${k.weak}' } })
// 302 -> /dashboard
// set-cookie: __Host-session=${f('{w86}')}; Secure; HttpOnly; Path=/
%%
### Create invoice
POST {{host}}/invoices
X-API-Key: ${f('live_{a32}')}
Content-Type: application/json

{ "amount": 1900, "currency": "EUR" }
%%
wscat -c "wss://stream.nordkap.no/v2?token=${k.jwt}"
Connected (press CTRL+C to quit)
< {"type":"hello","heartbeat":30000}
%%
curl -H "DD-API-KEY: ${k.x32}" -H "DD-APPLICATION-KEY: ${k.x40}" "https://api.datadoghq.eu/api/v1/monitor?page_size=5"
%%
POST https://discord.com/api/webhooks/${plain(f('1{918}'))}/${f('{w68}')}
content-type: application/json

{"content":"build 412 is green"}
%%
"request": {
  "auth": { "type": "bearer", "bearer": [{ "key": "token", "value": "${f('PMAK-{x24}-{x34}')}", "type": "string" }] },
  "method": "GET",
  "url": "https://api.getpostman.com/collections"
}
%%
GET https://gitlab.nordkap.no/api/v4/user?private_token=${k.glpat} 401
%%
GET /callback?code=${f('4/0A{w68}')}&scope=email%20profile&authuser=0 HTTP/1.1
Host: localhost:3000
%%
https://app.brightloop.io/reset-password?email=jo%40brightloop.io&token=${f('{x48}')}
%%
TRACE axios config {
  baseURL: 'https://api.airtable.com/v0',
  timeout: 10000,
  headers: { Authorization: 'Bearer ${f('pat{a14}.{x64}')}', 'User-Agent': 'axios/1.7.9' },
  auth: undefined
}
%%
curl --digest -u 'root:${k.strong}' 'http://10.8.0.14/axis-cgi/param.cgi?action=list&group=Network'
root.Network.HostName=cam-lager-2
root.Network.IPAddress=10.8.0.14
%%
grpcurl -H 'authorization: ApiKey ${f('{a28}=')}' -d '{"id":"42"}' grpc.tallyport.eu:443 ledger.v1.Ledger/Get
%%
X-Shopify-Access-Token: ${f('shpat_{x32}')}
X-Shopify-Shop-Domain: nordlicht-kerzen.myshopify.com
X-Shopify-Topic: orders/create
`
