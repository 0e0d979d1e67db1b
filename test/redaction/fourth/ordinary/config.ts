import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const config = ordinaryTexts('config')`
{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "strict": true,
    "paths": { "@auth/*": ["./src/auth/*"], "@secrets/*": ["./src/secrets/*"] }
  }
}
%%
{
  "name": "@nordkap/token-service",
  "version": "2.11.0",
  "scripts": { "dev": "tsx watch src/main.ts", "rotate:keys": "tsx scripts/rotate-keys.ts" },
  "dependencies": { "jsonwebtoken": "^9.0.2", "argon2": "^0.41.1", "passport": "^0.7.0" }
}
%%
version: 2
updates:
  - package-ecosystem: npm
    directory: /
    schedule: { interval: weekly }
    groups:
      auth: { patterns: ["passport*", "jsonwebtoken"] }
%%
[tool.poetry.dependencies]
python = "^3.12"
python-jose = "^3.3.0"
passlib = { version = "^1.7.4", extras = ["bcrypt"] }
keyring = "^25.5.0"
%%
global:
  scrape_interval: 15s
scrape_configs:
  - job_name: api
    bearer_token_file: /var/run/secrets/kubernetes.io/serviceaccount/token
    static_configs:
      - targets: ["api:9090"]
%%
server:
  port: 8080
auth:
  tokenTtl: 15m
  refreshTokenTtl: 30d
  passwordMinLength: 12
  secretProvider: vault
  keyRotationDays: 90
%%
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>es.bancolar</groupId>
  <artifactId>password-policy</artifactId>
  <version>1.4.0</version>
</project>
%%
[mysqld]
default_authentication_plugin = caching_sha2_password
max_connections = 200
innodb_buffer_pool_size = 2G
validate_password.policy = STRONG
%%
PermitRootLogin no
PasswordAuthentication no
PubkeyAuthentication yes
AuthorizedKeysFile .ssh/authorized_keys
KbdInteractiveAuthentication no
%%
ssl_certificate     /etc/letsencrypt/live/nordkap.no/fullchain.pem;
ssl_certificate_key /etc/letsencrypt/live/nordkap.no/privkey.pem;
auth_basic           "Preview";
auth_basic_user_file /etc/nginx/htpasswd;
%%
Host bastion
  HostName bastion.nordkap.no
  User ops
  IdentityFile ~/.ssh/id_ed25519
  PasswordAuthentication no
%%
apiVersion: apps/v1
kind: Deployment
metadata:
  name: auth
  annotations:
    checksum/config: ${k.x64}
    checksum/secret: ${k.x64}
spec:
  replicas: 2
%%
apiVersion: v1
kind: ServiceAccount
metadata:
  name: deployer
automountServiceAccountToken: false
secrets:
  - name: deployer-token-${f('{l5}')}
%%
resource "aws_secretsmanager_secret" "db" {
  name                    = "prod/atlas/db"
  recovery_window_in_days = 7
  kms_key_id              = aws_kms_key.main.arn
}
%%
module.exports = {
  testEnvironment: 'node',
  setupFiles: ['<rootDir>/test/env.ts'],
  moduleNameMapper: { '^@/secrets/(.*)$': '<rootDir>/src/secrets/$1' },
}
%%
rules:
  - id: no-hardcoded-password
    pattern: const $X = "..."
    message: Do not hardcode a password
    severity: ERROR
    languages: [typescript]
%%
[allowlist]
description = "paths that may hold fake tokens"
paths = ['''test/fixtures/.*''', '''docs/.*''']
[[rules]]
id = "internal-token"
regex = '''atl_[A-Za-z0-9]{40}'''
%%
openapi: 3.1.0
components:
  securitySchemes:
    apiKey: { type: apiKey, in: header, name: X-Api-Key }
    oauth:
      type: oauth2
      flows:
        clientCredentials: { tokenUrl: /oauth/token, scopes: { "read:orders": Read orders } }
%%
{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "properties": {
    "password": { "type": "string", "minLength": 12, "writeOnly": true },
    "token": { "type": "string", "format": "uuid", "readOnly": true }
  },
  "required": ["password"]
}
%%
name: rotate
on:
  schedule: [{ cron: "0 4 * * 1" }]
permissions:
  id-token: write
  contents: read
jobs:
  rotate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@${k.sha} # v4.2.2
      - uses: aws-actions/configure-aws-credentials@${k.sha} # v4
        with: { role-to-assume: "arn:aws:iam::${f('{912}')}:role/rotate", aws-region: eu-west-1 }
%%
security:
  password_hashers:
    App\Entity\User: auto
  firewalls:
    main:
      form_login: { login_path: login, username_parameter: email, password_parameter: password }
%%
[Unit]
Description=Token refresher
[Service]
EnvironmentFile=/etc/atlas/secrets.env
LoadCredential=db-password:/etc/atlas/db-password
ExecStart=/usr/bin/node /srv/atlas/refresh.js
%%
logging.level.org.springframework.security=DEBUG
server.servlet.session.cookie.http-only=true
spring.security.oauth2.resourceserver.jwt.issuer-uri=https://id.nordkap.no/realms/main
%%
{"jwks":{"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"${f('{w22}')}","n":"${f('{w342}')}","e":"AQAB"}]}}
%%
# renovate.json5
{
  extends: ['config:recommended'],
  hostRules: [{ matchHost: 'npm.pkg.github.com', encrypted: {} }],
  packageRules: [{ matchPackageNames: ['oauth4webapi'], automerge: false }],
}
%%
accessToken.lifespan=300
ssoSessionIdleTimeout=1800
passwordPolicy=length(12) and upperCase(1) and notUsername
bruteForceProtected=true
%%
import type { Config } from 'tailwindcss'
export default {
  content: ['./src/**/*.{ts,tsx}'],
  theme: { extend: { colors: { brand: '#0f766e', danger: '#b91c1c' } } },
} satisfies Config
%%
CODEOWNERS
/src/auth/            @nordkap/security
/src/secrets/         @nordkap/platform
*.pem                 @nordkap/security
%%
.gitignore
node_modules
.env
.env.*
!.env.example
*.pem
secrets/
%%
volumes:
  - name: tls
    secret:
      secretName: nordkap-tls
      items:
        - { key: tls.key, path: tls.key }
        - { key: tls.crt, path: tls.crt }
%%
[wg peer, public part]
PublicKey = ${f('{b43}')}=
AllowedIPs = 10.66.0.2/32
PersistentKeepalive = 25
%%
firebase.json
{ "hosting": { "public": "dist", "rewrites": [{ "source": "**", "destination": "/index.html" }] }, "functions": { "runtime": "nodejs22" } }
%%
DKIM record: s1._domainkey.brightloop.io TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ${f('{b170}')}IDAQAB"
SPF record: "v=spf1 include:_spf.google.com ~all"
%%
google-site-verification=${f('{w43}')}
_acme-challenge.nordkap.no. 300 IN TXT "${f('{w43}')}"
%%
sealedsecret.yaml
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: { name: db, namespace: prod }
spec:
  encryptedData:
    password: AgB${f('{b340}')}
%%
{ "editor.tokenColorCustomizations": { "textMateRules": [{ "scope": "keyword", "settings": { "foreground": "#c792ea" } }] }, "editor.semanticTokenColorCustomizations": { "enabled": true } }
%%
i18n/nl.json
{ "login.password": "Wachtwoord", "login.forgot": "Wachtwoord vergeten?", "login.secret": "Geheime vraag", "token.expired": "Je sessie is verlopen" }
%%
[profile prod]
sso_session = nordkap
sso_account_id = ${f('{912}')}
sso_role_name = ReadOnly
region = eu-north-1
[sso-session nordkap]
sso_start_url = https://nordkap.awsapps.com/start
`
