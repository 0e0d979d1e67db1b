import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const names = ordinaryTexts('names')`
export const AUTH_ERRORS = {
  INVALID_PASSWORD: 'auth/invalid-password',
  TOKEN_EXPIRED: 'auth/token-expired',
  MISSING_API_KEY: 'auth/missing-api-key',
} as const
%%
export const actions = {
  passwordResetRequested: 'PASSWORD_RESET_REQUESTED',
  tokenRefreshed: 'TOKEN_REFRESHED',
  secretRevealed: 'SECRET_REVEALED',
}
%%
const STORAGE_KEY = 'user-settings-v2'
const TOKEN_KEY = 'brightloop.accessToken'
localStorage.removeItem(TOKEN_KEY)
%%
{rows.map((row) => <Row key={row.id} secretName={row.name} token={row.tokenKind} />)}
%%
tokenType: 'access_token' | 'refresh_token' | 'id_token'
passwordEncoding: 'utf8'
keyFormat: 'pkcs8'
%%
routes:
  login: /login
  password: /account/password
  tokens: /account/api-tokens
  secret: /account/secret-question
%%
<Trans i18nKey="auth.password.reset.success">Your password has been changed.</Trans>
<Button data-testid="reveal-secret-button" aria-label="Reveal secret">Reveal</Button>
%%
password_reset_token_lifetime: 1800
api_key_prefix: bl_live_
secret_backend: hashicorp-vault
token_endpoint_auth_method: client_secret_basic
%%
class TokenAuthentication(BaseAuthentication):
    keyword = "Token"
    model = None

    def authenticate_credentials(self, key):
        raise NotImplementedError
%%
spring:
  security:
    user:
      name: \${ADMIN_USER}
      password: \${ADMIN_PASSWORD}
  cloud:
    vault:
      authentication: KUBERNETES
%%
metrics: auth_password_failures_total{realm="staff"} 12, auth_tokens_issued_total{kind="refresh"} 88121, secret_rotation_age_seconds 411220
%%
labels:
  app.kubernetes.io/name: secret-operator
  helm.sh/chart: external-secrets-0.12.1
  pod-template-hash: ${f('{x10}')}
%%
const fields: Field[] = [
  { key: 'password', kind: 'password', hint: 'At least 12 characters' },
  { key: 'apiKey', kind: 'text', hint: 'Starts with bl_live_' },
]
%%
type Secret<T> = { readonly __brand: 'Secret'; readonly reveal: () => T }
type Token = Secret<string>
declare const password: Secret<string>
%%
public enum GrantType { Password, ClientCredentials, AuthorizationCode, RefreshToken }
[JsonPropertyName("client_secret")] public string ClientSecret { get; init; } = default!;
%%
case token.STRING:
	return p.parseString()
case token.KEYWORD, token.IDENT:
	return p.parseExpr()
%%
docker run --rm -e POSTGRES_PASSWORD_FILE=/run/secrets/pg -v pgdata:/var/lib/postgresql/data postgres:17
%%
- name: Set the password
  community.postgresql.postgresql_user:
    name: app
    password: "{{ vault_app_password }}"
  no_log: true
%%
await expect(page.getByTestId('token-input')).toHaveValue('')
await page.getByLabel('Password').fill(process.env.E2E_PASSWORD!)
await page.keyboard.press('Enter')
%%
lint: "no-restricted-syntax": ["error", { "selector": "Literal[value=/password/i]", "message": "Use the constant PASSWORD_FIELD" }]
`
