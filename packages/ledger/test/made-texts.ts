import * as fc from 'fast-check'
import type { JsonValue } from '../src/json.ts'
import { placed } from './placed-secrets.ts'

/** Texts and values in which secrets, what nearly is one, and what stands around them come in any order. */

const from = (alphabet: string, min: number, max = min) =>
  fc
    .array(fc.constantFrom(...alphabet.split('')), { minLength: min, maxLength: max })
    .map((chars) => chars.join(''))
const HEX = '0123456789abcdef'
const ALNUM = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const URL_ID = `${ALNUM}-_`
const near = (prefix: string, alphabet: string, length: number) =>
  from(alphabet, length - 2, length + 8).map((body) => prefix + body)

export const token = fc.oneof(
  ...['sk-', 'sk-proj-', 'sk-ant-', 'sk-or-v1-', 'task-', 'risk-', 'xai-', 'pplx-', 'glpat-', 'xoxb-'].map(
    (prefix) => near(prefix, URL_ID, 32),
  ),
  ...['ghp_', 'github_pat_', 'hf_', 'gsk_', 'npm_', 'sk_live_', 'whsec_', 'secret_', 'ntn_', 'call_'].map(
    (prefix) => near(prefix, ALNUM, 40),
  ),
  ...['sk_', 'dapi', 'SK', 'key-', 'sbp_', 'dop_v1_', 'shpat_', ''].map((prefix) => near(prefix, HEX, 32)),
  ...['AIza', 'ya29.', 'hvs.', 'AQ.'].map((prefix) => near(prefix, URL_ID, 36)),
  near('AKIA', 'ABCDEFGHIJ234567', 16),
  fc.tuple(from(URL_ID, 20), from(URL_ID, 20)).map(([a, b]) => `SG.${a}.${b}`),
  fc.tuple(from(URL_ID, 24), from(URL_ID, 6), from(URL_ID, 30)).map(([a, b, c]) => `M${a}.${b}.${c}`),
  fc.tuple(from('0123456789', 9), from(URL_ID, 33)).map(([a, b]) => `${a}:AA${b}`),
  from(URL_ID, 20, 60).map(
    (body) => `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')}.${body}.${body}`,
  ),
)
const label = ['RSA', 'PRIVATE', 'KEY'].join(' ')
export const pem = fc
  .tuple(from(`${ALNUM}+/`, 40, 300), fc.constantFrom('\n', '\r\n', '\\n', ' '), fc.boolean())
  .map(([body, line, ended]) =>
    [
      `-----BEGIN ${label}-----`,
      ...(body.match(/.{1,64}/g) ?? []),
      ended ? `-----END ${label}-----` : '',
    ].join(line),
  )
