import * as fc from 'fast-check'

/** Texts in which a place and not its own form gives a secret away, and texts that only nearly do. */

const from = (alphabet: string, min: number, max: number) =>
  fc
    .array(fc.constantFrom(...alphabet.split('')), { minLength: min, maxLength: max })
    .map((chars) => chars.join(''))

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const value = fc.oneof(
  fc.constantFrom(
    'Marble#47lantern',
    'harbor-violin-copper-52',
    'hunter22',
    'swordfish',
    'Tr0ub4dor&3',
    'pä55wörd9',
    '${DB_PASS}',
    'x',
    '482193',
    'correct horse battery staple',
    '<password>',
    '[redacted:password:0123456789]',
  ),
  from(`${LETTERS}ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789`, 6, 44),
  from(`${LETTERS}0123456789!#$%&*+-_./:=`, 4, 20),
)
const quote = fc.constantFrom('"', "'", '`', '\\"', '')
const line = fc.constantFrom('\n', '\r\n', '\\n', '\n\n', ' ')
const name = fc.constantFrom(
  'password',
  'DB_PASSWORD',
  'apiKey',
  'api_key',
  'token',
  'client_secret',
  'Passwort',
  'pwd',
)

/** `{s}` is the value, `{q}` a quotation mark, `{l}` the end of a line, `{n}` a name. */
const TEMPLATES = [
  // Commands and calls.
  'mysqldump -h db -u root -p{s} shop',
  'sshpass -p {q}{s}{q} ssh bob@host',
  'redis-cli -h cache -a {q}{s}{q} ping',
  'docker login -u bob --password {s} registry',
  'echo {q}{s}{q} | sudo -S ls',
  'net user bob {s} /add',
  'htpasswd -nb bob {s}',
  'sqlplus scott/{s}@db',
  'ConvertTo-SecureString -String {q}{s}{q}',
  'new mysqli({q}h{q}, {q}root{q}, {q}{s}{q})',
  'jwt.sign({ id: 1 }, {q}{s}{q})',
  'client.login({q}bob{q}, {q}{s}{q})',
  'getenv({q}DB_PASS{q}, {q}{s}{q})',
  'hmac.new({q}{s}{q}, body)',
  // Tables and lists of names.
  'user,{n}{l}bob,{s}{l}eve,{s}',
  '| User | {n} |{l}|---|---|{l}| bob | {s} |{l}| eve | {s} |{l}',
  'name;{n};city{l}bob;{s};Bremen{l}',
  'USER      PASSWORD{l}bob       {s}{l}eve       {s}',
  "INSERT INTO users (email, {n}) VALUES ('b', '{s}'), ('c', '{s}')",
  // A name apart from its value.
  'name: {n}{l}  value: {q}{s}{q}',
  '<add key="{n}" value="{s}" />',
  '<property name="{n}">{s}</property>',
  'variable {q}{n}{q} { default = {q}{s}{q} }',
  'I have set `{n}` to {q}{s}{q}.',
  'Environment.Get({q}{n}{q}) ?? {q}{s}{q}',
  // What a command prints, what somebody answers.
  '$ terraform output -raw db_{n}{l}{s}{l}',
  '$ cat notes | grep {n}{l}{s}',
  'Your temporary {n} is:{l}{s}{l}thanks',
  "Bot: What's the {n}?{l}Kim: {s}{l}",
  'Please use this {n}:{l}`{s}`',
  'Enter {n} for key: {s}{l}',
  'expect "*?assword:*"{l}send "{s}\\r"',
  // Fields of a page.
  "cy.get('input[name={n}]').type({q}{s}{q})",
  "page.fill('#{n}', {q}{s}{q})",
  '{"selector":"input[type={n}]","value":"{s}"}',
  '{"text":"{s}","element":"the {n} field"}',
  '<input value="{s}" type="{n}">',
  // Other languages.
  'Das Passwort für den Server lautet {q}{s}{q}',
  'le mot de passe est {s} .',
  'la contraseña es {q}{s}{q}',
  'Heslo je {s}',
  'hasło to {s}',
  'A senha do banco é {s}',
  '密码是{s}，好的',
  'パスワードは{s}。',
  'пароль: {s}',
  'mit {q}{s}{q} als Passwort',
  '{s} as the {n}',
  'Cookie: sid={s}; theme={s}',
  'WIFI:T:WPA;S:net;P:{s};;',
  'config {n} = {s} ;',
  '{q}{n}{q}: {q}{s}{q}, {q}next{q}: 1',
] as const

/** One of them, now and then cut off somewhere. */
export const placed = fc
  .tuple(
    fc.constantFrom(...TEMPLATES),
    fc.array(value, { minLength: 2, maxLength: 2 }),
    quote,
    line,
    name,
    fc.option(fc.nat(60), { nil: 0, freq: 4 }),
  )
  .map(([template, values, mark, end, label, less]) => {
    let nth = 0
    const text = template
      .replaceAll('{s}', () => values[nth++ % 2] ?? '')
      .replaceAll('{q}', mark)
      .replaceAll('{l}', end)
      .replaceAll('{n}', label)
    return text.slice(0, Math.max(1, text.length - less))
  })
