import { again, plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const payload = secretTexts('payload')`
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_${plain(f('01{a22}'))}","name":"bash","input":{"command":"curl -s -H 'Authorization: Bearer ${k.ghp}' https://api.github.com/user","timeout":30}}]}
%%
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_${plain(f('01{a22}'))}","content":"DATABASE_URL=postgres://app:${k.urlpw}@db:5432/app\nNODE_ENV=production\nSECRET_KEY=${k.a40}\n"}]}
%%
{"tool":"http_request","arguments":{"method":"POST","url":"https://api.tallyport.eu/v1/sync","headers":{"authorization":"Bearer ${k.jwt}","content-type":"application/json"},"body":{"since":"2026-01-01"}}}
%%
{"id":"chatcmpl-${plain(f('{a29}'))}","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"call_${plain(f('{a24}'))}","type":"function","function":{"name":"connect_db","arguments":"{\"host\":\"10.0.0.4\",\"user\":\"sa\",\"password\":\"${k.alnum}\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":812,"completion_tokens":44,"total_tokens":856}}
%%
{"type":"message","user":"U${plain(f('{U8}'))}","text":"the staging pw is ${k.weak} btw","ts":"17${plain(f('{98}'))}.000200","channel":"C${plain(f('{U8}'))}"}
%%
{"name":"write_file","input":{"path":".env","content":"STRIPE_SECRET_KEY=${k.stripeOld}\nSTRIPE_WEBHOOK_SECRET=${k.whsec}\n"}}
%%
{"credentials":{"username":"svc-reporting","password":"${k.strong}"},"options":{"retries":3,"timeoutMs":5000}}
%%
{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"browser_type","arguments":{"element":"Password field","ref":"e42","text":"${k.weak}"}}}
%%
{"event":"login","data":{"user":{"id":4412,"email":"jo@brightloop.io"},"accessToken":"${k.jwt}","refreshToken":"${f('{w64}')}","expiresIn":900}}
%%
{"messages":[{"role":"system","content":"You are a deploy assistant."},{"role":"user","content":"use AWS keys ${k.awsId} / ${k.awsKey} in eu-west-1 and list the buckets"}],"model":"gpt-4.1-mini","temperature":0}
%%
{"step":3,"action":"kubectl","args":["create","secret","generic","db","--from-literal=password=${k.alnum}","-n","prod"],"exitCode":0,"stdout":"secret/db created\n"}
%%
{"config":{"providers":[{"name":"openai","apiKey":"${k.oai}"},{"name":"groq","apiKey":"${k.groq}"},{"name":"ollama","baseUrl":"http://localhost:11434"}]}}
%%
{"payload":{"smtp":{"host":"smtp.office365.com","port":587,"secure":false,"auth":{"user":"rechnung@kontor.de","pass":"${k.weak}"}}}}
%%
{"request":{"headers":[["host","api.nordkap.no"],["cookie","sid=${f('{w40}')}"],["x-api-key","${k.a32}"],["accept","*/*"]],"path":"/v1/jobs"}}
%%
{"toolName":"get_secret","result":{"name":"prod/atlas/slack","value":"${k.xoxb}","version":4,"createdAt":"2025-10-10T10:10:10Z"}}
%%
{"env":{"PATH":"/usr/bin","HOME":"/root","GITLAB_TOKEN":"${k.glpat}","PGPASSWORD":"${k.weak}"},"cwd":"/work","argv":["make","deploy"]}
%%
{"variables":[{"key":"API_URL","value":"https://api.petitport.fr","enabled":true},{"key":"API_TOKEN","value":"${k.a40}","type":"secret","enabled":true}]}
%%
{"trace_id":"${plain(k.x32)}","span":{"name":"db.query","attributes":{"db.system":"mysql","db.connection_string":"mysql://erp:${k.urlpw}@10.9.0.3:3306/erp","db.statement":"SELECT 1"}}}
%%
{"form":{"firstName":"Tineke","lastName":"Vermeer","email":"tineke@fietsplan.nl","newPassword":"${k.weak}","confirmPassword":"${again(k.weak)}"}}
%%
{"thread":[{"from":"mira","body":"can you send me the OTP?"},{"from":"jo","body":"sure, the code is ${k.code6}"},{"from":"mira","body":"in, thanks"}]}
%%
{"private_key":"-----BEGIN PRIVATE KEY-----\n${f('MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w{b150}==')}\n-----END PRIVATE KEY-----\n","kid":"apple-2026"}
%%
{"webhook":{"url":"https://hooks.slack.com/services/T${plain(f('{U8}'))}/B${plain(f('{U10}'))}/${k.slackHook}","events":["deploy.finished"]},"enabled":true}
%%
{"args":{"connection":{"server":"sql01","database":"Kontor","authentication":{"type":"default","options":{"userName":"svc_web","password":"${k.strong}"}}},"query":"select top 5 * from Orders"}}
%%
{"type":"function_call_output","call_id":"call_${plain(f('{a24}'))}","output":"{\"Credentials\":{\"AccessKeyId\":\"${k.awsTmp}\",\"SecretAccessKey\":\"${k.awsKey}\",\"SessionToken\":\"${k.awsSession}\"}}"}
%%
{"content":"Hola, la clave del servidor es ${k.weak} y el usuario root","attachments":[],"lang":"es"}
%%
{"user_id":"u-77","mfa":{"enabled":true,"secret":"${f('{B32}')}","recoveryCodes":["${f('{l4}-{l4}-{l4}')}","${f('{l4}-{l4}-{l4}')}"]}}
%%
{"name":"str_replace","input":{"path":"src/config.ts","old_str":"apiKey: ''","new_str":"apiKey: '${f('pplx-{a48}')}'"}}
%%
{"workflow":"sync","nodes":[{"type":"n8n-nodes-base.httpRequest","parameters":{"url":"https://api.pipedrive.com/v1/deals","queryParameters":{"parameters":[{"name":"api_token","value":"${k.x40}"}]}}}]}
`
