import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const docs = ordinaryTexts('docs')`
# .env.example
DATABASE_URL=postgres://user:password@localhost:5432/mydb
OPENAI_API_KEY=<your-token>
SESSION_SECRET=
STRIPE_SECRET_KEY=sk_test_...
%%
## Getting started

1. Copy \`.env.example\` to \`.env\`
2. Set \`ANTHROPIC_API_KEY\` to your key from the console
3. Run \`pnpm dev\`
%%
curl https://api.tallyport.eu/v1/orders -H "Authorization: Bearer $TOKEN"
%%
curl -H "Authorization: Bearer <access_token>" -H "X-Api-Key: {{apiKey}}" https://api.nordkap.no/v1/me
%%
services:
  api:
    environment:
      DB_PASSWORD: \${DB_PASSWORD}
      JWT_SECRET: \${JWT_SECRET:?must be set}
      REDIS_URL: redis://:\${REDIS_PASSWORD}@cache:6379
%%
The default password is \`changeme\`. Change it before you expose the service.
%%
env:
  NPM_TOKEN: \${{ secrets.NPM_TOKEN }}
  GITHUB_TOKEN: \${{ github.token }}
  SLACK_WEBHOOK_URL: \${{ secrets.SLACK_WEBHOOK_URL }}
%%
password: ********
api_key: REDACTED
token: [redacted]
secret: xxxxxxxxxxxxxxxx
%%
| Variable | Required | Description |
| --- | --- | --- |
| \`API_KEY\` | yes | Key of the service |
| \`API_SECRET\` | yes | Secret of the service, at least 32 characters |
| \`TOKEN_TTL\` | no | Seconds a token lives (default 3600) |
%%
//registry.npm.example/:_authToken=\${NPM_TOKEN}
%%
provider "aws" {
  access_key = var.aws_access_key
  secret_key = var.aws_secret_key
  region     = "eu-west-1"
}
variable "aws_secret_key" {
  type      = string
  sensitive = true
}
%%
Set your key like this:

    export OPENAI_API_KEY="sk-..."

On Windows:

    setx OPENAI_API_KEY "your-api-key-here"
%%
postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=public
mysql://<user>:<password>@<host>/<db>
mongodb+srv://<username>:<password>@cluster0.mongodb.net/
%%
      env:
        - name: DB_PASSWORD
          valueFrom:
            secretKeyRef:
              name: atlas-db
              key: password
%%
## Password policy

A password has at least 12 characters. We check it against a list of leaked passwords. A password reset link is valid for 30 minutes.
%%
To create a personal access token, open Settings → Developer settings → Tokens, click "Generate new token" and pick the scopes \`repo\` and \`read:org\`. The token starts with \`ghp_\`.
%%
Usage: atlas login [options]

Options:
  -u, --user <name>          user name
  -p, --password <password>  password (prefer --password-stdin)
      --token <token>        api token
      --password-stdin       read the password from stdin
%%
# config.toml
[auth]
# The secret used to sign sessions. Generate one with \`openssl rand -hex 32\`.
secret = ""
token_lifetime = "1h"
%%
spring.datasource.username=\${DB_USER}
spring.datasource.password=\${DB_PASS}
spring.security.oauth2.client.registration.google.client-secret=\${GOOGLE_SECRET}
%%
kubectl create secret generic atlas-db --from-literal=password="$(openssl rand -base64 24)"
%%
# How the refresh flow works

The client sends the refresh token to \`/oauth/token\`. The server answers with a new access token and, if rotation is on, a new refresh token. The old refresh token is then revoked.
%%
ansible-vault encrypt_string --ask-vault-pass --name db_password
New Vault password:
Confirm New Vault password:
Reading plaintext input from stdin.
%%
\`\`\`ts
const client = new Anthropic({ apiKey: process.env.ANTHROPIC_API_KEY })
\`\`\`

If \`apiKey\` is left out, the SDK reads \`ANTHROPIC_API_KEY\` itself.
%%
vault kv get -field=password secret/atlas/prod | docker login -u ci --password-stdin registry.tallyport.eu
%%
secret:
  existingSecret: "atlas-credentials"
  passwordKey: "db-password"
  createIfMissing: false
%%
Authorization: Basic base64(client_id:client_secret)
Content-Type: application/x-www-form-urlencoded

grant_type=client_credentials
%%
Replace YOUR_API_KEY with the key from the dashboard:
https://maps.googleapis.com/maps/api/js?key=YOUR_API_KEY&callback=initMap
%%
<add name="Main" connectionString="Server=.;Database=App;Integrated Security=true;TrustServerCertificate=true" />
<add key="ApiKey" value="#{ApiKey}#" />
%%
CHANGELOG
## 4.2.0
- Passwords are hashed with argon2id instead of bcrypt
- \`tokenRefreshSkew\` is now 30 s
- Fixed: secrets in nested objects were printed by \`debug()\`
%%
| HTTP code | meaning |
| --- | --- |
| 401 | the token is missing or expired |
| 403 | the token lacks the scope |
| 429 | too many tokens per minute |
%%
# sops
creation_rules:
  - path_regex: secrets/.*\.yaml$
    age: age1${f('{l58}')}
%%
db_password: !vault |
  $ANSIBLE_VAULT;1.1;AES256
  ${f('{980}')}
  ${f('{980}')}
%%
apiVersion: external-secrets.io/v1beta1
kind: ExternalSecret
spec:
  secretStoreRef: { name: vault, kind: ClusterSecretStore }
  target: { name: atlas-db }
  data:
    - secretKey: password
      remoteRef: { key: atlas/prod, property: db_password }
%%
Example response:

{
  "access_token": "eyJhbGciOi...",
  "token_type": "Bearer",
  "expires_in": 3600
}
%%
GIT_ASKPASS=/usr/local/bin/askpass GIT_TERMINAL_PROMPT=0 git fetch
# askpass prints the token from the keyring
%%
Um das Passwort zurückzusetzen, klicken Sie auf „Passwort vergessen“. Sie erhalten dann eine E-Mail mit einem Link, der 30 Minuten gültig ist.
%%
Pour générer un jeton d'accès, ouvrez Paramètres → Jetons, puis choisissez une durée de validité. Le jeton n'est affiché qu'une seule fois.
%%
"env": { "GITHUB_TOKEN": "\${input:github_token}" },
"inputs": [{ "type": "promptString", "id": "github_token", "description": "GitHub token", "password": true }]
%%
PASSWORD_MIN_LENGTH=12
PASSWORD_MAX_AGE_DAYS=180
TOKEN_EXPIRY=15m
SECRET_ROTATION_ENABLED=true
AUTH_PROVIDER=keycloak
API_KEY_HEADER=x-api-key
`
