import { ordinaryTexts } from '../corpus.ts'

/** Documentation, tickets and answers on passwords, keys and tokens in general. */
export const docs = ordinaryTexts('docs')`
## Authentication

Pass your API key in the \`Authorization\` header. Keys begin with \`sk-\` and can be revoked at any time in the dashboard.
%%
Passwords must be at least 12 characters long and contain a digit, a letter and a sign.
%%
To reset your password, open Settings > Security and choose "Forgot password".
%%
The password is stored as a bcrypt hash with a cost of 12; the plain text never leaves the request.
%%
Token: the smallest unit a tokenizer yields. A password manager is unrelated.
%%
How do I get an API key? Sign in, open the console, and press "Create key".
%%
The secret to good bread is time.
%%
Her secret: patience, a sharp knife and good butter.
%%
The key takeaway: cache invalidation is hard.
%%
Wrong password. Please try again or use the recovery link.
%%
error: password authentication failed for user "app"
%%
Error: invalid_token: The access token expired
%%
401 Unauthorized: missing bearer token
%%
The token is valid for 3600 seconds; after that, request a new one with the refresh token.
%%
| Option | Type | Default | Meaning |
| --- | --- | --- | --- |
| password | string | none | password of the database user |
| token | string | none | sent as bearer token |
| timeout | number | 30000 | milliseconds |
%%
--password <password>   password for the user
--token <token>         access token
--api-key <key>         key of the account
%%
usage: tool login [-u USER] [-p PASSWORD] [--token TOKEN] host
%%
- \`POSTGRES_PASSWORD\`: required, the superuser password
- \`POSTGRES_USER\`: optional, defaults to \`postgres\`
%%
We never ask for your password by phone. If someone does, report it to security@example.com.
%%
The AWS access key id begins with AKIA and has 20 characters; the secret access key has 40.
%%
GitHub tokens have prefixes such as ghp_, gho_ and github_pat_, which makes them easy to scan for.
%%
JWTs consist of three parts separated by dots: header, payload and signature.
%%
A JWT header usually decodes to {"alg":"HS256","typ":"JWT"}.
%%
Keep the private key private; publish only the public one.
%%
Use \`openssl rand -hex 32\` to create a session secret.
%%
TODO: move the secret to the vault before the release
%%
I will not print the value of the token. It is set and has 40 characters.
%%
I checked the .env file: OPENAI_API_KEY is set, DATABASE_URL is set, SENTRY_DSN is missing.
%%
The login form has two fields, username and password, and a "Remember me" box.
%%
Password policy: minimum length 14, history 24, lockout after 5 attempts.
%%
Feature: sign in
  Scenario: wrong password
    Given a user "anna"
    When she enters a wrong password
    Then she sees "Invalid credentials"
%%
The secret scanning alert was a false positive: the string is a checksum.
%%
Secrets are mounted at run time, so the image does not contain credentials.
%%
Pass: 41, fail: 0, skipped: 2
%%
pass: the input is forwarded unchanged
%%
auth: none
security: []
%%
Key: value pairs are separated by commas.
%%
Press any key to continue, or Ctrl+C to quit.
%%
The bearer of this letter is a member of our staff.
%%
Basic training starts on Monday, bearer plants are excluded.
%%
credentials: see the vault entry "prod/db"
%%
password: ask Jon
%%
The password is in the password manager under "Staging DB".
%%
Please send the password over a secure channel, not here.
%%
Our passphrase generator picks four words from a list of 7776.
%%
OAuth 2.0 grant types: authorization_code, client_credentials, refresh_token, password (deprecated).
%%
scope: read:user user:email repo workflow
%%
Header | Value
Content-Type | application/json
Authorization | Bearer {token}
%%
Summary: token refresh loops when clock is skewed
Steps: 1. Sign in. 2. Set clock back by 2 hours. 3. Watch the network tab.
%%
Rotation of keys: every 90 days; owner: platform team; last done: 2026-02-11.
%%
const name of the header: X-Api-Key (case-insensitive)
%%
Changelog
- fix: do not log passwords
- feat: token introspection endpoint
- chore: bump bcrypt to 5.1.1
%%
The secret store answered "permission denied" for path secret/data/app.
%%
You can also sign in with a passkey instead of a password.
%%
In this chapter we learn how public-key cryptography works and why the key length matters.
%%
The username and password fields are both required
`
