import type { JsonValue } from '../../packages/ledger/src/json.ts'
import type { Maker } from './make.ts'

/** One form a line. */
const FORMS = `{x40}
{x64}
{x32}
sha256:{x64}
sha512-{b86}==
W/"{x32}"
commit {x40}
index {x7}..{x7}
call_{w24}
chatcmpl-{w29}
msg_01{w22}
toolu_01{w22}
resp_{x48}
run_{w24}
thread_{w24}
file-{w24}
req_{x32}
cus_{w14}
pi_3{w23}
evt_{w24}
task_{x32}
step-{w20}
asst_{w24}
pk_live_{w24}
phc_{w43}
pk.{w20}
i-0{x17}
vol-0{x17}
AIDA{t17}
arn:aws:s3:::b-{l9}
data:image/png;base64,{b400}
{b600}
pa-{l6}-{l6}
sl.example.org
A3-{d4}-{d2}
sk-learn-{d3}
max_tokens={d5}
total_tokens: {d9}
token_count={d8}
{d13}
{d16}00
2026-11-15T{d2}:{d2}:00Z
v{d1}.{d2}.{d3}
order {d4}-{d4}
GET /v1/items/{w22}?page_token={w24}
next_page_token: {s40}
https://example.org/a/{s24}
ssh://git@example.org/{l8}.git
npm_config_cache=/tmp/{l8}
atlasv1 {w14}`

/** What must stay as it is, made afresh in each round: each has the shape of something that is redacted. */
export function lookAlikes({ form, uuid, pick }: Maker): JsonValue[] {
  const forms = FORMS.split('\n').map(form)
  const words = [
    'password: required',
    'the secret: patience',
    'Bearer authentication is used',
    'Basic understanding required',
    'Authorization: Bearer <token>',
    'api_key: ${API_KEY}',
    'token: CancellationToken',
    'cookie: a small cake',
    'const token = readToken(scope)',
    'pat-eu1-not-a-token',
    'The tskey-auth-prefix marks keys of that maker',
    'hvs.kind-of-config-entry-name',
    'dt0c01.is-the-prefix',
  ]
  const structured: JsonValue[] = [
    { id: uuid(), run_id: uuid(), parent: uuid() },
    { usage: { input_tokens: 12, output_tokens: 5 }, tokens: ['Hello', ' world'] },
    { tokenizer: 'cl100k_base', token_type: 'bearer', key: 'name', password_changed: true },
    { reservation: pick('ABCDEFGHJKLMNPQRSTUVWXYZ0123456789', 6), flight: `HAT${pick('0123456789', 3)}` },
    { logprobs: [{ token: ' Hello', logprob: -0.1 }] },
  ]
  return [...forms, ...words, ...structured]
}
