import { createHash, createHmac, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { createRedactor } from './redact.ts'

/**
 * Measures P1 on realistic payloads: secrets are made at run time, so that none stands in the repository.
 * A secret counts as found when no eight characters of it are left; a clean text that changed is a false alarm.
 */
const redactor = createRedactor({}, (secret) =>
  createHmac('sha256', 'k').update(secret).digest('hex').slice(0, 10),
)
let drawn = 0
/** The same on every run: a chance find in random text would be a failure nobody could repeat. */
const randomBytes = (size: number) => {
  const blocks = Array.from({ length: Math.ceil(size / 32) }, () =>
    createHash('sha256').update(`corpus ${drawn++}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, size)
}
const randomUUID = () => hex(32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-7$3-8$4-$5')
const pick = (alphabet: string, size: number) =>
  Array.from(randomBytes(size), (byte) => alphabet[byte % alphabet.length]).join('')
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const alnum = (size: number) => pick(LOWER + LOWER.toUpperCase() + DIGITS, size)
const lower = (size: number) => pick(LOWER + DIGITS, size)
const upper = (size: number) => pick(LOWER.toUpperCase() + DIGITS, size)
const hex = (size: number) => randomBytes(size).toString('hex').slice(0, size)
const b64 = (size: number) => randomBytes(size).toString('base64')
const url64 = (size: number) => randomBytes(size).toString('base64url')
const jwt = () =>
  [
    JSON.stringify({ typ: 'JWT', alg: 'RS256', kid: hex(8) }),
    JSON.stringify({ sub: hex(12), exp: 1999999999 }),
  ]
    .map((part) => Buffer.from(part).toString('base64url'))
    .concat(url64(64))
    .join('.')
const pem = (type: 'pkcs1' | 'pkcs8') =>
  generateKeyPairSync('rsa', { modulusLength: 1024 })
    .privateKey.export({ type, format: 'pem' })
    .toString()
    .trim()
const card = (prefix: string, size: number) => {
  const body = prefix + pick(DIGITS, size - prefix.length - 1)
  const sum = Array.from(body)
    .toReversed()
    .reduce((total, char, at) => {
      const digit = Number(char) * (at % 2 === 0 ? 2 : 1)
      return total + (digit > 9 ? digit - 9 : digit)
    }, 0)
  return body + String((10 - (sum % 10)) % 10)
}
const grouped = (digits: string, by: string) => digits.replace(/(.{4})(?=.)/g, `$1${by}`)

/** Each makes the secret and the value that carries it. */
const secrets: readonly (readonly [string, () => string, (secret: string) => JsonValue])[] = [
  [
    'openai project key in prose',
    () => `sk-proj-${url64(96)}`,
    (s) => `I set the key to ${s}, and it worked.`,
  ],
  ['openai legacy key in python', () => `sk-${alnum(48)}`, (s) => `client = OpenAI(api_key="${s}")`],
  [
    'openai service key in a log',
    () => `sk-svcacct-${url64(90)}`,
    (s) => `Incorrect API key provided: ${s}.`,
  ],
  ['anthropic key in env', () => `sk-ant-api03-${url64(70)}AA`, (s) => `export ANTHROPIC_API_KEY=${s}\nls`],
  [
    'openrouter key in header',
    () => `sk-or-v1-${hex(64)}`,
    (s) => ({ headers: [['authorization', `Bearer ${s}`]] }),
  ],
  ['deepseek key in yaml', () => `sk-${hex(32)}`, (s) => `models:\n  deepseek:\n    key: ${s}\n`],
  [
    'google key in a URL',
    () => `AIzaSy${pick(`${LOWER}${DIGITS}_-`, 33)}`,
    (s) => `https://maps.example/api?v=1&key=${s}&q=x`,
  ],
  [
    'hugging face token',
    () => `hf_${pick(LOWER + LOWER.toUpperCase(), 34)}`,
    (s) => ['huggingface-cli', 'login', s],
  ],
  ['groq key', () => `gsk_${alnum(52)}`, (s) => ({ config: { provider: 'groq', k: s } })],
  ['xai key', () => `xai-${alnum(80)}`, (s) => `key:${s}`],
  ['perplexity key', () => `pplx-${alnum(48)}`, (s) => `(${s})`],
  ['replicate token', () => `r8_${alnum(37)}`, (s) => `REPLICATE ${s}`],
  ['langsmith key', () => `lsv2_pt_${hex(32)}_${hex(10)}`, (s) => `'${s}'`],
  ['cohere key by name', () => alnum(40), (s) => ({ cohere_api_key: s })],
  ['mistral key in a dump', () => alnum(32), (s) => `HOME=/root\nMISTRAL_API_KEY=${s}\nLANG=C`],
  [
    'aws key id',
    () => `AKIA${pick('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
    (s) => `aws_access_key_id = ${s}`,
  ],
  [
    'aws session id',
    () => `ASIA${pick('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
    (s) => `<AccessKeyId>${s}</AccessKeyId>`,
  ],
  ['aws secret by name', () => b64(30), (s) => ({ aws: { secretAccessKey: s } })],
  [
    'aws secret in a profile',
    () => b64(30),
    (s) => `[default]\naws_secret_access_key = ${s}\nregion = eu-west-1`,
  ],
  ['github classic token', () => `ghp_${alnum(36)}`, (s) => `git clone https://${s}@github.com/acme/app.git`],
  ['github fine-grained', () => `github_pat_${alnum(22)}_${alnum(59)}`, (s) => `token ${s}`],
  ['github app token', () => `ghs_${alnum(36)}`, (s) => `x-access-token:${s}`],
  ['gitlab token', () => `glpat-${pick(`${LOWER}${DIGITS}_-`, 20)}`, (s) => `PRIVATE-TOKEN: ${s}`],
  [
    'slack bot token',
    () => `xoxb-${pick(DIGITS, 12)}-${pick(DIGITS, 13)}-${alnum(24)}`,
    (s) => ({ text: `bot uses ${s}` }),
  ],
  ['slack app token', () => `xapp-1-A${upper(10)}-${pick(DIGITS, 13)}-${hex(64)}`, (s) => s],
  [
    'slack webhook',
    () => `T${upper(8)}/B${upper(8)}/${alnum(24)}`,
    (s) => `POST https://hooks.slack.com/services/${s}`,
  ],
  ['stripe live key', () => `sk_live_${alnum(24)}`, (s) => `stripe.api_key = '${s}'`],
  ['stripe restricted key', () => `rk_live_${alnum(24)}`, (s) => `curl -u ${s}: https://api.stripe.example`],
  ['webhook signing secret', () => `whsec_${alnum(32)}`, (s) => `endpoint secret ${s}`],
  ['twilio key', () => `SK${hex(32)}`, (s) => `sid ${s}`],
  ['sendgrid key', () => `SG.${url64(16)}.${url64(32)}`, (s) => `"${s}"`],
  ['npm token', () => `npm_${alnum(36)}`, (s) => `//packages.example/:_authToken=${s}`],
  ['pypi token', () => `pypi-AgEI${url64(60)}`, (s) => `twine upload -u __token__ -p ${s}`],
  [
    'azure storage',
    () => b64(64),
    (s) => `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${s};EndpointSuffix=core`,
  ],
  ['google oauth token', () => `ya29.${url64(90)}`, (s) => ({ log: `got ${s}` })],
  [
    'telegram bot',
    () => `${pick('123456789', 10)}:AA${url64(25).slice(0, 33)}`,
    (s) => `https://api.telegram.org/bot?x= ${s}`,
  ],
  ['discord webhook', () => url64(51), (s) => `https://discord.com/api/webhooks/1182736455012345678/${s}`],
  ['digitalocean token', () => `dop_v1_${hex(64)}`, (s) => `doctl auth init -t ${s}`],
  ['shopify token', () => `shpat_${hex(32)}`, (s) => `X-Shopify-Access-Token: ${s}`],
  ['linear key', () => `lin_api_${alnum(40)}`, (s) => s],
  ['notion token', () => `ntn_${alnum(46)}`, (s) => `NOTION ${s}`],
  ['supabase token', () => `sbp_${hex(40)}`, (s) => `supabase login --token ${s}`],
  ['databricks token', () => `dapi${hex(32)}`, (s) => `host=adb.example token is ${s}`],
  ['jwt in a response', jwt, (s) => ({ body: `{"access_token":"${s}","expires_in":3600}` })],
  ['jwt in prose', jwt, (s) => `The session is ${s} until tomorrow`],
  ['pkcs8 key', () => pem('pkcs8'), (s) => ({ file: `# key\n${s}\n# end` })],
  ['pkcs1 key, escaped', () => pem('pkcs1').replaceAll('\n', '\\n'), (s) => `{"key":"${s}"}`],
  [
    'postgres URL',
    () => alnum(14),
    (s) => `DATABASE_URL=postgres://app:${s}@db.internal:5432/app?sslmode=require`,
  ],
  ['redis URL', () => alnum(20), (s) => ({ redis: `redis://:${s}@cache:6379/0` })],
  ['mongo URL', () => `p%40${alnum(9)}`, (s) => `connecting to mongodb+srv://root:${s}@c0.mongodb.net/test`],
  [
    'bearer header in curl',
    () => alnum(40),
    (s) => `curl -H "Authorization: Bearer ${s}" https://api.example`,
  ],
  [
    'basic header',
    () => Buffer.from(`admin:${alnum(10)}`).toString('base64'),
    (s) => `authorization: Basic ${s}`,
  ],
  [
    'cookie header',
    () => `sid=${hex(24)}; csrftoken=${alnum(32)}`,
    (s) => `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${s}\r\n\r\n`,
  ],
  [
    'set-cookie object',
    () => `s%3A${alnum(32)}`,
    (s) => ({ headers: { 'Set-Cookie': [`connect.sid=${s}; Path=/; HttpOnly`] } }),
  ],
  ['visa, plain', () => card('4539', 16), (s) => `charge card ${s} please`],
  ['mastercard, spaced', () => grouped(card('53', 16), ' '), (s) => `My number is ${s}, exp 04/27`],
  ['visa, dashed', () => grouped(card('4', 16), '-'), (s) => ({ input: s })],
  ['amex', () => card('37', 15).replace(/^(.{4})(.{6})/, '$1 $2 '), (s) => `amex ${s}`],
  ['password in yaml', () => `Tr0ub4dor&${alnum(3)}`, (s) => `db:\n  user: app\n  password: ${s}\n`],
  ['password in prose', () => `${lower(7)}7!`, (s) => `login: jane password: ${s}`],
  [
    'password in tool arguments',
    () => 'correct horse battery',
    (s) => JSON.stringify({ user: 'x', password: s }),
  ],
  [
    'client secret in a form',
    () => `${alnum(8)}~${alnum(26)}`,
    (s) => `grant_type=client_credentials&client_secret=${s}&scope=a`,
  ],
  ['flag on a command line', () => alnum(24), (s) => `deploy --env prod --api-key ${s} --yes`],
  ['env of docker', () => `${lower(6)}-Secret9`, (s) => `docker run -e POSTGRES_PASSWORD=${s} postgres:16`],
]

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const clean: Record<string, readonly JsonValue[]> = {
  'commit hashes': [
    hex(40),
    `fixed in ${hex(7)}`,
    `commit ${hex(40)}\nAuthor: Jane`,
    { commit: hex(40), parent: hex(40) },
    `https://github.com/a/b/commit/${hex(40)}`,
    `git checkout ${hex(12)}`,
    `HEAD is now at ${hex(9)} token counts`,
    `index ${hex(7)}..${hex(7)} 100644`,
  ],
  uuids: [
    randomUUID(),
    { id: randomUUID(), run_id: randomUUID() },
    `run ${randomUUID()} ended`,
    `urn:uuid:${randomUUID()}`,
    randomUUID().toUpperCase(),
    `/v1/runs/${randomUUID()}/events`,
    randomUUID().replaceAll('-', ''),
    `session=${randomUUID()}`,
  ],
  digests: [
    sha('a'),
    `sha256:${sha('b')}`,
    { digest: sha('c'), hash: `sha256-${b64(32)}` },
    `integrity: sha512-${b64(64)}`,
    `ETag: "${hex(32)}"`,
    `md5 ${hex(32)}`,
    `${sha('x')}  file.tar.gz`,
  ],
  'token counts': [
    { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
    { usage: { prompt_tokens: 1, completion_tokens_details: { reasoning_tokens: 0 } } },
    'max_tokens: 4096',
    'used 12345678 tokens',
    'total_tokens=1234567890',
    'token_count: 98765432',
    { max_tokens: '4096', tokens: ['Hello', ' world'] },
    {
      logprobs: [
        { token: ' Hello', logprob: -0.1 },
        { token: 'ization2024', logprob: -1 },
      ],
    },
    'cache_read_input_tokens: 10000000',
    { tokenizer: 'cl100k_base', special_token: '<|endoftext|>' },
  ],
  ids: [
    `call_${alnum(24)}`,
    `msg_01${alnum(22)}`,
    `toolu_01${alnum(22)}`,
    `chatcmpl-${alnum(29)}`,
    `resp_${hex(48)}`,
    `run_${alnum(24)}`,
    `thread_${alnum(24)}`,
    `asst_${alnum(24)}`,
    `req_${hex(24)}`,
    `file-${alnum(24)}`,
    `cus_${alnum(14)}`,
    `pi_${alnum(24)}`,
    `ws_${hex(32)}`,
    `task_${hex(32)}`,
    `task-${hex(32)}`,
    `risk-${alnum(30)}`,
    `arn:aws:iam::123456789012:role/Admin`,
    `i-0${hex(16)}`,
  ],
  'ordinary words': [
    'the password is forgotten',
    'Forgot your password?',
    'password: required',
    'Password: must be at least 8 characters',
    'sk-learn',
    'scikit-learn and sk-learn-contrib-extensions-1',
    'task-management-and-scheduling',
    'risk-assessment-framework-2024',
    'a bearer of good news',
    'Bearer authentication is used',
    'Bearer token authentication',
    'basic authentication',
    'Basic understanding required',
    'the secret: patience',
    'a secret garden',
    'cookie: a small cake',
    'Cookies are delicious',
    'authorization: required',
    'Authorization: Bearer <token>',
    'Authorization: Bearer $API_TOKEN',
    'The token: a unit of text',
    'the key is to begin',
    'private key infrastructure',
    'public key: rsa',
    'secretary: Bob Smith99',
    'author: jane1234567',
    'the api key: see settings',
    'desk-organisation-and-planning-01',
    'xoxo-hugs-and-kisses-to-everyone',
    'token-based authentication',
  ],
  code: [
    'const token = getToken(ctx)',
    'password: string',
    'apiKey: process.env.OPENAI_API_KEY',
    'api_key=os.environ["OPENAI_API_KEY"]',
    'password = input("Password: ")',
    'if (token === TokenKind.Identifier2) {',
    'token: CancellationToken',
    'let secret = &config.secret_v2;',
    'OPENAI_API_KEY=your-api-key-here',
    'API_KEY=<your key>',
    'PASSWORD=${DB_PASSWORD}',
    'export TOKEN=$(cat file)',
    'def hash_password(password: str) -> bytes:',
    'password=********',
    'api_key: sk-xxxxxxxxxxxxxxxxxxxxxxxx',
    'npm_config_registry=https://packages.example/',
    'npm_lifecycle_script=vitest',
    'git --author=jane',
    '-----BEGIN CERTIFICATE-----',
    `paste it after -----BEGIN ${['PRIVATE', 'KEY'].join(' ')}----- here`,
    'PWD=/home/user/project1',
    'password_reset_token_expires_in: 3600',
  ],
  numbers: [
    '1731662700000',
    '1731662700000123',
    '1731662700000123456',
    'order 1000200030004000',
    '3.141592653589793238',
    '0.4111111111111111',
    'phone 030 901820',
    { at: 1731662700123, n: 4111111111111111 },
    '1234 5678 9012 3456',
    '4111-1111-1111-1112',
    '9780306406157',
    '2025-11-15T09:25:00.000Z',
    '192.168.100.200:8080',
    '4006381333931',
    '0000 0000 0000 0000',
    '10 20 30 40 50 60 70 80',
    '2021 2022 2023 2024 2025',
    '4444444444444444',
  ],
  urls: [
    'https://example.com/@user',
    'https://example.com:8080/a@b',
    'http://localhost:3000/auth/callback?code=1',
    'mailto:jane@example.org',
    'ssh://git@github.com/a/b.git',
    'https://user@example.com/',
    'postgres://localhost:5432/db',
    'https://x.example/token/list?page=2',
    'postgres://user:${PASSWORD}@host/db',
  ],
  'binary and markup': [
    `data:image/png;base64,${b64(3000)}`,
    { image: b64(3000) },
    b64(300),
    url64(300),
    '<input type="password" name="password">',
    '| token | count |\n|---|---|',
    '{"type":"object","properties":{"password":{"type":"string"}}}',
    'cookie_policy: strict',
    '[redacted:openai-key:0123456789]',
    'password: [redacted:password:0123456789]',
    { password: '[redacted:password:0123456789]' },
    'eyJhbGciOi is how a JWT begins',
    'eyJ.eyJ.abc',
  ],
}

const leaks = (secret: string, out: string) =>
  Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((piece) =>
    out.includes(piece),
  )

test('P1 P2 recall, false alarms and what they were on the corpus', () => {
  const rounds = 10
  const missed: string[] = []
  for (let round = 0; round < rounds; round++)
    for (const [name, make, carry] of secrets) {
      const secret = make()
      const out = JSON.stringify(redactor.value(carry(secret)).value)
      if (leaks(JSON.stringify(secret).slice(1, -1), out)) missed.push(name)
    }
  const total = Object.values(clean).flat().length
  const alarms = Object.entries(clean).flatMap(([name, values]) =>
    values.flatMap((value) =>
      redactor.value(value).redacted > 0 ? [`${name}: ${JSON.stringify(value).slice(0, 80)}`] : [],
    ),
  )
  const recall = 1 - missed.length / (secrets.length * rounds)
  console.info(
    `redaction corpus: recall ${recall.toFixed(4)} of ${secrets.length} kinds, ${alarms.length} false alarms of ${total}`,
    [...new Set(missed)],
  )
  expect(alarms).toEqual([])
  expect(recall).toBeGreaterThanOrEqual(0.97)
})
