import { again, plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const shell = secretTexts('shell')`
$ git remote -v
origin  https://mkowalski:${k.ghp}@github.com/nordkap/portal.git (fetch)
origin  https://mkowalski:${again(k.ghp)}@github.com/nordkap/portal.git (push)
%%
$ aws sts assume-role --role-arn arn:aws:iam::${plain(f('{912}'))}:role/ci --role-session-name dbg
{
    "Credentials": {
        "AccessKeyId": "${k.awsTmp}",
        "SecretAccessKey": "${k.awsKey}",
        "SessionToken": "${k.awsSession}",
        "Expiration": "2026-02-11T14:02:55+00:00"
    },
    "AssumedRoleUser": {
        "AssumedRoleId": "AROA${plain(f('{B16}'))}:dbg"
    }
}
%%
$ mysql -h db.petitport.fr -u root -p'${k.strong}' -e 'show databases'
mysql: [Warning] Using a password on the command line interface can be insecure.
+--------------------+
| Database           |
+--------------------+
| boutique           |
+--------------------+
%%
PGPASSWORD=${k.alnum} psql -h 10.0.0.8 -U readonly -d metrics -c "select count(*) from events"
 count
--------
 918233
(1 row)
%%
$ docker login registry.tallyport.eu -u robot\$ci -p ${k.alnum}
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
Login Succeeded
%%
$ gcloud auth print-access-token
${f('ya29.a0{w180}')}
%%
> az storage account keys list -n kontorblob -o table
KeyName    Permissions    Value
---------  -------------  ----------------------------------------------------------------------------------------
key1       FULL           ${k.azKey}
key2       FULL           ${k.azKey}
%%
$ az ad sp create-for-rbac --name gha-deployer
{
  "appId": "${plain(k.uuid)}",
  "displayName": "gha-deployer",
  "password": "${k.azSecret}",
  "tenant": "${plain(k.uuid)}"
}
%%
$ history | tail -5
  501  cd ~/work/atlas
  502  sshpass -p ${k.weak} ssh admin@192.168.1.20
  503  curl -u admin:${k.weak} http://192.168.1.20:8081/status
  504  ls
  505  history | tail -5
%%
$ stripe login --interactive
Enter your API key: ${f('rk_live_51{a96}')}
Your terminal is now configured for account acct_${plain(f('1{a15}'))}
%%
$ vault kv get secret/atlas/prod
====== Secret Path ======
secret/data/atlas/prod

======= Data =======
Key            Value
---            -----
db_password    ${k.strong}
jwt_key        ${k.a40}
owner          team-atlas
%%
$ vault operator init
Unseal Key 1: ${k.b44}
Unseal Key 2: ${k.b44}
Unseal Key 3: ${k.b44}

Initial Root Token: ${f('hvs.{a24}')}

Vault initialized with 3 key shares and a key threshold of 2.
%%
$ redis-cli -h cache -a ${k.alnum} PING
Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.
PONG
%%
$ openssl rand -base64 32 | tee jwt.secret
${k.b44}
$ kubectl create secret generic jwt --from-file=jwt.secret
secret/jwt created
%%
$ gh auth token
${k.gho}
$ gh auth status
github.com
  ✓ Logged in to github.com account mk-nordkap (keyring)
  - Token: gho_************************************
%%
$ fly tokens create deploy -x 999999h
FlyV1 ${f('fm2_lJPECAAAAAAA{b220}')}
%%
$ npx wrangler secret put STRIPE_KEY
✔ Enter a secret value: … ${k.stripeOld}
🌀 Creating the secret for the Worker "checkout"
✨ Success! Uploaded secret STRIPE_KEY
%%
$ heroku pg:credentials:url DATABASE -a atlas
Connection information for default credential.
Connection info string:
   "dbname=d${plain(f('{l12}'))} host=ec2-3-248-4-172.eu-west-1.compute.amazonaws.com port=5432 user=${plain(f('{y14}'))} password=${f('{x64}')} sslmode=require"
%%
$ ssh deploy@app2 'cat /etc/atlas/token'
${f('atl_{a40}')}
$ # ^ that's the api token the worker uses
%%
$ terraform output -json | jq .
{
  "db_endpoint": { "sensitive": false, "type": "string", "value": "atlas.${plain(f('{l12}'))}.eu-central-1.rds.amazonaws.com:5432" },
  "db_password": { "sensitive": true, "type": "string", "value": "${f('{a20}')}" }
}
%%
$ argocd admin initial-password -n argocd
${f('{a16}')}

 This password must be only used for first time login. We strongly recommend you update the password using \`argocd account update-password\`.
%%
+ curl -sf -H 'PRIVATE-TOKEN: ${k.glpat}' https://gitlab.nordkap.no/api/v4/projects/88/variables
[{"variable_type":"env_var","key":"DEPLOY_KEY","value":"${f('{a28}')}","protected":true,"masked":false,"environment_scope":"*"}]
%%
$ npm config get //registry.npm.example/:_authToken
${k.npm}
%%
$ htpasswd -nb intern ${k.weak}
intern:$apr1$${plain(f('{a8}'))}$${f('{a22}')}
%%
$ aws secretsmanager get-secret-value --secret-id prod/ledger --query SecretString --output text
{"username":"ledger","password":"${k.strong}","engine":"postgres","host":"ledger.cluster-${plain(f('{l12}'))}.eu-west-1.rds.amazonaws.com","port":5432}
%%
$ aws iam create-access-key --user-name backup-bot
{
    "AccessKey": {
        "UserName": "backup-bot",
        "AccessKeyId": "${k.awsId}",
        "Status": "Active",
        "SecretAccessKey": "${k.awsKey}",
        "CreateDate": "2026-01-07T09:12:44+00:00"
    }
}
%%
$ security find-generic-password -s atlas-vpn -w
${k.weak}
$ osascript -e 'tell app "VPN" to connect'
%%
$ op item get "Brightloop staging" --fields label=username,label=password --reveal
qa@brightloop.io,${k.strong}
%%
$ sudo cat /etc/shadow | grep deploy
deploy:$6$${plain(f('{a16}'))}$${f('{a86}')}:19843:0:99999:7:::
%%
root@nas:~# smbclient //filer/scans -U 'KONTOR\scanner%${k.weak}' -c ls
  .                                   D        0  Mon Jan  5 10:11:03 2026
  scan_0001.pdf                       A   918221  Mon Jan  5 10:11:01 2026
%%
$ mongosh "mongodb://root:${k.urlpw}@mongo-0.mongo:27017/admin?replicaSet=rs0" --eval 'rs.status().ok'
1
%%
$ tailscale up --authkey=${f('tskey-auth-k{a10}CNTRL-{a32}')} --hostname=ci-runner
Success.
%%
$ ngrok config add-authtoken ${f('2{a26}_{a21}')}
Authtoken saved to configuration file: /home/jo/.config/ngrok/ngrok.yml
%%
$ snyk auth ${k.uuid}
Your account has been authenticated. Snyk is now ready to be used.
%%
$ ps aux | grep -i worker
app  1182  2.1  3.3 1190212 133020 ?  Sl  08:10  0:41 node worker.js --queue=mail --api-key=${k.a32} --concurrency=4
app  1240  0.0  0.0   6432   720 pts/0  S+  08:44  0:00 grep -i worker
%%
$ docker inspect atlas-api --format '{{json .Config.Env}}'
["NODE_ENV=production","SESSION_KEY=${f('{a32}')}","PATH=/usr/local/bin:/usr/bin","DB_PASSWORD=${k.alnum}","YARN_VERSION=1.22.22"]
%%
$ git diff HEAD~1 -- src/mail.ts
diff --git a/src/mail.ts b/src/mail.ts
index ${plain(f('{x7}'))}..${plain(f('{x7}'))} 100644
--- a/src/mail.ts
+++ b/src/mail.ts
@@ -3,4 +3,4 @@
 import sgMail from '@sendgrid/mail'
 
-sgMail.setApiKey('${k.sg}')
+sgMail.setApiKey(process.env.SENDGRID_API_KEY!)
 
%%
$ gitleaks detect -v
Finding:     const token = "${k.xoxb}"
Secret:      ${again(k.xoxb)}
RuleID:      slack-bot-token
Entropy:     4.91
File:        scripts/notify.mjs
Line:        12
Commit:      ${plain(k.sha)}
Author:      Jo Brandt
Fingerprint: ${plain(k.sha)}:scripts/notify.mjs:slack-bot-token:12
%%
$ crontab -l
# m h  dom mon dow   command
15 3 * * * BORG_PASSPHRASE='${k.phrase}' borg create /mnt/bk::'{now}' /srv
*/5 * * * * curl -fsS -o /dev/null "https://api.petitport.fr/cron?token=${f('{a24}')}"
%%
$ ldapwhoami -x -D "cn=svc-jira,ou=svc,dc=kontor,dc=local" -w ${k.strong} -H ldap://dc1
dn:cn=svc-jira,ou=svc,dc=kontor,dc=local
%%
PS> $cred = New-Object PSCredential("KONTOR\adm-lh", (ConvertTo-SecureString "${k.weak}" -AsPlainText -Force))
PS> Invoke-Command -ComputerName SRV-FILE02 -Credential $cred -ScriptBlock { hostname }
SRV-FILE02
%%
$ wget --user=mirror --password=${k.weak} https://dl.bancolar.es/dumps/latest.tar.zst
--2026-01-19 11:20:31--  https://dl.bancolar.es/dumps/latest.tar.zst
HTTP request sent, awaiting response... 200 OK
Length: 918273645 (876M) [application/zstd]
`
