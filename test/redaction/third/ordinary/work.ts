import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const short = form('{x7}')

/** Diffs, plain code, commands and their outputs. */
export const work = ordinaryTexts('work')`
diff --git a/src/token.ts b/src/token.ts
index ${short}..${short} 100644
--- a/src/token.ts
+++ b/src/token.ts
@@ -12,7 +12,7 @@ export const readToken = (header: string) => {
-  return header.slice(7)
+  return header.replace(/^Bearer /, '')
%%
-  const password = req.body.password
+  const { password } = loginSchema.parse(req.body)
%%
+    secretName: api-tls
-    secretName: web-tls
%%
@@ -1,3 +1,3 @@
-version: 2.3.0
+version: 2.3.1
 image: images.example.com/api
%%
 M src/auth/password.ts
 M src/auth/token.ts
?? notes/secrets.md
%%
src/auth/password.ts | 12 ++++++------
 src/auth/token.ts    |  4 ++--
 2 files changed, 8 insertions(+), 8 deletions(-)
%%
src/auth/token.ts(41,18): error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.
%%
src/secret.rs:12:5: warning: unused variable: \`password\`
%%
error[E0382]: borrow of moved value: \`token\`
  --> src/main.rs:14:20
%%
warning: field 'apiKey' is never used [-Wunused]
%%
$ grep -rn "password" src | wc -l
41
%%
$ ls secrets/
README.md  db.enc.yaml  tls.enc.yaml
%%
$ kubectl get secrets -n prod
No resources found in prod namespace.
%%
$ npm test -- --grep password
  12 passing (214ms)
%%
$ node -p "crypto.getHashes().length"
52
%%
$ pip install python-jose[cryptography] passlib[bcrypt]
Successfully installed bcrypt-4.1.3 passlib-1.7.4 python-jose-3.3.0
%%
$ docker compose up -d
 ✔ Container app-db-1     Started
 ✔ Container app-redis-1  Started
%%
$ uptime
 10:11:12 up 41 days,  3:02,  2 users,  load average: 0.41, 0.38, 0.35
%%
$ ip a show eth0
    link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff
    inet6 fe80::42:acff:fe11:2/64 scope link
%%
$ dig +short example.com
93.184.215.14
%%
$ curl -sI https://example.com | head -1
HTTP/2 200
%%
$ jq '.tokens | length' out.json
812
%%
sed -i 's/password/passphrase/g' docs/*.md
%%
find . -name '*secret*' -not -path './node_modules/*' -print0 | xargs -0 ls -l
%%
git commit -m "Hide the token in logs (#4412)" && git push
%%
git log --oneline -S'API_KEY' -- src/config.ts
%%
ssh-keygen -t ed25519 -f deploy_key -N "" -C "deploy"
%%
python -m pytest tests/test_tokens.py::test_refresh -x -q
%%
def tokenize(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)
%%
for (const [key, value] of Object.entries(headers)) request.setHeader(key, value)
%%
const PASSWORD_PATTERN = /^(?=.*[A-Z])(?=.*\d)(?=.*[^\w]).{12,}$/
%%
TOKEN_RE = re.compile(r"(ghp|gho|ghs)_[A-Za-z0-9]{36}")
%%
const masked = key.slice(0, 4) + '…' + key.slice(-4)
%%
assert hash_password("x") != hash_password("y")
%%
it('hides the password field', () => { expect(render(<Login />).password).toBeHidden() })
%%
describe('token store', () => { beforeEach(() => store.clear()) })
%%
enum Permission { ReadSecret = 'secret:read', WriteSecret = 'secret:write' }
%%
class PasswordResetTokenGenerator(BaseTokenGenerator):
    key_salt = "app.auth.tokens.PasswordResetTokenGenerator"
%%
from app.security import create_access_token, get_password_hash, verify_password
%%
import { SecretsManagerClient, GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
%%
router.post('/password/reset', requireToken, resetPassword)
router.get('/tokens/:tokenId', listToken)
%%
ErrWrongPassword = errors.New("wrong password")
ErrTokenExpired  = errors.New("token expired")
%%
"auth.password.label": "Password",
"auth.password.forgot": "Forgot your password?",
"auth.token.copied": "Token copied"
%%
"passwort": "Passwort", "kennwort_vergessen": "Kennwort vergessen?"
%%
[tool.ruff.lint]
select = ["E", "F", "S105", "S106"] # S105: hard-coded password string
%%
rules:
  no-secrets/no-secrets: [error, { tolerance: 4.2 }]
%%
- id: detect-secrets
  args: [--baseline, .secrets.baseline]
%%
.env
.env.*
*.pem
secrets/
%%
location /token { proxy_pass http://auth.internal:8080; proxy_read_timeout 30s; }
%%
server_tokens off;
ssl_certificate_key ssl/server.key;
%%
[Unit]
Description=Token service
After=network-online.target
%%
CMD ["node", "--enable-source-maps", "dist/server.js"]
EXPOSE 8080
%%
replicaCount: 3
image: { repository: images.example.com/api, tag: 2.3.1 }
existingSecret: api-credentials
%%
resource "random_password" "db" {
  length  = 24
  special = true
}
%%
output "db_password" {
  value     = random_password.db.result
  sensitive = true
}
%%
apiVersion: external-secrets.io/v1beta1
kind: ExternalSecret
spec:
  refreshInterval: 1h
  secretStoreRef: { name: vault, kind: ClusterSecretStore }
%%
permissions:
  contents: read
  id-token: write
%%
<dependency>
  <groupId>org.springframework.security</groupId>
  <artifactId>spring-security-crypto</artifactId>
  <version>6.3.0</version>
</dependency>
`