export const word = fc.oneof(
  token,
  from(ALNUM, 1, 14),
  fc.constantFrom(
    'password',
    'the',
    'forgotten',
    'hunter22',
    'P@ssw0rd!',
    'Bearer',
    'basic',
    'token',
    'é',
    '密碼',
  ),
  fc.constantFrom(
    '[redacted:password:0123456789]',
    'dXNlcjpwYXNzd29yZA==',
    'a=b;',
    'café99café',
    '2024-01-01',
  ),
  fc.constantFrom(
    '4111',
    '1111',
    '4242424242424242',
    '5555-5555-5555-4444',
    '3782',
    '822463',
    '10005',
    '12/26',
  ),
  fc.constantFrom(
    'jane.doe@example.org',
    '+49',
    '(555)',
    '123-4567',
    'DE89',
    '3704',
    '0044',
    '0532',
    '0130',
    '00',
  ),
  fc.constantFrom('postgres://user:s3cr3t@host/db', 'https://host:8080/@x', 'redis://:pä55@h', '078-05-1120'),
)
const name = fc.constantFrom(
  'password',
  'API_KEY',
  'apiKey',
  'x-api-key',
  'client_secret',
  'token',
  'Authorization',
  'Set-Cookie',
  'cookie',
  'OPENAI_API_KEY',
  'DB_PASSWORD',
  'input_tokens',
  'author',
  'next_token',
  '--token',
  'curl -u',
  '--user me:',
  '--api-key',
  'id_token',
  'valid_token',
)
export const assignment = fc
  .tuple(
    fc.constantFrom('', '"', "'", '\\"', '\\\\\\"'),
    name,
    fc.constantFrom(':', '=', ' ', ': ', ' = ', '=>', ' :', ':\t', ': Bearer ', ': basic '),
    fc.constantFrom('', '"', "'", '\\"', '\\\\\\"'),
    fc.array(word, { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([q, key, op, v, words, closed]) => `${q}${key}${q}${op}${v}${words.join(' ')}${closed ? v : ''}`)
export const telling = fc
  .tuple(
    fc.constantFrom('', 'set the ', 'changed ', 'with ', 'login bob ', 'machine h login bob ', 'user: bob '),
    fc.constantFrom(
      'password',
      '482193 is your verification code',
      'Passwort',
      'mot de passe',
      'PIN',
      'api key',
      'token',
      'secret',
      'passphrase',
      '密码',
      'verification code',
      'seed phrase',
      'page token',
    ),
    fc.constantFrom('', ' for the staging db', ' (prod)', ' of bob on host1', 's'),
    fc.constantFrom(' is ', ' is now ', ': ', ' to ', ' ', '是', ' | ', "'s ", ' was reset to ', ':** '),
    fc.constantFrom('', '"', "'", '`', '**'),
    fc.oneof(
      word,
      from(HEX, 32),
      from(ALNUM, 40),
      fc.constantFrom('4821', '482 193', 'forgotten', 'correct horse battery staple'),
    ),
    fc.boolean(),
  )
  .map(
    ([lead, key, whose, verb, quote, value, closed]) =>
      `${lead}${key}${whose}${verb}${quote}${value}${closed ? quote : ''}`,
  )
export const phrase = fc
  .tuple(
    fc.array(
      fc.constantFrom(
        'legal',
        'winner',
        'thank',
        'year',
        'wave',
        'sausage',
        'worth',
        'useful',
        'cat',
        'zoo',
        'abandon',
        'ability',
        'lunar',
        'velvet',
      ),
      { minLength: 8, maxLength: 26 },
    ),
    fc.constantFrom(' ', '  ', ', ', '\n', '\\n', ' 1. ', '-', '|'),
    fc.constantFrom('', ': ', 'my words ', '1. ', '\n', '| '),
  )
  .map(([words, by, lead]) => lead + words.join(by))
export const run = fc
  .tuple(
    fc.constantFrom(
      '',
      'fileId: ',
      '"etag":"',
      'it ',
      'FOO=',
      'file ',
      '/',
      'msg_',
      'acme_key_',
      'x\\n',
      'dapi',
      'xprv',
    ),
    fc.oneof(from(ALNUM, 30, 66), from(URL_ID, 30, 66), from(HEX, 32)),
    fc.constantFrom('', '"', '.', '. ', '/', '=', '\n', ','),
  )
  .map((parts) => parts.join(''))
/** The many short texts that are told from secrets by their characters alone. */
export const short = fc
  .array(
    fc.oneof(
      from('abcdef0123456789', 1, 16),
      from(ALNUM, 1, 15),
      fc.constantFrom(
        '-',
        '_',
        '/',
        '.',
        ':',
        ' ',
        ',',
        '://',
        '@',
        'fc-',
        'PIN',
        'Basic',
        'password',
        'key',
      ),
      fc.constantFrom('4111-1111-1111-1111', '371449635398431', '482-193', '07:00', 'AKIA', 'dXNlcjpwYXNz'),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
/** Arguments of commands, and names apart from their values. */
export const command = fc
  .tuple(
    fc.constantFrom(
      'mysql -u root -p',
      'sshpass -p ',
      'redis-cli -h cache -a ',
      'curl -u bob:',
      'lftp -u bob,',
      'docker login -u bob -p ',
      'run --db-password ',
      'echo ',
      'auth=("bob", "',
      'WIFI:T:WPA;S:net;P:',
      'curl https://h.example -b sid=',
      'net use Z: x /user:bob ',
      'name: DB_PASSWORD\n  value: ',
      'name: "API_TOKEN"\\n  value: "',
      '<add key="apiKey" value="',
      'rejected apiKey "',
      'use this token for it:\n\n`',
      'https://h.example/x?code=',
      'jonas:{SHA}',
      'https://',
    ),
    fc.constantFrom('', "'", '"', '\\"'),
    fc.oneof(
      word,
      from(ALNUM, 20, 40),
      from(HEX, 32),
      fc.constantFrom('hunter', 'H4rb0r_99', '${PASS}', '8080:80'),
    ),
    fc.constantFrom('', "'", '"', '\\"', '`', '")', ';;', ' | sudo -S ls', '@h.example/x', '" />'),
  )
  .map((parts) => parts.join(''))
export const gap = fc.constantFrom(
  ' ',
  '  ',
  '\n',
  '\t',
  ', ',
  '; ',
  '',
  '-',
  '"',
  '\\n',
  '\\',
  '/',
  '、',
  ' {"',
  '(',
)
export const text = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 5, arbitrary: word },
        { weight: 3, arbitrary: assignment },
        pem,
        telling,
        phrase,
        run,
        command,
        { weight: 4, arbitrary: placed },
      ),
      gap,
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.flat().join(''))
export const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom<JsonValue>(1, null, true, 4111111111111111),
    text.map((inner) => JSON.stringify({ password: inner, note: [inner] })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(name, text, fc.constant('__proto__')), tie('value'), { maxKeys: 3 }),
  ),
}))
