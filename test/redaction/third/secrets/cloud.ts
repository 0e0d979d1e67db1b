import { plain, secretTexts } from '../corpus.ts'
import { form, jwt, password, urlPassword } from '../make.ts'
import * as v from '../vendors.ts'

export const cloud = secretTexts('cloud')`
{
    "AccessKey": {
        "UserName": "ci-deploy",
        "AccessKeyId": "${v.awsId}",
        "Status": "Active",
        "SecretAccessKey": "${v.awsSecret}",
        "CreateDate": "2026-03-04T10:11:12+00:00"
    }
}
%%
{
  "Credentials": {
    "AccessKeyId": "${v.awsTemporaryId}",
    "SecretAccessKey": "${v.awsSecret}",
    "SessionToken": "${v.awsSession}",
    "Expiration": "2026-03-04T11:11:12Z"
  },
  "AssumedRoleUser": { "Arn": "arn:aws:sts::123456789012:assumed-role/deploy/ci" }
}
%%
$ aws secretsmanager get-secret-value --secret-id prod/db
{
    "ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1b2c3",
    "Name": "prod/db",
    "SecretString": "{\"username\":\"app\",\"password\":\"${password}\"}"
}
%%
{"Parameter":{"Name":"/prod/api/key","Type":"SecureString","Value":"${v.generic}","Version":3}}
%%
$ az ad sp create-for-rbac --name ci
{
  "appId": "${plain(v.uuid)}",
  "displayName": "ci",
  "password": "${v.azureClientSecret}",
  "tenant": "${plain(v.uuid)}"
}
%%
[
  { "keyName": "key1", "permissions": "FULL", "value": "${v.azureStorageKey}" },
  { "keyName": "key2", "permissions": "FULL", "value": "${v.azureStorageKey}" }
]
%%
DefaultEndpointsProtocol=https;AccountName=mediafiles;AccountKey=${v.azureStorageKey};EndpointSuffix=core.example.net
%%
Endpoint=sb://events.example.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${v.base64Of32}
%%
$ gcloud auth print-access-token
${v.googleAccess}
%%
$ gcloud secrets versions access latest --secret=stripe
${v.stripeLong}
%%
$ heroku config -a shop
=== shop Config Vars
DATABASE_URL:   postgres://u1:${urlPassword}@ec2.example.com:5432/d1
SENDGRID_KEY:   ${v.sendgrid}
SECRET_KEY:     ${v.hex64}
%%
$ vault kv get secret/payments
====== Data ======
Key               Value
---               -----
adyen_api_key     ${v.letters64}
db_password       ${password}
%%
$ doctl auth init -t ${v.digitalOcean}
Validating token... OK
%%
$ kubectl -n prod get secret db -o jsonpath='{.data.password}' | base64 -d
${form('{a20}')}
%%
$ op item get "Prod DB" --fields label=password --reveal
${password}
%%
$ flyctl tokens create deploy
FlyV1 ${v.flyToken}
%%
$ gh auth token
${v.githubOauth}
%%
$ kubectl create token deployer -n ci
${jwt}
%%
$ terraform output -json
{
  "db_endpoint": { "sensitive": false, "type": "string", "value": "db.internal:5432" },
  "db_password": { "sensitive": true, "type": "string", "value": "${password}" }
}
%%
$ supabase status
         API URL: http://127.0.0.1:54321
          DB URL: postgresql://postgres:${urlPassword}@127.0.0.1:54322/postgres
      JWT secret: ${form('{w40}')}
        anon key: ${plain(jwt)}
service_role key: ${jwt}
%%
$ neonctl connection-string
postgresql://owner:${v.neon}@ep-cool-sun.example.com/neondb?sslmode=require
%%
Created database password for branch main
NAME   USERNAME       ROLE    PASSWORD
ci     ${plain(form('{l20}'))}   admin   ${v.planetScale}
%%
$ doppler secrets get STRIPE_KEY --plain
${v.stripeRestricted}
$ doppler configs tokens create ci --plain
${v.doppler}
`
