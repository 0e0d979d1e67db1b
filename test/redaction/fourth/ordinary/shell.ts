import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const shell = ordinaryTexts('shell')`
$ rg -n "password" src | head -6
src/auth/password.ts:3:export const hashPassword = async (password: string) => argon2.hash(password)
src/auth/login.ts:14:  const { email, password } = await req.json()
src/ui/LoginForm.tsx:22:  <PasswordInput name="password" />
src/i18n/en.ts:8:  password: 'Password',
%%
$ kubectl get secrets -n prod
NAME              TYPE                DATA   AGE
atlas-db          Opaque              2      120d
nordkap-tls       kubernetes.io/tls   2      44d
registry-pull     kubernetes.io/dockerconfigjson   1   310d
%%
$ kubectl describe secret atlas-db
Name:         atlas-db
Namespace:    prod
Type:  Opaque

Data
====
password:  24 bytes
username:  5 bytes
%%
$ gh secret list
NAME               UPDATED
NPM_TOKEN          about 3 months ago
SLACK_WEBHOOK_URL  about 1 year ago
STRIPE_SECRET_KEY  about 12 days ago
%%
$ aws secretsmanager list-secrets --query 'SecretList[].Name'
[
    "prod/atlas/db",
    "prod/atlas/jwt",
    "staging/atlas/db"
]
%%
$ vault kv list secret/atlas
Keys
----
dev
prod
staging
%%
$ gh auth status
github.com
  ✓ Logged in to github.com account jbrandt (keyring)
  - Active account: true
  - Token: gho_************************************
  - Token scopes: 'gist', 'read:org', 'repo'
%%
$ passwd
Changing password for jo.
Current password:
New password:
Retype new password:
passwd: password updated successfully
%%
$ sudo systemctl restart auth
[sudo] password for jo:
Sorry, try again.
[sudo] password for jo:
%%
$ ls -la ~/.ssh
total 28
-rw-------  1 jo jo  411 Jan  3 10:00 id_ed25519
-rw-r--r--  1 jo jo   98 Jan  3 10:00 id_ed25519.pub
-rw-r--r--  1 jo jo 2210 Jan 12 11:41 known_hosts
%%
$ ssh-keygen -lf ~/.ssh/id_ed25519.pub
256 SHA256:${f('{b43}')} jo@laptop (ED25519)
%%
$ gpg --list-keys
pub   ed25519 2024-03-01 [SC]
      ${f('{X40}')}
uid           [ultimate] Jo Brandt <jo@brightloop.io>
sub   cv25519 2024-03-01 [E]
%%
$ terraform plan
  # random_password.db will be created
  + resource "random_password" "db" {
      + bcrypt_hash = (sensitive value)
      + id          = (known after apply)
      + length      = 32
      + result      = (sensitive value)
    }
Plan: 1 to add, 0 to change, 0 to destroy.
%%
$ terraform output
db_endpoint = "atlas.${f('{l12}')}.eu-central-1.rds.amazonaws.com:5432"
db_password = <sensitive>
%%
$ heroku config:get NODE_ENV -a tally-worker
production
$ heroku ps -a tally-worker
worker.1: up 2026/01/18 03:11:02 +0000 (~ 1d ago)
%%
$ psql -h pg -U app -W
Password:
psql (17.2)
Type "help" for help.

app=> \dt
 public | api_tokens    | table | app
 public | password_resets | table | app
%%
$ docker login
Authenticating with existing credentials...
Login Succeeded
$ docker push registry.tallyport.eu/api:2.1.0
2.1.0: digest: sha256:${k.x64} size: 2417
%%
$ printenv | grep -i token | sed 's/=.*/=<hidden>/'
GITHUB_TOKEN=<hidden>
NPM_TOKEN=<hidden>
%%
$ cat .env | cut -d= -f1
DATABASE_URL
SESSION_SECRET
STRIPE_SECRET_KEY
%%
$ curl -sI https://api.nordkap.no/v1/me
HTTP/2 401
www-authenticate: Bearer realm="api", error="invalid_token"
content-type: application/json
x-request-id: ${k.uuid}
%%
$ git status
On branch token-rotation
Changes not staged for commit:
	modified:   src/secrets/rotate.ts
Untracked files:
	test/password.test.ts
%%
$ git blame -L 10,12 src/token.ts
${f('{x8}')} (Jo Brandt   2025-11-02 10:00:01 +0100 10) const token = read(req)
${f('{x8}')} (Mira Solberg 2026-01-04 09:12:44 +0100 11) if (!token) throw new Unauthorized()
%%
$ git stash list
stash@{0}: WIP on main: ${f('{x7}')} fix password reset mail
stash@{1}: On token-refresh: spike
%%
$ npm audit
jsonwebtoken  <=8.5.1
Severity: moderate
jsonwebtoken's insecure implementation of key retrieval function could lead to Forgeable Public/Private Tokens - https://github.com/advisories/GHSA-hjrf-2m68-5959
fix available via \`npm audit fix --force\`
%%
$ openssl x509 -in cert.pem -noout -fingerprint -sha256 -dates
sha256 Fingerprint=${f('{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}:{X2}')}
notBefore=Jan 12 08:11:03 2026 GMT
notAfter=Apr 12 08:11:02 2026 GMT
%%
$ az keyvault secret list --vault-name kontor -o table
Name          Id                                                       Enabled
------------  -------------------------------------------------------  ---------
db-password   https://kontor.vault.azure.net/secrets/db-password       True
jwt-key       https://kontor.vault.azure.net/secrets/jwt-key           True
%%
$ redis-cli --scan --pattern 'session:*' | wc -l
8812
$ redis-cli dbsize
(integer) 9120
%%
$ df -h
Filesystem      Size  Used Avail Use% Mounted on
/dev/nvme0n1p2  468G  211G  234G  48% /
tmpfs           7.8G  1.2M  7.8G   1% /run/secrets
%%
$ find . -name '*secret*' -not -path './node_modules/*'
./src/secrets
./src/secrets/read-secret.ts
./charts/atlas/templates/secret.yaml
%%
$ wc -l src/auth/*.ts
   41 src/auth/password.ts
  118 src/auth/token.ts
   22 src/auth/secret.ts
  181 total
%%
$ aws sts get-caller-identity
{
    "UserId": "AROA${f('{B16}')}:jo@brightloop.io",
    "Account": "${f('{912}')}",
    "Arn": "arn:aws:sts::${f('{912}')}:assumed-role/ReadOnly/jo@brightloop.io"
}
%%
$ flyctl secrets list
NAME            DIGEST              CREATED AT
DATABASE_URL    ${f('{x16}')}    3d ago
SESSION_SECRET  ${f('{x16}')}    3d ago
%%
$ vercel env ls
 name                 value          environments        created
 DATABASE_URL         Encrypted      Production          41d ago
 NEXTAUTH_SECRET      Encrypted      Production, Preview 41d ago
%%
$ ps -eo pid,args --sort=-%mem | head -4
  PID COMMAND
  811 node --max-old-space-size=4096 dist/main.js
  902 postgres: app atlas 10.0.0.7(51022) idle
 1011 /usr/bin/token-refresher --interval=30s --config /etc/refresher.toml
%%
PS C:\src> Get-Credential
cmdlet Get-Credential at command pipeline position 1
Supply values for the following parameters:
User: KONTOR\lh
Password for user KONTOR\lh: **************
%%
$ time pnpm test --filter token
Tests  88 passed (88)
Duration  4.21s
real	0m5.102s
%%
$ ip -br a
lo      UNKNOWN  127.0.0.1/8 ::1/128
eth0    UP       10.0.0.12/24 fe80::${f('{x4}')}:${f('{x2}')}ff:fe${f('{x2}')}:${f('{x4}')}/64
%%
$ helm history auth
REVISION  UPDATED                   STATUS      CHART       DESCRIPTION
11        Mon Jan 12 10:00:00 2026  superseded  auth-2.3.0  Upgrade complete
12        Mon Jan 19 08:00:00 2026  deployed    auth-2.4.0  Rotate signing key
%%
$ dig +short TXT nordkap.no
"v=spf1 include:spf.protection.outlook.com -all"
"MS=ms${f('{98}')}"
%%
$ stat -c '%a %U %n' /etc/shadow /etc/passwd
640 root /etc/shadow
644 root /etc/passwd
$ getent passwd deploy
deploy:x:1001:1001:Deploy user:/home/deploy:/bin/bash
`
