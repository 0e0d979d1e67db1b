import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const code = ordinaryTexts('code')`
export type Credentials = {
  readonly username: string
  readonly password: string
  readonly token?: string
}
%%
const apiKey = process.env.OPENAI_API_KEY
if (!apiKey) throw new Error('OPENAI_API_KEY is not set')
const client = new OpenAI({ apiKey })
%%
export const verifyPassword = async (password: string, hash: string): Promise<boolean> =>
  argon2.verify(hash, password)
%%
const token = await getToken({ req, secret: process.env.NEXTAUTH_SECRET })
if (token === null) return NextResponse.redirect(new URL('/login', req.url))
%%
describe('password reset', () => {
  it('rejects an expired token', async () => {})
  it('does not reveal whether the mail address exists', async () => {})
})
%%
const schema = z.object({
  email: z.string().email(),
  password: z.string().min(12).max(128),
  apiKey: z.string().regex(/^sk-[A-Za-z0-9]{20,}$/),
})
%%
def get_secret(name: str) -> str:
    client = boto3.client("secretsmanager")
    return client.get_secret_value(SecretId=name)["SecretString"]
%%
password = getpass.getpass("Password: ")
conn = psycopg.connect(host=host, user=user, password=password)
%%
token := os.Getenv("GITHUB_TOKEN")
if token == "" {
	log.Fatal("GITHUB_TOKEN is required")
}
req.Header.Set("Authorization", "Bearer "+token)
%%
public record LoginRequest(@NotBlank String username, @NotBlank String password) {}
%%
let password = rpassword::prompt_password("Your password: ")?;
let key = Key::from_slice(&derive(&password, &salt));
%%
class User < ApplicationRecord
  has_secure_password
  has_secure_token :api_token, length: 36
  validates :password, length: { minimum: 12 }, if: :password_required?
end
%%
var password = configuration["Db:Password"] ?? throw new InvalidOperationException("Db:Password missing");
var secret = await secretClient.GetSecretAsync("db-password");
%%
$password = $_POST['password'] ?? '';
if (!password_verify($password, $user['password_hash'])) {
    throw new AuthException('invalid_credentials');
}
%%
const maskToken = (token: string): string => \`\${token.slice(0, 4)}…\${token.slice(-4)}\`
%%
<label htmlFor="password">Password</label>
<input id="password" name="password" type="password" autoComplete="current-password" placeholder="••••••••" required />
%%
headers: {
  Authorization: \`Bearer \${accessToken}\`,
  'X-Api-Key': config.apiKey,
  'X-CSRF-Token': csrfToken,
},
%%
enum TokenKind {
  Identifier = 'identifier',
  StringLiteral = 'string-literal',
  Keyword = 'keyword',
  EndOfFile = 'eof',
}
%%
const SECRET_PATTERNS = [/ghp_[A-Za-z0-9]{36}/, /xox[bp]-[0-9-]+-[A-Za-z0-9]+/, /AKIA[A-Z2-7]{16}/, /-----BEGIN [A-Z ]*PRIVATE KEY-----/]
%%
CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES users (id),
  key_hash bytea NOT NULL UNIQUE,
  secret_hint text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
%%
UPDATE users SET password_hash = $1, password_changed_at = now() WHERE id = $2;
%%
SELECT token_count, cache_key, primary_key FROM usage WHERE api_key_id = 4411 ORDER BY created_at DESC LIMIT 10;
%%
export const passwordStrength = (password: string): 'weak' | 'fair' | 'strong' =>
  password.length < 10 ? 'weak' : password.length < 16 ? 'fair' : 'strong'
%%
const translations = {
  password: 'Passwort',
  forgotPassword: 'Passwort vergessen?',
  newPassword: 'Neues Passwort',
  secretQuestion: 'Sicherheitsfrage',
  apiKey: 'API-Schlüssel',
}
%%
it('reads the key', () => {
  expect(readKey({ key: 'a' })).toBe('a')
  expect(() => readKey({})).toThrow('key is missing')
})
%%
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export const createToken = (): string => randomBytes(32).toString('base64url')
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
%%
const secretKey = new SecretKey(await importKey(rawKey))
const publicKey = secretKey.publicKey()
assert(publicKey.verify(message, secretKey.sign(message)))
%%
for (const [key, value] of Object.entries(headers)) {
  if (/token|secret|password|authorization/i.test(key)) headers[key] = '[redacted]'
}
%%
if err := bcrypt.CompareHashAndPassword(user.PasswordHash, []byte(in.Password)); err != nil {
	return nil, ErrInvalidCredentials
}
%%
fun login(user: String, password: String): Result<Token> =
    api.login(LoginBody(user, password)).map { it.accessToken }
%%
struct KeychainItem {
    static let service = "app.kiosk.auth"
    static let account = "refresh-token"
    func save(_ token: Data) throws { try add(token, service: Self.service) }
}
%%
function tokenize(input) {
  const tokens = []
  let token = ''
  for (const char of input) {
    if (char === ' ') { tokens.push(token); token = '' } else token += char
  }
  return tokens.concat(token)
}
%%
export const COOKIE_NAME = 'session'
export const TOKEN_HEADER = 'x-access-token'
export const PASSWORD_FIELD = 'password'
export const SECRET_PREFIX = 'secret/'
%%
const { data: session } = useSession()
const accessToken = session?.accessToken
const password = watch('password')
const confirm = watch('confirmPassword')
%%
interface OAuthConfig {
  clientId: string
  clientSecret: string
  redirectUri: string
  tokenEndpoint: string
}
%%
diff --git a/src/auth.ts b/src/auth.ts
index ${f('{x7}')}..${f('{x7}')} 100644
--- a/src/auth.ts
+++ b/src/auth.ts
@@ -14,7 +14,7 @@
-  const token = req.headers.authorization?.split(' ')[1]
+  const token = readBearer(req.headers.authorization)
   if (!token) return unauthorized()
%%
#define KEY_SIZE 32
#define TOKEN_MAX 128
static int read_password(char *buf, size_t len) {
  return readpassphrase("Password: ", buf, len, RPP_ECHO_OFF) != NULL;
}
%%
type Query {
  apiKeys(first: Int, after: String): ApiKeyConnection!
}
type Mutation {
  createApiKey(name: String!): CreateApiKeyPayload!
  changePassword(old: String!, new: String!): Boolean!
}
%%
message LoginRequest {
  string username = 1;
  string password = 2;
  optional string otp_code = 3;
}
%%
expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'password')
expect(screen.queryByText('Invalid token')).toBeNull()
%%
const key = \`user:\${userId}:sessions\`
await redis.set(key, JSON.stringify(session), 'EX', 3600)
const cacheKey = [tenant, 'orders', page].join(':')
%%
passport.use(new LocalStrategy({ usernameField: 'email', passwordField: 'password' }, verify))
%%
password_hash <- sodium::password_store(readline("password: "))
stopifnot(sodium::password_verify(password_hash, readline("again: ")))
%%
throw new HttpError(401, 'Invalid or expired token', { code: 'token_expired' })
%%
# frozen_string_literal: true
Rails.application.credentials.dig(:stripe, :secret_key)
ENV.fetch("SECRET_KEY_BASE") { raise "no secret" }
%%
const secret = await ssm.getParameter({ Name: '/atlas/prod/jwt', WithDecryption: true })
const signingKey = secret.Parameter!.Value!
%%
export class TokenBucket {
  private tokens: number
  constructor(private readonly capacity = 100, private readonly refillPerSecond = 10) {
    this.tokens = capacity
  }
}
%%
try:
    payload = jwt.decode(token, key=settings.JWT_PUBLIC_KEY, algorithms=["RS256"])
except jwt.ExpiredSignatureError:
    raise HTTPException(status_code=401, detail="Token has expired")
%%
const DESIGN_TOKENS = { colorPrimary: '#1f6feb', spacingMd: '12px', radius: '6px', tokenVersion: '2.4.0' }
%%
echo -n "Enter password: "; read -rs PASSWORD; echo
mysql -u root -p"$PASSWORD" -e 'select 1'
unset PASSWORD
%%
resource "random_password" "db" {
  length  = 32
  special = false
}
resource "aws_db_instance" "main" {
  username = "app"
  password = random_password.db.result
}
%%
@pytest.fixture
def token(client, user):
    return client.post("/login", json={"email": user.email, "password": user.raw_password}).json()["token"]
`
