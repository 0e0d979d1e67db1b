import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const sha1 = form('{x40}')
const sha512 = form('{b86}==')
const uuid = form('{x8}-{x4}-4{x3}-9{x3}-{x12}')
const short = form('{x7}')

/** Whole outputs as a tool returns them. */
export const long = ordinaryTexts('long')`
     1	import { createHmac, timingSafeEqual } from 'node:crypto'
     2	import { readSecret } from './read-secret.ts'
     3	
     4	export type Session = { readonly id: string; readonly token: string; readonly expiresAt: number }
     5	
     6	const TOKEN_BYTES = 32
     7	
     8	export const signToken = async (session: Session): Promise<string> => {
     9	  const secret = await readSecret('session-signing-key')
    10	  const signature = createHmac('sha256', secret).update(session.id).digest('base64url')
    11	  return \`\${session.id}.\${signature}\`
    12	}
    13	
    14	export const verifyToken = async (token: string): Promise<boolean> => {
    15	  const [id = '', signature = ''] = token.split('.')
    16	  const expected = await signToken({ id, token, expiresAt: 0 })
    17	  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
    18	}
%%
    "node_modules/@types/node": {
      "version": "22.5.4",
      "integrity": "sha512-${sha512}",
      "dev": true,
      "license": "MIT",
      "dependencies": {
        "undici-types": "~6.19.2"
      }
    },
    "node_modules/js-tokens": {
      "version": "9.0.0",
      "integrity": "sha512-${sha512}",
      "license": "MIT"
    },
    "node_modules/secure-json-parse": {
      "version": "2.7.0",
      "integrity": "sha512-${sha512}",
      "license": "BSD-3-Clause"
    },
%%
commit ${sha1}
Merge: ${short} ${short}
Author: Tom Lee <tom@example.com>
Date:   Tue Mar 3 18:02:41 2026 +0100

    Merge pull request #812 from acme/token-refresh

commit ${sha1}
Author: Anna Berg <anna@example.com>
Date:   Tue Mar 3 17:40:02 2026 +0100

    Refresh the access token one minute before it expires

    The client waited for a 401 and then repeated the request, which doubled
    the load on the password endpoint after a restart.
%%
from fastapi import APIRouter, Depends, HTTPException
from fastapi.security import OAuth2PasswordBearer, OAuth2PasswordRequestForm

oauth2_scheme = OAuth2PasswordBearer(tokenUrl="token")
router = APIRouter(prefix="/auth", tags=["auth"])


@router.post("/token", response_model=Token)
async def login_for_access_token(form_data: OAuth2PasswordRequestForm = Depends()):
    user = await authenticate_user(form_data.username, form_data.password)
    if user is None:
        raise HTTPException(status_code=401, detail="Incorrect username or password")
    access_token = create_access_token(data={"sub": user.username})
    return {"access_token": access_token, "token_type": "bearer"}
%%
# Payments API

Base URL: https://api.example.com/v1

## Keys

Every account has two keys: a *publishable* key for browsers and a *secret* key for servers.
Send the secret key as bearer token:

    curl https://api.example.com/v1/charges -H "Authorization: Bearer $PAYMENTS_SECRET_KEY"

## Errors

| Status | Code | Meaning |
| --- | --- | --- |
| 401 | invalid_api_key | the key does not exist or was revoked |
| 403 | missing_scope | the key lacks the scope the route needs |
| 429 | rate_limited | wait for the seconds told in \`Retry-After\` |
%%
Run npm ci
added 1204 packages in 31s
Run npm test

> api@2.3.1 test
> vitest run

 RUN  v2.1.1

 ✓ src/auth/token.test.ts (14 tests) 91ms
 ✓ src/auth/password.test.ts (9 tests) 412ms
 ✓ src/http/headers.test.ts (31 tests) 38ms

 Test Files  3 passed (3)
      Tests  54 passed (54)
   Start at  10:11:12
   Duration  2.41s (transform 812ms, setup 0ms, collect 1.2s)
%%
Name:             api-6d5b9c8f7-x2k4m
Namespace:        prod
Node:             node-3/10.0.4.17
Start Time:       Wed, 04 Mar 2026 10:11:12 +0100
Containers:
  api:
    Container ID:  containerd://${form('{x64}')}
    Image:         images.example.com/api:2.3.1
    Image ID:      images.example.com/api@sha256:${form('{x64}')}
    Environment:
      DB_PASSWORD:  <set to the key 'password' in secret 'db-credentials'>  Optional: false
      LOG_LEVEL:    info
    Mounts:
      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-x7k2p (ro)
QoS Class:        Burstable
%%
Terraform will perform the following actions:

  # aws_db_instance.main will be updated in-place
  ~ resource "aws_db_instance" "main" {
        id             = "main"
      ~ instance_class = "db.t3.medium" -> "db.t3.large"
      ~ password       = (sensitive value)
        username       = "app"
    }

Plan: 0 to add, 1 to change, 0 to destroy.
%%
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 812B done
#2 [internal] load metadata for node:22-slim
#4 [1/5] FROM node:22-slim@sha256:${form('{x64}')}
#4 CACHED
#5 [2/5] COPY package.json package-lock.json ./
#6 [3/5] RUN --mount=type=secret,id=npm_token npm ci --omit=dev
#6 12.41 added 412 packages
#7 exporting to image
#7 writing image sha256:${form('{x64}')} done
%%
{
  "id": "chatcmpl-${form('{a29}')}",
  "object": "chat.completion",
  "created": 1772617872,
  "model": "gpt-4o-mini-2024-07-18",
  "choices": [
    {
      "index": 0,
      "message": { "role": "assistant", "content": "The token is refreshed in src/auth/refresh.ts." },
      "finish_reason": "stop"
    }
  ],
  "usage": { "prompt_tokens": 412, "completion_tokens": 18, "total_tokens": 430 }
}
%%
User: The login fails after the update, can you look?
Assistant: I'll look at the auth module first.
Tool read_file(src/auth/login.ts): 58 lines
Assistant: \`login\` compares the password before it trims the username, so names with a trailing blank fail. I'd trim first and add a test.
User: ok do it, and check that the token is not logged
Assistant: Done. The token is not logged; only its length is.
%%
diff --git a/deploy/values.yaml b/deploy/values.yaml
index ${short}..${short} 100644
--- a/deploy/values.yaml
+++ b/deploy/values.yaml
@@ -8,9 +8,10 @@ image:
 env:
   - name: OPENAI_API_KEY
     valueFrom:
       secretKeyRef:
-        name: openai
-        key: api-key
+        name: model-keys
+        key: openai
   - name: LOG_LEVEL
     value: info
%%
============================= test session starts ==============================
platform linux -- Python 3.12.4, pytest-8.2.2
collected 41 items

tests/test_tokens.py ......F...                                          [ 24%]
tests/test_passwords.py ...............................                  [100%]

=================================== FAILURES ===================================
______________________________ test_refresh_token ______________________________
>       assert refreshed.expires_at > token.expires_at
E       AssertionError: assert 1772617872 > 1772617872
tests/test_tokens.py:58: AssertionError
%%
CREATE TABLE users (
  id bigserial PRIMARY KEY,
  email citext NOT NULL UNIQUE,
  password_hash text NOT NULL,
  mfa_secret_encrypted bytea,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_tokens (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  token_hash bytea NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id);
%%
name: release
on:
  push:
    tags: ['v*']
permissions:
  contents: write
  id-token: write
jobs:
  publish:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@${sha1}
      - run: npm publish --provenance
        env:
          NODE_AUTH_TOKEN: \${{ secrets.NPM_TOKEN }}
          SLACK_WEBHOOK_URL: \${{ secrets.SLACK_WEBHOOK_URL }}
%%
# Copy this file to .env and fill in the values
NODE_ENV=development
PORT=3000
DATABASE_URL=
REDIS_URL=
SESSION_SECRET=
# create one in the console of the vendor
OPENAI_API_KEY=
STRIPE_SECRET_KEY=
SMTP_HOST=localhost
SMTP_PORT=1025
SMTP_USER=
SMTP_PASSWORD=
%%
seq  type             id                                     actor
 41  run.started      ${uuid}   scheduler
 42  step.started     ${uuid}   agent/planner
 43  tool.called      ${uuid}   agent/planner
 44  tool.answered    ${uuid}   read_file
 45  model.answered   ${uuid}   agent/planner
 46  run.finished     ${uuid}   scheduler
%%
services:
  api:
    image: images.example.com/api:2.3.1
    env_file: .env
    secrets: [db_password]
    environment:
      DB_PASSWORD_FILE: /run/secrets/db_password
      TOKEN_TTL: 3600
    depends_on: [db]
secrets:
  db_password:
    file: ./secrets/db_password.txt
%%
public class TokenService {
    private final SecretKey key;
    private final Duration lifetime = Duration.ofMinutes(15);

    public TokenService(@Value("\${security.jwt.secret}") String secret) {
        this.key = Keys.hmacShaKeyFor(Decoders.BASE64.decode(secret));
    }

    public String issue(UserDetails user) {
        return Jwts.builder().subject(user.getUsername()).signWith(key).compact();
    }
}
%%
Benutzerhandbuch, Abschnitt 4: Anmeldung

1. Öffnen Sie das Portal und geben Sie Benutzername und Passwort ein.
2. Bestätigen Sie die Anmeldung mit dem Einmalcode aus der App.
3. Haben Sie das Passwort vergessen, wählen Sie "Passwort zurücksetzen".

Hinweis: Nach fünf falschen Eingaben wird das Konto für 15 Minuten gesperrt.
`
