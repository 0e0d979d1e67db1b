import { plain, secretTexts } from '../corpus.ts'
import { form, jwt, password, pemLines, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

/** Arguments and answers of tools: each text is a JSON object and is given to the redactor as such. */
export const calls = secretTexts('calls')`
{"command":"curl -s -H 'Authorization: Bearer ${v.openaiProject}' https://api.example.com/v1/models"}
%%
{"command":"export PGPASSWORD='${strong}'; psql -h db.internal -U app -c 'select 1'","timeout":120000}
%%
{"path":".env","content":"PORT=3000\nSTRIPE_SECRET_KEY=${v.stripeLive}\nDATABASE_URL=postgres://app:${urlPassword}@db.internal/app\n"}
%%
{"file_path":"src/config.py","old_string":"API_KEY = \"${v.generic}\"","new_string":"API_KEY = os.environ[\"API_KEY\"]"}
%%
{"url":"https://api.example.com/v1/items","method":"GET","headers":{"X-Api-Key":"${v.generic}","Accept":"application/json"}}
%%
{"url":"https://api.example.com/login","method":"POST","body":{"email":"qa@example.com","password":"${weak}"}}
%%
{"selector":"#password","text":"${weak}","url":"https://app.example.com/login"}
%%
{"host":"sftp.example.com","port":22,"username":"feed","password":"${password}"}
%%
{"connectionString":"mysql://root:${urlPassword}@mysql.internal:3306/wiki","query":"show tables"}
%%
{"stdout":"AWS_ACCESS_KEY_ID=${v.awsId}\nAWS_SECRET_ACCESS_KEY=${v.awsSecret}\nHOME=/srv\n","stderr":"","exitCode":0}
%%
{"stdout":"db:\n  user: app\n  password: ${weak}\n","exitCode":0}
%%
{"status":200,"body":"{\"access_token\":\"${jwt}\",\"expires_in\":3600}"}
%%
{"result":{"id":42,"apiKey":"${v.generic}","createdAt":"2026-03-04T10:11:12Z"}}
%%
{"account":"ops@example.com","secret":"${v.letters32}","issuer":"Portal"}
%%
{"type":"function","name":"create_user","arguments":"{\"login\":\"mara\",\"password\":\"${weak}\",\"role\":\"editor\"}"}
%%
{"role":"user","content":"my key is ${v.anthropic}, run the eval"}
%%
{"messages":[{"role":"user","content":"what is in settings.json?"},{"role":"tool","content":"{\"token\":\"${v.githubFine}\",\"theme\":\"dark\"}"}]}
%%
{"repo":"acme/api","token":"${v.githubApp}","ref":"${plain(v.hex40)}"}
%%
{"env":{"SLACK_BOT_TOKEN":"${v.slackBot}","SLACK_APP_TOKEN":"${v.slackApp}","DEBUG":"1"}}
%%
{"env":[{"name":"REDIS_PASSWORD","value":"${password}"},{"name":"PORT","value":"8080"}]}
%%
{"auth":{"type":"basic","username":"jira","password":"${v.atlassian}"}}
%%
{"auth":["svc-report","${weak}"],"url":"https://reports.internal/daily"}
%%
{"cookies":[{"name":"sid","value":"${v.letters64}","domain":"app.example.com","httpOnly":true}]}
%%
{"rows":[{"id":1,"name":"smtp","api_token":"${v.mailgunNew}"},{"id":2,"name":"push","api_token":"${v.hex64}"}]}
%%
{"secretAccessKey":"${v.awsSecret}","accessKeyId":"${v.awsId}","region":"eu-west-1"}
%%
{"client_id":"portal","client_secret":"${v.letters32}","refresh_token":"${v.googleRefresh}"}
%%
{"text":"Passwort: ${weak}","channel":"C0481ABCD"}
%%
{"todo":"rotate the token ${v.gitlabPersonal} and close OPS-12"}
%%
{"private_key":"-----BEGIN EC PRIVATE KEY-----\n${pemLines(3, 'MHcCAQEEI', '\\n')}\n-----END EC PRIVATE KEY-----"}
%%
{"diff":"--- a/app.yml\n+++ b/app.yml\n-  apiToken: ${v.letters32}\n+  apiToken: fromVault\n"}
%%
{"key":"DATABASE_PASSWORD","value":"${password}","scope":"production"}
%%
{"passphrase":"${form('{z6}-{z6}-{z6}')}","file":"backup.gpg"}
`
