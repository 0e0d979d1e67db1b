import { ordinaryTexts } from '../corpus.ts'

/** Code, settings and commands that speak of secrets but hold none. */
export const reading = ordinaryTexts('reading')`
const apiKey = process.env.OPENAI_API_KEY
if (!apiKey) throw new Error('OPENAI_API_KEY is not set')
%%
password = os.environ["DB_PASSWORD"]
%%
SECRET_KEY = os.getenv("SECRET_KEY")
%%
const { data: token } = await auth.getToken({ scope: 'repo' })
%%
token := os.Getenv("GITHUB_TOKEN")
client := github.NewClient(oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})))
%%
export const login = async (username: string, password: string): Promise<Session> => {
  const user = await findUser(username)
  return verify(password, user.passwordHash) ? open(user) : refuse(user)
}
%%
type Credentials = { readonly username: string; readonly password: string; readonly token?: string | undefined }
%%
interface Config {
  apiKey: string
  clientSecret: string
  accessTokenTtlSeconds: number
}
%%
password: z.string().min(8).max(128),
passwordConfirmation: z.string(),
%%
<input type="password" name="password" id="password" autocomplete="current-password" required>
%%
<label for="token">API token</label>
<input id="token" placeholder="Paste your token here">
%%
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
DATABASE_URL=
%%
OPENAI_API_KEY=your_api_key_here
STRIPE_SECRET_KEY=<your-stripe-key>
SESSION_SECRET=\${SESSION_SECRET}
%%
env:
  NPM_TOKEN: \${{ secrets.NPM_TOKEN }}
  GITHUB_TOKEN: \${{ github.token }}
%%
environment:
  POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:?missing}
  REDIS_PASSWORD: \${REDIS_PASSWORD}
%%
password = var.db_password
secret_key = data.aws_secretsmanager_secret_version.app.secret_string
%%
- name: DB_PASSWORD
  valueFrom:
    secretKeyRef:
      name: db-credentials
      key: password
%%
"password": "{{ vault_db_password }}"
%%
curl -H "Authorization: Bearer $TOKEN" https://api.example.com/v1/me
%%
curl -u "$USER:$PASS" https://api.example.com/status
%%
docker login -u "$REGISTRY_USER" --password-stdin < token.txt
%%
psql "postgres://$PGUSER:$PGPASSWORD@db.internal/app"
%%
mongodb://<username>:<password>@cluster.example.org/<database>
%%
https://USERNAME:PASSWORD@host.example.com/path
%%
export AWS_SECRET_ACCESS_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxx
%%
Authorization: Bearer <token>
%%
Authorization: Bearer YOUR_API_KEY
%%
api_key: "***"
token: "********"
password: [REDACTED]
%%
"apiKey": null,
"secret": undefined,
"token": false
%%
if (password.length < 12) return 'The password is too short'
%%
const isTokenExpired = (token: Token, now: number) => token.expiresAt <= now
%%
expect(screen.getByLabelText('Password')).toBeVisible()
expect(tokenCount).toBe(42)
%%
def get_secret(name: str) -> str:
    return client.access_secret_version(name=f"projects/demo/secrets/{name}/versions/latest").payload.data.decode()
%%
secret = Secret.from_name(self, "Imported", "prod/db")
%%
String password = System.getenv("DB_PASSWORD");
String token = request.getHeader("X-Auth-Token");
%%
@Value("\${jwt.secret}")
private String jwtSecret;
%%
$password = $_POST['password'] ?? '';
$hash = password_hash($password, PASSWORD_DEFAULT);
%%
let key = env::var("API_KEY").expect("API_KEY must be set");
%%
config.secret_key_base = ENV.fetch("SECRET_KEY_BASE")
%%
keyVault.getSecret('db-password').then((secret) => connect(secret.value))
%%
KEY_PREFIX = "session:"
TOKEN_TTL = 3600
PASSWORD_MIN_LENGTH = 12
MAX_TOKENS = 4096
%%
const tokens = text.split(' ')
for (const token of tokens) count.set(token, (count.get(token) ?? 0) + 1)
%%
case TokenKind.Identifier: return parseIdentifier(token)
%%
primaryKey: true, foreignKey: 'user_id', sortKey: 'created_at', partitionKey: 'tenant'
%%
key={item.id} onKeyDown={handleKey} tabIndex={0}
%%
public_key_path: keys/public.pem
private_key_path: keys/private.pem
%%
ssh -i ~/.ssh/deploy_key ubuntu@10.0.4.17 uptime
%%
vault kv get -field=password secret/app/db
%%
aws secretsmanager create-secret --name prod/db --secret-string file://secret.json
%%
gh secret set NPM_TOKEN < token.txt
%%
kubectl create secret generic app --from-env-file=.env
%%
read -s -p "Password: " PASSWORD
%%
openssl rand -base64 32 > session.key
%%
TOKEN=$(curl -s https://id.example.com/token | jq -r .access_token)
%%
passwd: password updated successfully
%%
PASSWORD_RESET_URL=https://app.example.com/reset
TOKEN_ENDPOINT=https://id.example.com/oauth/token
%%
AUTH_TYPE=oauth2
AUTH_PROVIDER=keycloak
SECRET_BACKEND=vault
%%
passwordField.setText("");
tokenInput.value = ''
%%
"scripts": { "token": "node scripts/print-token.ts", "secrets": "sops -d secrets.enc.yaml" }
%%
"secret": { "type": "string", "description": "Shared secret of the webhook", "writeOnly": true }
%%
password VARCHAR(255) NOT NULL,
api_token CHAR(64) UNIQUE,
reset_token_expires_at TIMESTAMP
%%
SELECT id, email, password_hash, token_version FROM users WHERE token = $1
%%
mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }
%%
form.append('password', passwordRef.current.value)
%%
logger.info('token refreshed for %s', user.id)
`
