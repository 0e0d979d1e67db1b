// A blind, held-out corpus: secrets of valid shape (random, never real) and ordinary texts without any.
// Written from public knowledge of the formats, without sight of the redactor that it judges.

import { createECDH, createHash, createPrivateKey, createPublicKey } from 'node:crypto'

export type HeldOutSecret = { form: string; marked: boolean; text: string; secret: string }
export type OrdinaryText = { source: string; text: string }

// ---------------------------------------------------------------------------------------------------------
// Seeded randomness
// ---------------------------------------------------------------------------------------------------------

/** The address of the public registry, which must not stand in this repository. */
const NPM = ['registry', 'npmjs', 'org'].join('.')

type Rng = {
  next: () => number
  int: (below: number) => number
  between: (low: number, high: number) => number
  chance: (share: number) => boolean
  pick: <T>(list: readonly T[]) => T
  some: <T>(list: readonly T[], count: number) => T[]
  chars: (alphabet: string, length: number) => string
  bytes: (length: number) => number[]
}

const hashText = (text: string): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i)
    h = Math.imul(h, 0x01000193) >>> 0
  }
  return h >>> 0
}

/** sfc32, started from a seed and a label, so that one form's draws never shift another's. */
const rngOf = (seed: number, label: string): Rng => {
  let a = seed >>> 0
  let b = hashText(label)
  let c = hashText(`${label}#${seed}`)
  let d = 1
  const raw = (): number => {
    const t = (((a + b) >>> 0) + d) >>> 0
    d = (d + 1) >>> 0
    a = (b ^ (b >>> 9)) >>> 0
    b = (c + (c << 3)) >>> 0
    c = ((c << 21) | (c >>> 11)) >>> 0
    c = (c + t) >>> 0
    return t
  }
  for (let i = 0; i < 20; i++) raw()
  const next = (): number => raw() / 4294967296
  const int = (below: number): number => Math.floor(next() * below)
  const pick = <T>(list: readonly T[]): T => list[int(list.length)] as T
  return {
    next,
    int,
    pick,
    between: (low, high) => low + int(high - low + 1),
    chance: (share) => next() < share,
    some: (list, count) => {
      const left = [...list]
      const out: typeof left = []
      while (out.length < count && left.length > 0) out.push(...left.splice(int(left.length), 1))
      return out
    },
    chars: (alphabet, length) => {
      let out = ''
      for (let i = 0; i < length; i++) out += alphabet[int(alphabet.length)]
      return out
    },
    bytes: (length) => Array.from({ length }, () => int(256)),
  }
}

// ---------------------------------------------------------------------------------------------------------
// Alphabets, encodings and checksums
// ---------------------------------------------------------------------------------------------------------

const DIGIT = '0123456789'
const HEX = '0123456789abcdef'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ALNUM = DIGIT + UPPER + LOWER
const WORDISH = `${ALNUM}_-`
const B64 = `${UPPER}${LOWER}${DIGIT}+/`
const BASE32 = `${UPPER}234567`
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64')
const base64url = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64url')
const textBytes = (text: string): number[] => [...Buffer.from(text, 'utf8')]
const sha256 = (bytes: readonly number[]): number[] => [
  ...createHash('sha256').update(Buffer.from(bytes)).digest(),
]

const crc32 = (bytes: readonly number[]): number => {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

const crc24 = (bytes: readonly number[]): number[] => {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let k = 0; k < 8; k++) {
      crc <<= 1
      if (crc & 0x1000000) crc ^= 0x1864cfb
    }
  }
  return [(crc >> 16) & 255, (crc >> 8) & 255, crc & 255]
}

const inBase = (value: number, alphabet: string, width: number): string => {
  let out = ''
  let left = value
  while (left > 0) {
    out = `${alphabet[left % alphabet.length]}${out}`
    left = Math.floor(left / alphabet.length)
  }
  return out.padStart(width, alphabet[0])
}

/** GitHub's and npm's shape: 30 random base62 characters and their CRC-32 as six more. */
const withCrc = (r: Rng, prefix: string, random = 30): string => {
  const body = r.chars(ALNUM, random)
  return `${prefix}${body}${inBase(crc32(textBytes(body)), ALNUM, 6)}`
}

const base58check = (payload: readonly number[]): string => {
  const full = [...payload, ...sha256(sha256(payload)).slice(0, 4)]
  let value = BigInt(`0x${Buffer.from(full).toString('hex')}`)
  let out = ''
  while (value > 0n) {
    out = `${BASE58[Number(value % 58n)]}${out}`
    value /= 58n
  }
  return out
}

const bech32 = (hrp: string, bytes: readonly number[]): string => {
  const data: number[] = []
  let acc = 0
  let bits = 0
  for (const byte of bytes) {
    acc = ((acc << 8) | byte) & 0xfffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      data.push((acc >> bits) & 31)
    }
  }
  if (bits > 0) data.push((acc << (5 - bits)) & 31)
  const polymod = (values: readonly number[]): number => {
    const gen = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
    let chk = 1
    for (const value of values) {
      const top = chk >>> 25
      chk = (((chk & 0x1ffffff) << 5) ^ value) >>> 0
      for (let i = 0; i < 5; i++) if ((top >> i) & 1) chk = (chk ^ (gen[i] as number)) >>> 0
    }
    return chk
  }
  const low = textBytes(hrp.toLowerCase())
  const expanded = [...low.map((c) => c >> 5), 0, ...low.map((c) => c & 31)]
  const check = polymod([...expanded, ...data, 0, 0, 0, 0, 0, 0]) ^ 1
  for (let i = 0; i < 6; i++) data.push((check >>> (5 * (5 - i))) & 31)
  return `${hrp}1${data.map((v) => BECH32[v]).join('')}`
}

const der = (tag: number, body: readonly number[]): number[] => {
  const n = body.length
  if (n < 128) return [tag, n, ...body]
  if (n < 256) return [tag, 0x81, n, ...body]
  return [tag, 0x82, n >> 8, n & 255, ...body]
}

const derInt = (r: Rng, length: number, prime = true): number[] => {
  const bytes = r.bytes(length)
  if (prime) {
    bytes[0] = (bytes[0] as number) | 0x80
    bytes[length - 1] = (bytes[length - 1] as number) | 1
  }
  if (bytes[0] === 0) bytes[0] = 1
  return der(2, (bytes[0] as number) & 0x80 ? [0, ...bytes] : bytes)
}

const rsaDer = (r: Rng): number[] => {
  const head = [...der(2, [0]), ...derInt(r, 256), ...der(2, [1, 0, 1]), ...derInt(r, 256, false)]
  const primes = [...derInt(r, 128), ...derInt(r, 128)]
  const rest = [...derInt(r, 128, false), ...derInt(r, 128, false), ...derInt(r, 128, false)]
  return der(0x30, [...head, ...primes, ...rest])
}

const RSA_OID = [0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0]
const pkcs8Der = (r: Rng): number[] => der(0x30, [...der(2, [0]), ...RSA_OID, ...der(4, rsaDer(r))])

const ecDer = (r: Rng): number[] => {
  const secret = [r.int(255), ...r.bytes(31)]
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(Buffer.from(secret))
  return der(0x30, [
    ...der(2, [1]),
    ...der(4, secret),
    ...der(0xa0, [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]),
    ...der(0xa1, der(3, [0, ...curve.getPublicKey()])),
  ])
}

const ed25519Public = (seed: readonly number[]): number[] => {
  const pkcs8 = Buffer.from([0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 34, 4, 32, ...seed])
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
  return [...key.export({ format: 'der', type: 'spki' })].slice(-32)
}

const sshString = (bytes: readonly number[]): number[] => [
  0,
  0,
  (bytes.length >> 8) & 255,
  bytes.length & 255,
  ...bytes,
]

const opensshBytes = (r: Rng, comment: string): number[] => {
  const seed = r.bytes(32)
  const pub = ed25519Public(seed)
  const kind = textBytes('ssh-ed25519')
  const blob = [...sshString(kind), ...sshString(pub)]
  const check = r.bytes(4)
  const inner = [
    ...check,
    ...check,
    ...blob,
    ...sshString([...seed, ...pub]),
    ...sshString(textBytes(comment)),
  ]
  for (let pad = 1; inner.length % 8 !== 0; pad++) inner.push(pad)
  return [
    ...textBytes('openssh-key-v1'),
    0,
    ...sshString(textBytes('none')),
    ...sshString(textBytes('none')),
    ...sshString([]),
    0,
    0,
    0,
    1,
    ...sshString(blob),
    ...sshString(inner),
  ]
}

const folded = (text: string, width: number): string[] => {
  const lines: string[] = []
  for (let i = 0; i < text.length; i += width) lines.push(text.slice(i, i + width))
  return lines
}

/** An armoured block and one of its lines from `first` to `last`: those that hold private material. */
const armour = (
  r: Rng,
  label: string,
  lines: readonly string[],
  {
    head = [],
    first = 0,
    last = lines.length - 1,
  }: { head?: readonly string[]; first?: number; last?: number } = {},
) => {
  const telling = lines.slice(first, last + 1).filter((line) => line.length >= 20)
  return {
    lines: [`-----BEGIN ${label}-----`, ...head, ...lines, `-----END ${label}-----`],
    line: r.pick(telling),
  }
}

const hex = (r: Rng, length: number): string => r.chars(HEX, length)
const uuid = (r: Rng): string =>
  `${hex(r, 8)}-${hex(r, 4)}-4${hex(r, 3)}-${r.pick(['8', '9', 'a', 'b'])}${hex(r, 3)}-${hex(r, 12)}`
const json = (value: unknown): string => JSON.stringify(value)
const pretty = (value: unknown): string => JSON.stringify(value, null, 2)
const jsonB64 = (value: unknown): string => Buffer.from(json(value)).toString('base64')
const jsonB64url = (value: unknown): string => Buffer.from(json(value)).toString('base64url')

// ---------------------------------------------------------------------------------------------------------
// Small vocabulary for surroundings; none of it tells of a secret
// ---------------------------------------------------------------------------------------------------------

const FIRST = ['alice', 'bram', 'chidi', 'dana', 'emil', 'fatima', 'goran', 'hana', 'ines', 'jonas', 'kaya']
const TEAM = [
  'acme',
  'globex',
  'initech',
  'umbra',
  'northwind',
  'hooli',
  'starkly',
  'tyrell',
  'lumeno',
  'orbitly',
]
const SERVICE = ['billing', 'ingest', 'gateway', 'catalog', 'search', 'mailer', 'reports', 'worker', 'edge']
const NOUN = ['falcon', 'harbor', 'meadow', 'copper', 'tiger', 'planet', 'violet', 'anchor', 'maple', 'comet']
const FILE = ['src/index.ts', 'src/config.ts', 'app/settings.py', 'cmd/main.go', 'lib/client.rb', 'deploy.sh']
const REGION = ['us-east-1', 'eu-central-1', 'eu-west-3', 'ap-southeast-2', 'us-west-2']
const LEVEL = ['INFO', 'DEBUG', 'WARN', 'ERROR']

const two = (n: number): string => String(n).padStart(2, '0')
const day = (r: Rng): string => `2026-${two(r.between(1, 12))}-${two(r.between(1, 28))}`
const clock = (r: Rng): string => `${two(r.int(24))}:${two(r.int(60))}:${two(r.int(60))}`
const stamp = (r: Rng): string => `${day(r)}T${clock(r)}.${String(r.int(1000)).padStart(3, '0')}Z`
const epoch = (r: Rng): number => r.between(1767225600, 1798761600)
const host = (r: Rng): string => `${r.pick(SERVICE)}.${r.pick(TEAM)}.${r.pick(['io', 'dev', 'com', 'net'])}`
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const SMALL_TALK = [
  'Sure, let me take a look at the failing build first.',
  'I will run the tests again after this change.',
  'The deploy went through but the health check stays red.',
  'Can you check why the request fails?',
  'Here is what I found so far.',
  'This is the output on my machine.',
  'Let me know if you need anything else.',
  'Reading the file now.',
  'The container restarts every couple of minutes.',
  'ok thanks, next step please',
  'I have updated the file, please review.',
  'It works locally but not in the pipeline.',
]

const logLine = (r: Rng): string =>
  r.pick([
    () =>
      `${stamp(r)} ${r.pick(LEVEL)} [${r.pick(SERVICE)}] request finished status=${r.pick([200, 204, 404])}`,
    () => `${stamp(r)} ${r.pick(LEVEL)} listening on port ${r.between(3000, 9000)}`,
    () => `[${clock(r)}] ${r.pick(SERVICE)}: retrying in ${r.between(1, 30)}s (attempt ${r.between(1, 5)})`,
    () => `level=info ts=${stamp(r)} caller=main.go:${r.between(10, 400)} msg="starting ${r.pick(SERVICE)}"`,
  ])()

// ---------------------------------------------------------------------------------------------------------
// Surroundings of a secret
// ---------------------------------------------------------------------------------------------------------

type Found = { text: string; secret: string }

const plainWord = /^[\w.+/=:~-]+$/
const camelOf = (env: string): string =>
  env
    .toLowerCase()
    .split('_')
    .map((part, i) => (i === 0 ? part : capital(part)))
    .join('')
const snakeOf = (env: string): string => env.toLowerCase()
const kebabOf = (env: string): string => env.toLowerCase().replaceAll('_', '-')

/** Surroundings in which a name or phrase tells what the value is. */
const named = (r: Rng, s: string, envs: readonly string[], labels: readonly string[]): Found => {
  const env = r.pick(envs)
  const label = r.pick(labels)
  const camel = camelOf(env)
  const snake = snakeOf(env)
  const kebab = kebabOf(env)
  const safe = plainWord.test(s)
  const inEnv = safe && r.chance(0.6) ? s : r.pick([`"${s}"`, `'${s}'`])
  const kinds: (() => string)[] = [
    () => `NODE_ENV=production\nPORT=${r.between(3000, 9000)}\n${env}=${inEnv}\nLOG_LEVEL=info`,
    () => `${env}=${inEnv}`,
    () => `export ${env}=${inEnv}`,
    () => `$ export ${env}='${s}' && npm run ${r.pick(['start', 'migrate', 'test'])}`,
    () =>
      pretty({ name: r.pick(SERVICE), region: r.pick(REGION), [r.pick([snake, camel, env])]: s, retries: 3 }),
    () => json({ [r.pick([snake, camel, env])]: s, timeout: r.between(1, 60) }),
    () =>
      `${r.pick(SERVICE)}:\n  replicas: ${r.between(1, 5)}\n  ${snake}: ` +
      `${safe ? s : `"${s}"`}\n  debug: false`,
    () => `${camel}: '${s}'`,
    () => `[${r.pick(SERVICE)}]\nregion = "${r.pick(REGION)}"\n${snake} = "${s}"\nretries = 3`,
    () => `[${r.pick(SERVICE)}]\nhost = ${host(r)}\n${snake} = ${s}\n`,
    () => `const ${camel} = '${s}'`,
    () => `let ${camel} = "${s}";`,
    () => `import os\n\nos.environ["${env}"] = "${s}"\nmain()`,
    () => `  ${snake} = "${s}"  # TODO move to vault before merging`,
    () => `client = Client(${snake}="${s}", timeout=${r.between(5, 60)})`,
    () => `docker run --rm -e ${env}='${s}' -p 8080:8080 ${r.pick(TEAM)}/${r.pick(SERVICE)}:latest`,
    () => `My ${label} is ${s}, can you wire it into ${r.pick(FILE)}?`,
    () => `Here's the ${label}: ${s}`,
    () => `the ${label} is "${s}" - please don't commit it`,
    () => `${label}: ${s}\n\nplease set that up and run the smoke test`,
    () => `please use this ${label} for the demo:\n\n\`${s}\`\n`,
    () => `${stamp(r)} DEBUG [config] loaded ${snake}=${s} region=${r.pick(REGION)} env=production`,
    () => `gh secret set ${env} --body "${s}" --repo ${r.pick(TEAM)}/${r.pick(SERVICE)}`,
    () =>
      `services:\n  app:\n    image: ${r.pick(TEAM)}/app\n    environment:\n      - ${env}=` +
      `${s}\n      - TZ=UTC`,
    () =>
      `        env:\n        - name: ${env}\n          value: "${s}"\n        - name: TZ\n      ` +
      `    value: UTC`,
    () => `module "${r.pick(SERVICE)}" {\n  source = "./modules/app"\n  ${snake} = "${s}"\n}`,
    () => `$ ./bin/${r.pick(SERVICE)} --region ${r.pick(REGION)} --${kebab} '${s}' --verbose`,
    () => `$ ./bin/${r.pick(SERVICE)} --${kebab}=${inEnv}`,
    () => `$ printenv | sort\nHOME=/root\n${env}=${s}\nPATH=/usr/bin:/bin\nSHLVL=1`,
    () => json({ tool: 'bash', input: { command: `${env}='${s}' node ${r.pick(FILE)}`, timeout: 60000 } }),
    () => `INSERT INTO settings (name, value) VALUES ('${snake}', '${s}');`,
    () => `UPDATE integrations SET ${snake} = '${s}' WHERE id = ${r.between(1, 900)};`,
    () => `{\n  NODE_ENV: 'production',\n  ${env}: '${s}',\n  PWD: '/app'\n}`,
    () => `| variable | value |\n| --- | --- |\n| PORT | 8080 |\n| ${env} | ${s} |`,
    () => `$env:${env} = "${s}"`,
    () => `FROM node:24-alpine\nENV ${env}=${inEnv}\nCOPY . .`,
    () =>
      `Error: request rejected, ${camel} "${s}" has been revoked\n    at send (/app/${r.pick(FILE)}:41:11)`,
    () => `config.set('${r.pick([camel, snake])}', '${s}')`,
    () => `${r.pick(FILE)}:${r.between(3, 90)}:  ${camel}: '${s}',`,
    () => `  "${camel}" => "${s}",`,
    () => `var ${camel} string = "${s}" // ${r.pick(SERVICE)}`,
  ]
  if (!/[<>&]/.test(s)) {
    kinds.push(() => `<configuration>\n  <add key="${camel}" value="${s}" />\n</configuration>`)
    kinds.push(() => `<${camel}>${s}</${camel}>`)
  }
  return { text: r.pick(kinds)(), secret: s }
}

/** Surroundings for a value that tells of itself; half of them say nothing about it. */
const prefixed = (r: Rng, s: string, envs: readonly string[], labels: readonly string[]): Found => {
  if (r.chance(0.45)) return named(r, s, envs, labels)
  const kinds: (() => string)[] = [
    () => `try again with ${s} please`,
    () => s,
    () => `I pasted it here by mistake: ${s}. What now?`,
    () => `it was ${s} before, and it stopped working on ${day(r)}`,
    () => `401 Unauthorized: ${s} is not valid for ${host(r)}`,
    () => `${stamp(r)} ERROR [${r.pick(SERVICE)}] upstream refused ${s} (status 403)`,
    () => json([r.pick(NOUN), s, r.between(1, 99)]),
    () => json({ id: r.between(1, 999), value: s, note: 'rotated' }),
    () => `${r.pick(FILE)}:${r.between(1, 120)}:    const x = '${s}'`,
    () => `curl -s https://${host(r)}/v1/models -H "Authorization: Bearer ${s}"`,
    () => `curl -s https://${host(r)}/v1/items -H 'x-api-key: ${s}' | jq .`,
    () => `GET /v1/items HTTP/1.1\nHost: ${host(r)}\nAuthorization: Bearer ${s}\nAccept: */*`,
    () => `fetch('https://${host(r)}/v2', { headers: { authorization: 'Bearer ${s}' } })`,
    () => `-    foo("${s}")\n+    foo(os.environ["X"])`,
    () => `>>> print(x)\n${s}\n>>> `,
    () => `assert parse("${s}") is not None`,
    () => `- ${r.pick(NOUN)}\n- ${s}\n- ${r.pick(NOUN)}`,
    () => `${r.pick(FIRST)}: ${s}\n${r.pick(FIRST)}: got it, thanks`,
    () => `https://${host(r)}/v1/search?q=${r.pick(NOUN)}&access_token=${s}&page=2`,
    () =>
      `panic: bad input "${s}"\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:` +
      `${r.between(9, 99)} +0x1d`,
    () => `echo ${s} | docker login --username ${r.pick(FIRST)} --password-stdin`,
    () => `{"level":"warn","time":${epoch(r)},"msg":"using ${s} for ${r.pick(SERVICE)}"}`,
    () => `x="${s}"; y=2`,
    () => `<value>${s}</value>`,
  ]
  return { text: r.pick(kinds)(), secret: s }
}

/** The layer around all of it: a transcript, tool result, log, diff, listing. Neutral by design. */
const embed = (r: Rng, found: Found): string => {
  const { text, secret } = found
  const lines = text.split('\n')
  const kinds: (() => string)[] = [
    () => `${r.pick(SMALL_TALK)}\n\n${text}`,
    () => `${text}\n\n${r.pick(SMALL_TALK)}`,
    () => `${logLine(r)}\n${logLine(r)}\n${text}\n${logLine(r)}`,
    () => `user: ${r.pick(SMALL_TALK)}\n\n${text}\n\nassistant: ${r.pick(SMALL_TALK)}`,
    () => `Human: ${text}\n\nAssistant: ${r.pick(SMALL_TALK)}`,
    () => `${r.pick(SMALL_TALK)}\n\n\`\`\`\n${text}\n\`\`\`\n\n${r.pick(SMALL_TALK)}`,
    () => json({ role: 'user', content: text }),
    () =>
      json({
        type: 'tool_result',
        tool_use_id: `toolu_01${r.chars(ALNUM, 22)}`,
        content: [{ type: 'text', text }],
      }),
    () => json({ stdout: `${text}\n`, stderr: '', exitCode: 0, durationMs: r.between(3, 9000) }),
    () =>
      pretty({
        messages: [
          { role: 'assistant', content: r.pick(SMALL_TALK) },
          { role: 'user', content: text },
        ],
      }),
    () => json({ event: 'message', data: json({ content: text, at: stamp(r) }) }),
    () => lines.map((line, i) => `${String(i + 1).padStart(6)}\t${line}`).join('\n'),
    () =>
      `@@ -${r.between(1, 90)},3 +${r.between(1, 90)},9 @@\n` +
      `${lines.map((line) => `+${line}`).join('\n')}\n }`,
    () => `$ cat ${r.pick(FILE)}\n${text}\n$ `,
    () => lines.map((line) => `> ${line}`).join('\n'),
    () => lines.map((line) => `    ${line}`).join('\n'),
  ]
  const whole = r.chance(0.3) ? text : r.pick(kinds)()
  return whole.includes(secret) ? whole : text
}

// The public BIP-39 English word list, so that phrases carry a valid checksum.
const BIP39 = `
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse
achieve acid acoustic acquire across act action actor actress actual adapt add addict address adjust admit
adult advance advice aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm
album alcohol alert alien all alley allow almost alone alpha already also alter always amateur amazing
among amount amused analyst anchor ancient anger angle angry animal ankle announce annual another answer
antenna antique anxiety any apart apology appear apple approve april arch arctic area arena argue arm
armed armor army around arrange arrest arrive arrow art artefact artist artwork ask aspect assault asset
assist assume asthma athlete atom attack attend attitude attract auction audit august aunt author auto
autumn average avocado avoid awake aware away awesome awful awkward axis baby bachelor bacon badge bag
balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach bean
beauty because become beef before begin behave behind believe below belt bench benefit best betray better
between beyond bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak bless
blind blood blossom blouse blue blur blush board boat body boil bomb bone bonus book boost border boring
borrow boss bottom bounce box boy bracket brain brand brass brave bread breeze brick bridge brief bright
bring brisk broccoli broken bronze broom brother brown brush bubble buddy budget buffalo build bulb bulk
bullet bundle bunker burden burger burst bus business busy butter buyer buzz cabbage cabin cable cactus
cage cake call calm camera camp can canal cancel candy cannon canoe canvas canyon capable capital captain
car carbon card cargo carpet carry cart case cash casino castle casual cat catalog catch category cattle
caught cause caution cave ceiling celery cement census century cereal certain chair chalk champion change
chaos chapter charge chase chat cheap check cheese chef cherry chest chicken chief child chimney choice
choose chronic chuckle chunk churn cigar cinnamon circle citizen city civil claim clap clarify claw clay
clean clerk clever click client cliff climb clinic clip clock clog close cloth cloud clown club clump
cluster clutch coach coast coconut code coffee coil coin collect color column combine come comfort comic
common company concert conduct confirm congress connect consider control convince cook cool copper copy
coral core corn correct cost cotton couch country couple course cousin cover coyote crack cradle craft
cram crane crash crater crawl crazy cream credit creek crew cricket crime crisp critic crop cross crouch
crowd crucial cruel cruise crumble crunch crush cry crystal cube culture cup cupboard curious current
curtain curve cushion custom cute cycle dad damage damp dance danger daring dash daughter dawn day deal
debate debris decade december decide decline decorate decrease deer defense define defy degree delay
deliver demand demise denial dentist deny depart depend deposit depth deputy derive describe desert design
desk despair destroy detail detect develop device devote diagram dial diamond diary dice diesel diet
differ digital dignity dilemma dinner dinosaur direct dirt disagree discover disease dish dismiss disorder
display distance divert divide divorce dizzy doctor document dog doll dolphin domain donate donkey donor
door dose double dove draft dragon drama drastic draw dream dress drift drill drink drip drive drop drum
dry duck dumb dune during dust dutch duty dwarf dynamic eager eagle early earn earth easily east easy echo
ecology economy edge edit educate effort egg eight either elbow elder electric elegant element elephant
elevator elite else embark embody embrace emerge emotion employ empower empty enable enact end endless
endorse enemy energy enforce engage engine enhance enjoy enlist enough enrich enroll ensure enter entire
entry envelope episode equal equip era erase erode erosion error erupt escape essay essence estate eternal
ethics evidence evil evoke evolve exact example excess exchange excite exclude excuse execute exercise
exhaust exhibit exile exist exit exotic expand expect expire explain expose express extend extra eye
eyebrow fabric face faculty fade faint faith fall false fame family famous fan fancy fantasy farm fashion
fat fatal father fatigue fault favorite feature february federal fee feed feel female fence festival fetch
fever few fiber fiction field figure file film filter final find fine finger finish fire firm first fiscal
fish fit fitness fix flag flame flash flat flavor flee flight flip float flock floor flower fluid flush
fly foam focus fog foil fold follow food foot force forest forget fork fortune forum forward fossil foster
found fox fragile frame frequent fresh friend fringe frog front frost frown frozen fruit fuel fun funny
furnace fury future gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate
gather gauge gaze general genius genre gentle genuine gesture ghost giant gift giggle ginger giraffe girl
give glad glance glare glass glide glimpse globe gloom glory glove glow glue goat goddess gold good goose
gorilla gospel gossip govern gown grab grace grain grant grape grass gravity great green grid grief grit
grocery group grow grunt guard guess guide guilt guitar gun gym habit hair half hammer hamster hand happy
harbor hard harsh harvest hat have hawk hazard head health heart heavy hedgehog height hello helmet help
hen hero hidden high hill hint hip hire history hobby hockey hold hole holiday hollow home honey hood hope
horn horror horse hospital host hotel hour hover hub huge human humble humor hundred hungry hunt hurdle
hurry hurt husband hybrid ice icon idea identify idle ignore ill illegal illness image imitate immense
immune impact impose improve impulse inch include income increase index indicate indoor industry infant
inflict inform inhale inherit initial inject injury inmate inner innocent input inquiry insane insect
inside inspire install intact interest into invest invite involve iron island isolate issue item ivory
jacket jaguar jar jazz jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior
junk just kangaroo keen keep ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi
knee knife knock know lab label labor ladder lady lake lamp language laptop large later latin laugh
laundry lava law lawn lawsuit layer lazy leader leaf learn leave lecture left leg legal legend leisure
lemon lend length lens leopard lesson letter level liar liberty library license life lift light like limb
limit link lion liquid list little live lizard load loan lobster local lock logic lonely long loop lottery
loud lounge love loyal lucky luggage lumber lunar lunch luxury lyrics machine mad magic magnet maid mail
main major make mammal man manage mandate mango mansion manual maple marble march margin marine market
marriage mask mass master match material math matrix matter maximum maze meadow mean measure meat mechanic
medal media melody melt member memory mention menu mercy merge merit merry mesh message metal method
middle midnight milk million mimic mind minimum minor minute miracle mirror misery miss mistake mix mixed
mixture mobile model modify mom moment monitor monkey monster month moon moral more morning mosquito
mother motion motor mountain mouse move movie much muffin mule multiply muscle museum mushroom music must
mutual myself mystery myth naive name napkin narrow nasty nation nature near neck need negative neglect
neither nephew nerve nest net network neutral never news next nice night noble noise nominee noodle normal
north nose notable note nothing notice novel now nuclear number nurse nut oak obey object oblige obscure
observe obtain obvious occur ocean october odor off offer office often oil okay old olive olympic omit
once one onion online only open opera opinion oppose option orange orbit orchard order ordinary organ
orient original orphan ostrich other outdoor outer output outside oval oven over own owner oxygen oyster
ozone pact paddle page pair palace palm panda panel panic panther paper parade parent park parrot party
pass patch path patient patrol pattern pause pave payment peace peanut pear peasant pelican pen penalty
pencil people pepper perfect permit person pet phone photo phrase physical piano picnic picture piece pig
pigeon pill pilot pink pioneer pipe pistol pitch pizza place planet plastic plate play please pledge pluck
plug plunge poem poet point polar pole police pond pony pool popular portion position possible post potato
pottery poverty powder power practice praise predict prefer prepare present pretty prevent price pride
primary print priority prison private prize problem process produce profit program project promote proof
property prosper protect proud provide public pudding pull pulp pulse pumpkin punch pupil puppy purchase
purity purpose purse push put puzzle pyramid quality quantum quarter question quick quit quiz quote rabbit
raccoon race rack radar radio rail rain raise rally ramp ranch random range rapid rare rate rather raven
raw razor ready real reason rebel rebuild recall receive recipe record recycle reduce reflect reform
refuse region regret regular reject relax release relief rely remain remember remind remove render renew
rent reopen repair repeat replace report require rescue resemble resist resource response result retire
retreat return reunion reveal review reward rhythm rib ribbon rice rich ride ridge rifle right rigid ring
riot ripple risk ritual rival river road roast robot robust rocket romance roof rookie room rose rotate
rough round route royal rubber rude rug rule run runway rural sad saddle sadness safe sail salad salmon
salon salt salute same sample sand satisfy satoshi sauce sausage save say scale scan scare scatter scene
scheme school science scissors scorpion scout scrap screen script scrub sea search season seat second
secret section security seed seek segment select sell seminar senior sense sentence series service session
settle setup seven shadow shaft shallow share shed shell sheriff shield shift shine ship shiver shock shoe
shoot shop short shoulder shove shrimp shrug shuffle shy sibling sick side siege sight sign silent silk
silly silver similar simple since sing siren sister situate six size skate sketch ski skill skin skirt
skull slab slam sleep slender slice slide slight slim slogan slot slow slush small smart smile smoke
smooth snack snake snap sniff snow soap soccer social sock soda soft solar soldier solid solution solve
someone song soon sorry sort soul sound soup source south space spare spatial spawn speak special speed
spell spend sphere spice spider spike spin spirit split spoil sponsor spoon sport spot spray spread spring
spy square squeeze squirrel stable stadium staff stage stairs stamp stand start state stay steak steel
stem step stereo stick still sting stock stomach stone stool story stove strategy street strike strong
struggle student stuff stumble style subject submit subway success such sudden suffer sugar suggest suit
summer sun sunny sunset super supply supreme sure surface surge surprise surround survey suspect sustain
swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symptom syrup system table
tackle tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten tenant tennis tent
term test text thank that theme then theory there they thing this thought three thrive throw thumb thunder
ticket tide tiger tilt timber time tiny tip tired tissue title toast tobacco today toddler toe together
toilet token tomato tomorrow tone tongue tonight tool tooth top topic topple torch tornado tortoise toss
total tourist toward tower town toy track trade traffic tragic train transfer trap trash travel tray treat
tree trend trial tribe trick trigger trim trip trophy trouble truck true truly trumpet trust truth try
tube tuition tumble tuna tunnel turkey turn turtle twelve twenty twice twin twist two type typical ugly
umbrella unable unaware uncle uncover under undo unfair unfold unhappy uniform unique unit universe
unknown unlock until unusual unveil update upgrade uphold upon upper upset urban urge usage use used
useful useless usual utility vacant vacuum vague valid valley valve van vanish vapor various vast vault
vehicle velvet vendor venture venue verb verify version very vessel veteran viable vibrant vicious victory
video view village vintage violin virtual virus visa visit visual vital vivid vocal voice void volcano
volume vote voyage wage wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave
way wealth weapon wear weasel weather web wedding weekend weird welcome west wet whale what wheat wheel
when where whip whisper wide width wife wild will win window wine wing wink winner winter wire wisdom wise
wish witness wolf woman wonder wood wool word work world worry worth wrap wreck wrestle wrist write wrong
yard year yellow you young youth zebra zero zone zoo
`
  .trim()
  .split(/\s+/)

// ---------------------------------------------------------------------------------------------------------
// Values without a fixed shape
// ---------------------------------------------------------------------------------------------------------

const shuffled = (r: Rng, text: string): string => r.some([...text], text.length).join('')

/** What people really choose: words with digits, leet, seasons, managers' random strings, word chains. */
const password = (r: Rng): string =>
  r.pick([
    () =>
      `${capital(r.pick(NOUN))}-${capital(r.pick(NOUN))}${r.between(10, 99)}${r.pick(['!', '?', '#', '.'])}`,
    () =>
      `${r.pick(['Winter', 'Sommer', 'Spring', 'Autumn', 'Printemps'])}${r.between(2019, 2026)}` +
      r.pick('!#@*+'.split('')),
    () =>
      `${capital(r.pick(NOUN)).replace('a', '4').replace('o', '0').replace('e', '3')}_` +
      `${r.between(100, 9999)}`,
    () =>
      r.chars(UPPER + LOWER, 1) + shuffled(r, r.chars(ALNUM, r.between(9, 15)) + r.chars('!@#%^*-_+=.?~', 3)),
    () => r.chars(LOWER, 1) + r.chars(ALNUM, r.between(13, 23)),
    () => [...r.some(NOUN, 4)].join('-') + r.between(1, 99),
    () => `${r.pick(TEAM)}@${r.between(1000, 9999)}${r.pick(['', '!', '$'])}`,
    () => `${capital(r.pick(FIRST))}${r.pick('!#%*'.split(''))}${r.between(1950, 2019)}`,
  ])()

/** A password as it stands in the user-info part of a URL. */
const urlPassword = (r: Rng): string => encodeURIComponent(password(r)).replaceAll("'", '%27')

const jwt = (r: Rng): string => {
  const rs = r.chance(0.4)
  const header = rs ? { alg: 'RS256', typ: 'JWT', kid: hex(r, 16) } : { alg: 'HS256', typ: 'JWT' }
  const iat = epoch(r)
  const payload = {
    sub: r.pick([uuid(r), String(r.between(1000, 99999)), `auth0|${hex(r, 24)}`]),
    iss: `https://${host(r)}/`,
    aud: r.pick(SERVICE),
    iat,
    exp: iat + 3600,
    scope: r.pick(['read', 'read write', 'openid profile', 'admin']),
  }
  return `${jsonB64url(header)}.${jsonB64url(payload)}.${base64url(r.bytes(rs ? 256 : 32))}`
}

const mnemonic = (r: Rng, words: 12 | 24): string => {
  const entropy = r.bytes(words === 12 ? 16 : 32)
  const check = (sha256(entropy)[0] as number)
    .toString(2)
    .padStart(8, '0')
    .slice(0, words / 3)
  const bits = entropy.map((b) => b.toString(2).padStart(8, '0')).join('') + check
  return (bits.match(/.{11}/g) ?? []).map((group) => BIP39[Number.parseInt(group, 2)]).join(' ')
}

const pgpLines = (r: Rng): string[] => {
  const mpi = (bytes: number[]): number[] => {
    bytes[0] = (bytes[0] as number) | 0x80
    return [(bytes.length * 8) >> 8, (bytes.length * 8) & 255, ...bytes]
  }
  const at = epoch(r)
  const body = [
    4,
    (at >>> 24) & 255,
    (at >>> 16) & 255,
    (at >>> 8) & 255,
    at & 255,
    1,
    ...mpi(r.bytes(256)),
    0,
    17,
    1,
    0,
    1,
    0xfe,
    7,
    3,
    2,
    ...r.bytes(8),
    0xff,
    ...r.bytes(16),
    ...r.bytes(660),
  ]
  const id = textBytes(`${capital(r.pick(FIRST))} (${r.pick(TEAM)} releases)`)
  const packets = [0x95, body.length >> 8, body.length & 255, ...body, 0xb4, id.length, ...id]
  return [...folded(base64(packets), 64), `=${base64(crc24(packets))}`]
}

const pem = (r: Rng, kind: 'RSA' | 'PKCS8' | 'EC' | 'OPENSSH' | 'PGP') => {
  if (kind === 'RSA') return armour(r, 'RSA PRIVATE KEY', folded(base64(rsaDer(r)), 64), { first: 6 })
  if (kind === 'PKCS8') return armour(r, 'PRIVATE KEY', folded(base64(pkcs8Der(r)), 64), { first: 7 })
  if (kind === 'EC') return armour(r, 'EC PRIVATE KEY', folded(base64(ecDer(r)), 64), { last: 0 })
  if (kind === 'PGP')
    return armour(r, 'PGP PRIVATE KEY BLOCK', pgpLines(r), { head: [''], first: 7, last: 19 })
  const comment = `${r.pick(FIRST)}@${r.pick(TEAM)}-laptop`
  return armour(r, 'OPENSSH PRIVATE KEY', folded(base64(opensshBytes(r, comment)), 70), { first: 3, last: 3 })
}

const block = (r: Rng, kind: 'RSA' | 'EC' | 'OPENSSH' | 'PGP', path: string): Found => {
  const { lines, line } = pem(r, kind)
  const kinds: (() => string)[] = [
    () => lines.join('\n'),
    () => `$ cat ${path}\n${lines.join('\n')}`,
    () => `deploy:\n  key: |\n${lines.map((l) => `    ${l}`).join('\n')}\n  port: 22`,
    () => json({ path, content: `${lines.join('\n')}\n` }),
    () => `const pem = \`${lines.join('\n')}\`\nconnect(pem)`,
    () => `DEPLOY_PEM="${lines.join('\\n')}"`,
    () => `here is the file you asked for:\n\n${lines.join('\n')}\n\nput it on the build host`,
    () => `cat > ${path} <<'EOF'\n${lines.join('\n')}\nEOF\nchmod 600 ${path}`,
  ]
  return { text: r.pick(kinds)(), secret: line }
}

// ---------------------------------------------------------------------------------------------------------
// Forms
// ---------------------------------------------------------------------------------------------------------

type Form = { form: string; marked: boolean; make: (r: Rng) => Found }

const forms: Form[] = []
const add = (form: string, make: (r: Rng) => Found, marked = true): void => {
  forms.push({ form, marked, make })
}
/** A value with its own recognisable prefix or structure. */
const addPrefixed = (form: string, value: (r: Rng) => string, envs: string[], labels: string[]): void =>
  add(form, (r) => prefixed(r, value(r), envs, labels))
/** A value that only its name or the phrase beside it gives away. */
const addNamed = (form: string, value: (r: Rng) => string, envs: string[], labels: string[]): void =>
  add(form, (r) => named(r, value(r), envs, labels))

// Clouds

addPrefixed(
  'aws-access-key-id',
  (r) => r.pick(['AKIA', 'AKIA', 'ASIA']) + r.chars(BASE32, 16),
  ['AWS_ACCESS_KEY_ID'],
  ['AWS access key', 'AWS key id'],
)
addNamed(
  'aws-secret-access-key',
  (r) => r.chars(B64, 40),
  ['AWS_SECRET_ACCESS_KEY', 'AWS_SECRET_KEY'],
  ['AWS secret access key', 'AWS secret'],
)
add('aws-credentials-file', (r) => {
  const secret = r.chars(B64, 40)
  const id = `AKIA${r.chars(BASE32, 16)}`
  const text = r.pick([
    `[${r.pick(['default', 'prod', 'ci'])}]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`,
    `$ aws iam create-access-key --user-name ci\n${pretty({
      AccessKey: { UserName: 'ci', AccessKeyId: id, Status: 'Active', SecretAccessKey: secret },
    })}`,
    `$ aws configure\nAWS Access Key ID [None]: ${id}\nAWS Secret Access Key [None]: ` +
      `${secret}\nDefault region name:`,
    `User name,Access key ID,Secret access key\nci-deploy,${id},${secret}\n`,
    `s3 = boto3.client("s3", aws_access_key_id="${id}", aws_secret_access_key="${secret}")`,
  ])
  return { text, secret }
})
addNamed(
  'aws-session-token',
  (r) => {
    const head = [0x21, 0x0a, 0x09, ...textBytes('origin_ec')]
    return base64([...head, ...r.bytes(r.pick([300, 351, 420, 600]))])
  },
  ['AWS_SESSION_TOKEN'],
  ['AWS session token', 'session token from STS'],
)
add('gcp-service-account', (r) => {
  const { lines, line } = pem(r, 'PKCS8')
  const project = `${r.pick(TEAM)}-${r.pick(SERVICE)}-${r.between(1000, 999999)}`
  const account = {
    type: 'service_account',
    project_id: project,
    private_key_id: hex(r, 40),
    private_key: `${lines.join('\n')}\n`,
    client_email: `ci-bot@${project}.iam.gserviceaccount.com`,
    client_id: `1${r.chars(DIGIT, 20)}`,
    token_uri: 'https://oauth2.googleapis.com/token',
  }
  const text = r.chance(0.5) ? pretty(account) : `GOOGLE_APPLICATION_CREDENTIALS_JSON='${json(account)}'`
  return { text, secret: line }
})
addPrefixed(
  'google-api-key',
  (r) => `AIzaSy${r.pick(['A', 'B', 'C', 'D'])}${r.chars(WORDISH, 32)}`,
  ['GOOGLE_API_KEY', 'GEMINI_API_KEY', 'MAPS_KEY'],
  ['Google API key', 'Gemini key'],
)
addPrefixed(
  'google-oauth-client-secret',
  (r) => `GOCSPX-${r.chars(WORDISH, 28)}`,
  ['GOOGLE_CLIENT_SECRET', 'OAUTH_CLIENT_SECRET'],
  ['Google client secret', 'OAuth client secret'],
)
addPrefixed(
  'google-oauth-access-token',
  (r) => `ya29.a0${r.chars(WORDISH, r.pick([161, 215, 216]))}`,
  ['GOOGLE_ACCESS_TOKEN', 'ACCESS_TOKEN'],
  ['Google access token'],
)
add('azure-storage-connection-string', (r) => {
  const secret = base64(r.bytes(64))
  const account = `${r.pick(TEAM)}${r.pick(SERVICE)}${r.between(1, 99)}`
  const line =
    `DefaultEndpointsProtocol=https;AccountName=${account};AccountKey=${secret};` +
    'EndpointSuffix=core.windows.net'
  const text = r.pick([
    line,
    `AZURE_STORAGE_CONNECTION_STRING="${line}"`,
    json({ IsEncrypted: false, Values: { AzureWebJobsStorage: line, FUNCTIONS_WORKER_RUNTIME: 'node' } }),
    `BlobServiceClient.from_connection_string("${line}")`,
    `az storage blob list --account-name ${account} --account-key ${secret} -c uploads`,
  ])
  return { text, secret }
})
add('azure-sas-signature', (r) => {
  const secret = encodeURIComponent(base64(r.bytes(32)))
  const account = `${r.pick(TEAM)}${r.between(1, 99)}`
  const url =
    `https://${account}.blob.core.windows.net/backups/${r.pick(NOUN)}.tar.gz?sp=r&st=${day(r)}T08:00:00Z` +
    `&se=2027-01-01T00:00:00Z&spr=https&sv=2024-11-04&sr=b&sig=${secret}`
  const text = r.pick([
    url,
    `azcopy copy "${url}" ./restore --recursive`,
    `You can download the dump here: ${url}`,
    json({ href: url, expires: '2027-01-01' }),
    `wget -O dump.tar.gz '${url}'`,
  ])
  return { text, secret }
})
addNamed(
  'azure-client-secret',
  (r) => `${r.chars(ALNUM, 3)}${r.pick(['7Q', '8Q'])}~${r.chars(`${ALNUM}_-.~`, 33)}${r.chars(ALNUM, 1)}`,
  ['AZURE_CLIENT_SECRET', 'ARM_CLIENT_SECRET'],
  ['Azure client secret', 'client secret of the app registration'],
)
addPrefixed(
  'digitalocean-token',
  (r) => `${r.pick(['dop_v1_', 'dop_v1_', 'doo_v1_', 'dor_v1_'])}${hex(r, 64)}`,
  ['DIGITALOCEAN_TOKEN', 'DO_PAT'],
  ['DigitalOcean token'],
)
addNamed(
  'hetzner-token',
  (r) => r.chars(ALNUM, 64),
  ['HCLOUD_TOKEN', 'HETZNER_API_TOKEN'],
  ['Hetzner API token', 'hcloud token'],
)
addNamed(
  'cloudflare-token-named',
  (r) => r.chars(WORDISH, 40),
  ['CLOUDFLARE_API_TOKEN', 'CF_API_TOKEN'],
  ['Cloudflare API token', 'Cloudflare token'],
)
addPrefixed(
  'cloudflare-token-prefixed',
  (r) => {
    const body = r.chars(ALNUM, 40)
    const check = crc32(textBytes(body)).toString(16).padStart(8, '0')
    return `${r.pick(['cfut_', 'cfat_', 'cfk_'])}${body}${check}`
  },
  ['CLOUDFLARE_API_TOKEN'],
  ['Cloudflare API token'],
)
add('cloudflare-global-key-header', (r) => {
  const secret = hex(r, 37)
  const text = r.pick([
    `curl https://api.cloudflare.com/client/v4/zones -H "X-Auth-Email: ops@${host(r)}" -H ` +
      `"X-Auth-Key: ${secret}"`,
    `X-Auth-Email: ops@${host(r)}\nX-Auth-Key: ${secret}\nContent-Type: application/json`,
    `dns_cloudflare_email = ops@${host(r)}\ndns_cloudflare_api_key = ${secret}`,
  ])
  return { text, secret }
})

// Model providers

addPrefixed(
  'openai-legacy-key',
  (r) => `sk-${r.chars(ALNUM, 20)}T3BlbkFJ${r.chars(ALNUM, 20)}`,
  ['OPENAI_API_KEY', 'OPENAI_KEY'],
  ['OpenAI key', 'OpenAI API key'],
)
addPrefixed(
  'openai-project-key',
  (r) =>
    `sk-${r.pick(['proj', 'proj', 'svcacct', 'admin'])}-${r.chars(WORDISH, 74)}T3BlbkFJ` +
    `${r.chars(WORDISH, 73)}A`,
  ['OPENAI_API_KEY'],
  ['OpenAI key', 'project key'],
)
addPrefixed(
  'anthropic-key',
  (r) => `sk-ant-${r.pick(['api03', 'api03', 'admin01', 'oat01'])}-${r.chars(WORDISH, 93)}AA`,
  ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'],
  ['Anthropic key', 'Claude API key'],
)
addNamed('mistral-key', (r) => r.chars(ALNUM, 32), ['MISTRAL_API_KEY'], ['Mistral API key', 'Mistral key'])
addPrefixed(
  'groq-key',
  (r) => `gsk_${r.chars(ALNUM, 20)}WGdyb3FY${r.chars(ALNUM, 24)}`,
  ['GROQ_API_KEY'],
  ['Groq key'],
)
addPrefixed(
  'huggingface-token',
  (r) => `hf_${r.chars(UPPER + LOWER, 34)}`,
  ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'],
  ['Hugging Face token'],
)
addPrefixed(
  'replicate-token',
  (r) => `r8_${r.chars(ALNUM, 37)}`,
  ['REPLICATE_API_TOKEN'],
  ['Replicate token'],
)
addPrefixed(
  'perplexity-key',
  (r) => `pplx-${r.chars(ALNUM, 48)}`,
  ['PERPLEXITY_API_KEY', 'PPLX_API_KEY'],
  ['Perplexity key'],
)
addPrefixed('xai-key', (r) => `xai-${r.chars(ALNUM, 80)}`, ['XAI_API_KEY', 'GROK_API_KEY'], ['xAI key'])
addPrefixed('openrouter-key', (r) => `sk-or-v1-${hex(r, 64)}`, ['OPENROUTER_API_KEY'], ['OpenRouter key'])
addPrefixed('deepseek-key', (r) => `sk-${hex(r, 32)}`, ['DEEPSEEK_API_KEY'], ['DeepSeek key'])
addNamed(
  'elevenlabs-key',
  (r) => (r.chance(0.5) ? hex(r, 32) : `sk_${hex(r, 48)}`),
  ['ELEVENLABS_API_KEY', 'XI_API_KEY', 'ELEVEN_API_KEY'],
  ['ElevenLabs API key'],
)

// Code hosts

addPrefixed(
  'github-classic',
  (r) => withCrc(r, 'ghp_'),
  ['GITHUB_TOKEN', 'GH_TOKEN'],
  ['GitHub token', 'PAT'],
)
addPrefixed(
  'github-fine-grained',
  (r) => `github_pat_11${r.chars(UPPER + DIGIT, 20)}_${r.chars(ALNUM, 59)}`,
  ['GITHUB_TOKEN', 'GH_PAT'],
  ['fine-grained token', 'GitHub PAT'],
)
addPrefixed(
  'github-app',
  (r) => withCrc(r, r.pick(['ghs_', 'ghu_', 'gho_'])),
  ['GITHUB_TOKEN', 'INSTALLATION_TOKEN'],
  ['installation token', 'GitHub app token'],
)
add('git-remote-url', (r) => {
  const github = r.chance(0.6)
  const secret = github ? withCrc(r, r.pick(['ghp_', 'ghs_'])) : `glpat-${r.chars(WORDISH, 20)}`
  const user = github ? r.pick(['x-access-token', r.pick(FIRST)]) : 'oauth2'
  const site = github ? 'github.com' : 'gitlab.com'
  const url = `https://${user}:${secret}@${site}/${r.pick(TEAM)}/${r.pick(SERVICE)}.git`
  const text = r.pick([
    `git clone ${url}`,
    `$ git remote -v\norigin\t${url} (fetch)`,
    `fatal: unable to access '${url}/': The requested URL returned error: 403`,
    `[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*`,
  ])
  return { text, secret }
})
addPrefixed(
  'gitlab-token',
  (r) => `${r.pick(['glpat-', 'glpat-', 'glptt-', 'gldt-', 'glrt-'])}${r.chars(WORDISH, 20)}`,
  ['GITLAB_TOKEN', 'CI_PUSH_TOKEN'],
  ['GitLab token'],
)
addPrefixed(
  'gitlab-routable-token',
  (r) => {
    const random = r.bytes(16)
    const facts = textBytes(`o:${r.between(1, 9)}\nu:${inBase(r.between(9999, 99999999), DIGIT + LOWER, 1)}`)
    const payload = base64url([...facts, ...random, 16])
    const size = inBase(payload.length, DIGIT + LOWER, 2)
    const head = `glpat-${payload}.01.${size}`
    return head + inBase(crc32(textBytes(head)), DIGIT + LOWER, 7)
  },
  ['GITLAB_TOKEN'],
  ['GitLab access token'],
)
addPrefixed(
  'bitbucket-app-password',
  (r) => {
    const body = r.chars(ALNUM, 24)
    return `ATBB${body}${crc32(textBytes(body)).toString(16).toUpperCase().padStart(8, '0')}`
  },
  ['BITBUCKET_APP_PASSWORD', 'BITBUCKET_PASSWORD'],
  ['Bitbucket app password'],
)
addPrefixed(
  'atlassian-api-token',
  (r) => `ATATT3xFfGF0${r.chars(WORDISH, 171)}=${hex(r, 8).toUpperCase()}`,
  ['JIRA_API_TOKEN', 'ATLASSIAN_TOKEN'],
  ['Jira token', 'Atlassian API token'],
)

// Chat

addPrefixed(
  'slack-bot-token',
  (r) => `xoxb-${r.chars('123456789', 12)}-${r.chars('123456789', 13)}-${r.chars(ALNUM, 24)}`,
  ['SLACK_BOT_TOKEN', 'SLACK_TOKEN'],
  ['Slack bot token'],
)
addPrefixed(
  'slack-user-token',
  (r) => {
    const part = (): string => r.chars('123456789', r.pick([11, 12, 13]))
    return r.chance(0.6)
      ? `xoxp-${part()}-${part()}-${part()}-${hex(r, 32)}`
      : `xapp-1-A0${r.chars(UPPER + DIGIT, 9)}-${part()}-${hex(r, 64)}`
  },
  ['SLACK_USER_TOKEN', 'SLACK_APP_TOKEN'],
  ['Slack token'],
)
add('slack-webhook', (r) => {
  const secret = r.chars(ALNUM, 24)
  const id = (): string => r.chars(UPPER + DIGIT, 10)
  const url = `https://hooks.slack.com/services/T${id()}/B${id()}/${secret}`
  const text = r.pick([
    `curl -X POST -H 'Content-type: application/json' --data '{"text":"deployed"}' ${url}`,
    `SLACK_WEBHOOK_URL=${url}`,
    `notify:\n  slack: ${url}`,
    `${stamp(r)} WARN POST ${url} 404 no_service`,
    json({ channel: '#ops', url }),
  ])
  return { text, secret }
})
addPrefixed(
  'discord-bot-token',
  (r) => {
    const id = Buffer.from(`1${r.chars(DIGIT, 18)}`).toString('base64url')
    return `${id}.G${r.chars(WORDISH, 5)}.${r.chars(WORDISH, 38)}`
  },
  ['DISCORD_TOKEN', 'DISCORD_BOT_TOKEN'],
  ['Discord bot token', 'bot token'],
)
add('discord-webhook', (r) => {
  const secret = r.chars(WORDISH, 68)
  const url = `https://${r.pick(['discord.com', 'discordapp.com'])}/api/webhooks/1${r.chars(DIGIT, 18)}/${secret}`
  const text = r.pick([
    url,
    `requests.post("${url}", json={"content": "done"})`,
    `DISCORD_WEBHOOK="${url}"`,
    `the alerts go to ${url} at the moment`,
  ])
  return { text, secret }
})
add('telegram-bot-token', (r) => {
  const secret = `${r.between(1, 8)}${r.chars(DIGIT, 9)}:AA${r.chars(WORDISH, 33)}`
  if (r.chance(0.6)) return prefixed(r, secret, ['TELEGRAM_BOT_TOKEN', 'TG_TOKEN'], ['Telegram bot token'])
  const text = r.pick([
    `curl https://api.telegram.org/bot${secret}/getMe`,
    `HTTP error 409 for https://api.telegram.org/bot${secret}/getUpdates?offset=${r.between(1, 999)}`,
  ])
  return { text, secret }
})

// Payment

addPrefixed(
  'stripe-live-key',
  (r) => `sk_live_${r.chance(0.5) ? r.chars(ALNUM, 24) : `51${r.chars(ALNUM, 97)}`}`,
  ['STRIPE_SECRET_KEY', 'STRIPE_API_KEY'],
  ['Stripe key', 'Stripe secret key'],
)
addPrefixed(
  'stripe-restricted-key',
  (r) => `rk_${r.pick(['live', 'live', 'test'])}_51${r.chars(ALNUM, 97)}`,
  ['STRIPE_RESTRICTED_KEY'],
  ['restricted Stripe key'],
)
addPrefixed(
  'stripe-webhook-secret',
  (r) => `whsec_${r.chance(0.5) ? r.chars(ALNUM, 32) : hex(r, 64)}`,
  ['STRIPE_WEBHOOK_SECRET', 'ENDPOINT_SECRET'],
  ['Stripe webhook secret', 'signing secret'],
)
addNamed(
  'paypal-client-secret',
  (r) => `E${r.chars(UPPER, 1)}${r.chars(WORDISH, 78)}`,
  ['PAYPAL_CLIENT_SECRET', 'PAYPAL_SECRET'],
  ['PayPal client secret', 'PayPal secret'],
)
addPrefixed(
  'square-token',
  (r) => (r.chance(0.6) ? `EAAA${r.chars(WORDISH, 60)}` : `sq0csp-${r.chars(WORDISH, 43)}`),
  ['SQUARE_ACCESS_TOKEN'],
  ['Square access token'],
)

// Registries, CI, hosting

add('npm-token', (r) => {
  const secret = withCrc(r, 'npm_')
  if (r.chance(0.6)) return prefixed(r, secret, ['NPM_TOKEN', 'NODE_AUTH_TOKEN'], ['npm token'])
  return { text: `//${NPM}/:_authToken=${secret}\nregistry=https://${NPM}/`, secret }
})
add('npmrc-legacy-auth', (r) => {
  const basic = r.chance(0.5)
  const secret = basic ? Buffer.from(`ci:${password(r)}`).toString('base64') : uuid(r)
  const line = basic ? `_auth=${secret}` : `_authToken=${secret}`
  return { text: `registry=https://npm.${host(r)}/\n//npm.${host(r)}/:${line}\nalways-auth=true`, secret }
})
addPrefixed(
  'pypi-token',
  (r) => {
    const caveat = textBytes(json({ version: 1, permissions: 'user' }))
    const macaroon = [
      2,
      1,
      8,
      ...textBytes('pypi.org'),
      2,
      36,
      ...textBytes(uuid(r)),
      0,
      2,
      caveat.length,
      ...caveat,
      0,
      0,
      6,
      32,
      ...r.bytes(32),
    ]
    return `pypi-${base64url(macaroon)}`
  },
  ['PYPI_TOKEN', 'TWINE_PASSWORD', 'UV_PUBLISH_TOKEN'],
  ['PyPI token'],
)
addPrefixed(
  'rubygems-key',
  (r) => `rubygems_${hex(r, 48)}`,
  ['RUBYGEMS_API_KEY', 'GEM_HOST_API_KEY'],
  ['RubyGems key'],
)
addPrefixed(
  'dockerhub-token',
  (r) => `dckr_pat_${r.chars(WORDISH, 27)}`,
  ['DOCKERHUB_TOKEN', 'DOCKER_PASSWORD'],
  ['Docker Hub token'],
)
add('docker-config-auth', (r) => {
  const secret = Buffer.from(`${r.pick(FIRST)}:${password(r)}`).toString('base64')
  const registry = r.pick(['https://index.docker.io/v1/', 'ghcr.io', `registry.${host(r)}`])
  const config = { auths: { [registry]: { auth: secret } } }
  return { text: r.chance(0.5) ? pretty(config) : `$ cat ~/.docker/config.json\n${json(config)}`, secret }
})
add('sentry-dsn', (r) => {
  const secret = hex(r, 32)
  const url =
    `https://${secret}@o${r.between(10000, 4509999999999)}.ingest.` +
    `${r.pick(['', 'us.', 'de.'])}sentry.io/${r.between(1000000, 4509999999999999)}`
  const text = r.pick([
    `SENTRY_DSN=${url}`,
    `Sentry.init({ dsn: '${url}', tracesSampleRate: 0.1 })`,
    `dsn: ${url}`,
    url,
  ])
  return { text, secret }
})
addPrefixed(
  'sentry-auth-token',
  (r) => {
    if (r.chance(0.5)) return `sntryu_${hex(r, 64)}`
    const facts = {
      iat: epoch(r),
      url: 'https://sentry.io',
      region_url: 'https://us.sentry.io',
      org: r.pick(TEAM),
    }
    return `sntrys_${jsonB64(facts)}_${base64(r.bytes(32)).replaceAll('=', '')}`
  },
  ['SENTRY_AUTH_TOKEN'],
  ['Sentry auth token'],
)
addNamed('vercel-token', (r) => r.chars(ALNUM, 24), ['VERCEL_TOKEN', 'VERCEL_API_TOKEN'], ['Vercel token'])
addPrefixed('netlify-token', (r) => `nfp_${r.chars(ALNUM, 36)}`, ['NETLIFY_AUTH_TOKEN'], ['Netlify token'])
addPrefixed(
  'terraform-cloud-token',
  (r) => `${r.chars(ALNUM, 14)}.atlasv1.${r.chars(ALNUM, 67)}`,
  ['TFE_TOKEN', 'TF_TOKEN_app_terraform_io'],
  ['Terraform Cloud token'],
)
addPrefixed(
  'vault-token',
  (r) => {
    const short = `hvs.${r.chars(ALNUM, 24)}`
    if (r.chance(0.5)) return short
    return `hvs.${base64url([8, 1, 0x12, 32, ...r.bytes(32), 0x1a, 30, 0x0a, 28, ...textBytes(short)])}`
  },
  ['VAULT_TOKEN'],
  ['Vault token'],
)
addPrefixed(
  'onepassword-service-token',
  (r) => {
    const facts = {
      signInAddress: 'my.1password.com',
      userAuth: {
        method: 'SRPg-4096',
        alg: 'PBES2g-HS256',
        iterations: 650000,
        salt: base64url(r.bytes(16)),
      },
      email: `${r.chars(LOWER + DIGIT, 13)}@1passwordserviceaccounts.com`,
      srpX: hex(r, 64),
      muk: {
        alg: 'A256GCM',
        ext: true,
        k: base64url(r.bytes(32)),
        key_ops: ['encrypt', 'decrypt'],
        kty: 'oct',
      },
      secretKey: `A3-${r.chars(UPPER + DIGIT, 6)}-${r.chars(UPPER + DIGIT, 6)}-${r.chars(UPPER + DIGIT, 5)}`,
      deviceUuid: r.chars(LOWER + DIGIT, 26),
    }
    return `ops_${jsonB64url(facts)}`
  },
  ['OP_SERVICE_ACCOUNT_TOKEN'],
  ['1Password service account token'],
)
addPrefixed(
  'grafana-token',
  (r) => {
    const body = r.chars(ALNUM, 32)
    return `glsa_${body}_${crc32(textBytes(body)).toString(16).padStart(8, '0')}`
  },
  ['GRAFANA_TOKEN'],
  ['Grafana token'],
)

// Databases

const databaseUrl = (form: string, scheme: string[], ports: string[], envs: string[]): void =>
  add(form, (r) => {
    const secret = urlPassword(r)
    const srv = form === 'mongodb-url'
    const at = srv ? `cluster0.${r.chars(LOWER + DIGIT, 5)}.mongodb.net` : `db.${host(r)}:${r.pick(ports)}`
    const user =
      form === 'redis-url' ? r.pick(['', 'default']) : r.pick(['app', 'postgres', 'root', 'admin', 'svc'])
    const name = form === 'redis-url' ? r.between(0, 9) : r.pick(['app', 'prod', 'billing'])
    const url =
      `${r.pick(scheme)}://${user}:${secret}@${at}/${name}` + (srv ? '?retryWrites=true&w=majority' : '')
    const text = r.pick([
      () => `${r.pick(envs)}=${url}`,
      () => `${r.pick(envs)}="${url}"\nPORT=8080`,
      () => `${stamp(r)} ERROR could not connect to ${url}: timeout`,
      () => json({ url, pool: { min: 1, max: 10 } }),
      () => `engine = create_engine("${url}")`,
      () => `can you run the migration against ${url} please`,
      () => `Error: connect ECONNREFUSED\n    at connect('${url}')\n    at main (/app/${r.pick(FILE)}:12:3)`,
      () => `$ ./migrate up "${url}"`,
      () => `datasource:\n  url: ${url}\n  poolSize: 5`,
    ])()
    return { text, secret }
  })
databaseUrl(
  'postgres-url',
  ['postgres', 'postgresql'],
  ['5432', '6543'],
  ['DATABASE_URL', 'POSTGRES_URL', 'PG_URI'],
)
databaseUrl('mysql-url', ['mysql', 'mysql+pymysql'], ['3306'], ['DATABASE_URL', 'MYSQL_URL'])
databaseUrl('mongodb-url', ['mongodb+srv'], [''], ['MONGODB_URI', 'MONGO_URL'])
databaseUrl(
  'redis-url',
  ['redis', 'rediss'],
  ['6379', '6380'],
  ['REDIS_URL', 'CACHE_URL', 'CELERY_BROKER_URL'],
)
add('database-cli-password', (r) => {
  const secret = password(r)
  const text = r.pick([
    `PGPASSWORD='${secret}' psql -h db.${host(r)} -U app -d prod -c 'select 1'`,
    `mysqldump -u root -p'${secret}' --all-databases > dump.sql`,
    `mysql -h db.${host(r)} -u root --password='${secret}' prod`,
    `redis-cli -h cache.${host(r)} -a '${secret}' PING`,
    `mongosh "mongodb://db.${host(r)}" --username admin --password '${secret}'`,
    `CREATE USER app WITH ENCRYPTED PASSWORD '${secret}';`,
    `ALTER ROLE app PASSWORD '${secret}';`,
    `CREATE USER 'app'@'%' IDENTIFIED BY '${secret}';`,
    `Server=tcp:sql.${host(r)},1433;Database=prod;User ID=app;Password=${secret};Encrypt=True;`,
    `host=db.${host(r)} port=5432 dbname=prod user=app password=${secret} sslmode=require`,
  ])
  return { text, secret }
})
add('snowflake-password', (r) => {
  const secret = password(r)
  const text = r.pick([
    `snowflake.connector.connect(user="ETL", password="${secret}", account="${r.pick(TEAM)}-` +
      `${r.pick(REGION)}")`,
    `SNOWFLAKE_PASSWORD='${secret}'\nSNOWFLAKE_ACCOUNT=${r.pick(TEAM)}`,
    `snowflake://etl:${encodeURIComponent(secret)}@${r.pick(TEAM)}.eu-central-1/prod?warehouse=WH`,
    `default:\n  target: dev\n  outputs:\n    dev:\n      type: snowflake\n      user: ETL\n    ` +
      `  password: '${secret}'`,
  ])
  return { text, secret: text.includes(secret) ? secret : encodeURIComponent(secret) }
})

// Mail and telephony

addPrefixed(
  'sendgrid-key',
  (r) => `SG.${r.chars(WORDISH, 22)}.${r.chars(WORDISH, 43)}`,
  ['SENDGRID_API_KEY'],
  ['SendGrid key'],
)
addPrefixed('mailgun-key-prefixed', (r) => `key-${hex(r, 32)}`, ['MAILGUN_API_KEY'], ['Mailgun key'])
addNamed(
  'mailgun-key-named',
  (r) => `${hex(r, 32)}-${hex(r, 8)}-${hex(r, 8)}`,
  ['MAILGUN_API_KEY', 'MAILGUN_KEY'],
  ['Mailgun API key'],
)
add('postmark-token', (r) => {
  const secret = uuid(r)
  if (r.chance(0.6)) {
    return named(r, secret, ['POSTMARK_SERVER_TOKEN', 'POSTMARK_API_TOKEN'], ['Postmark server token'])
  }
  return { text: `curl https://api.postmarkapp.com/email -H "X-Postmark-Server-Token: ${secret}"`, secret }
})
add('smtp-password', (r) => {
  const secret = password(r)
  const text = r.pick([
    `SMTP_HOST=smtp.${host(r)}\nSMTP_PORT=587\nSMTP_USER=noreply\nSMTP_PASSWORD="${secret}"`,
    `nodemailer.createTransport({ host: 'smtp.${host(r)}', auth: { user: 'noreply', pass: '${secret}' } })`,
    `server.login("noreply", "${secret}")`,
    `[smtp]\nhost = mail.${host(r)}\nuser = noreply\npass = ${secret}`,
    `smtps://noreply:${encodeURIComponent(secret)}@smtp.${host(r)}:465`,
    `> AUTH PLAIN ${Buffer.from(`\0noreply\0${secret}`).toString('base64')}\n< 235 2.7.0 ` +
      `Authentication successful`,
  ])
  const shapes = [secret, encodeURIComponent(secret), Buffer.from(`\0noreply\0${secret}`).toString('base64')]
  return { text, secret: shapes.find((shape) => text.includes(shape)) as string }
})
add('twilio-auth-token', (r) => {
  const secret = hex(r, 32)
  const sid = `AC${hex(r, 32)}`
  const text = r.pick([
    `TWILIO_ACCOUNT_SID=${sid}\nTWILIO_AUTH_TOKEN=${secret}`,
    `client = Client("${sid}", auth_token="${secret}")`,
    `curl -X POST https://api.twilio.com/2010-04-01/Accounts/${sid}/Messages.json -u ${sid}:${secret}`,
    json({ accountSid: sid, authToken: secret, from: 'ACME' }),
  ])
  return { text, secret }
})

// Sessions, headers, URLs

addPrefixed('jwt', jwt, ['ACCESS_TOKEN', 'ID_TOKEN', 'SUPABASE_SERVICE_ROLE_KEY'], ['access token', 'JWT'])
add('bearer-header-opaque', (r) => {
  const secret = r.pick([
    () => r.chars(ALNUM, r.between(32, 48)),
    () => hex(r, 40),
    () => base64url(r.bytes(32)),
  ])()
  const text = r.pick([
    `Authorization: Bearer ${secret}`,
    `curl -H 'Authorization: Bearer ${secret}' https://${host(r)}/api/v1/me`,
    json({ method: 'GET', headers: { Authorization: `Bearer ${secret}`, Accept: 'application/json' } }),
    `> GET /me HTTP/2\n> Host: ${host(r)}\n> authorization: Bearer ${secret}\n> accept: */*\n< HTTP/2 200`,
    `headers = {"Authorization": "Bearer ${secret}"}`,
    `Authorization: token ${secret}`,
    `http.Header{"Authorization": []string{"Bearer ${secret}"}}`,
  ])
  return { text, secret }
})
add('basic-auth-header', (r) => {
  const secret = Buffer.from(`${r.pick(FIRST)}:${password(r)}`).toString('base64')
  const text = r.pick([
    `Authorization: Basic ${secret}`,
    `curl -H "Authorization: Basic ${secret}" https://${host(r)}/api`,
    json({ headers: { authorization: `Basic ${secret}` }, url: `https://${host(r)}/` }),
    `< Proxy-Authorization: Basic ${secret}`,
    `git -c http.extraheader="AUTHORIZATION: basic ${secret}" fetch origin`,
  ])
  return { text, secret }
})
add('session-cookie', (r) => {
  const [name, secret] = r.pick([
    () => [
      'connect.sid',
      `s%3A${r.chars(WORDISH, 32)}.${encodeURIComponent(base64(r.bytes(32)).slice(0, 43))}`,
    ],
    () => ['sessionid', r.chars(LOWER + DIGIT, 32)],
    () => ['PHPSESSID', r.chars(LOWER + DIGIT, 26)],
    () => ['JSESSIONID', hex(r, 32).toUpperCase()],
    () => ['__Secure-next-auth.session-token', uuid(r)],
    () => [
      'session',
      `${jsonB64url({ user_id: r.between(1, 999) })}.${r.chars(WORDISH, 6)}.${r.chars(WORDISH, 27)}`,
    ],
    () => ['_gitlab_session', hex(r, 32)],
  ])() as [string, string]
  const text = r.pick([
    `Cookie: theme=dark; ${name}=${secret}; lang=en`,
    `Set-Cookie: ${name}=${secret}; Path=/; HttpOnly; Secure; SameSite=Lax`,
    `curl 'https://${host(r)}/account' -H 'cookie: _ga=GA1.1.${r.between(1, 9999)}; ${name}=${secret}'`,
    `curl https://${host(r)}/account -b '${name}=${secret}'`,
    json([{ name, value: secret, domain: `.${host(r)}`, path: '/', httpOnly: true, secure: true }]),
    `#HttpOnly_.${host(r)}\tTRUE\t/\tTRUE\t${epoch(r)}\t${name}\t${secret}`,
    `document.cookie = "${name}=${secret}; path=/"`,
  ])
  return { text, secret }
})
add('signed-url', (r) => {
  const path = `https://${r.pick(TEAM)}-${r.pick(['uploads', 'exports'])}`
  const date = day(r).replaceAll('-', '')
  const [url, secret] = r.pick([
    () => {
      const sig = hex(r, 64)
      const cred = `AKIA${r.chars(BASE32, 16)}%2F${date}%2F${r.pick(REGION)}%2Fs3%2Faws4_request`
      return [
        `${path}.s3.amazonaws.com/${uuid(r)}.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${cred}` +
          `&X-Amz-Date=${date}T101010Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=${sig}`,
        sig,
      ]
    },
    () => {
      const sig = hex(r, 512)
      return [
        `https://storage.googleapis.com/${r.pick(TEAM)}/${uuid(r)}.zip?X-Goog-Algorithm=GOOG4-RSA-SHA256` +
          `&X-Goog-Date=${date}T101010Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=${sig}`,
        sig,
      ]
    },
    () => {
      const sig = base64(r.bytes(256)).replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~')
      return [
        `https://d${r.chars(LOWER + DIGIT, 13)}.cloudfront.net/v/${r.pick(NOUN)}.mp4?Expires=${epoch(r)}` +
          `&Signature=${sig}&Key-Pair-Id=K${r.chars(UPPER + DIGIT, 13)}`,
        sig,
      ]
    },
  ])() as [string, string]
  const text = r.pick([
    url,
    `Download: ${url}`,
    json({ url, expiresIn: 3600 }),
    `curl -o out '${url}'`,
    `![chart](${url})`,
  ])
  return { text, secret }
})
add('webhook-secret-query', (r) => {
  const secret = r.pick([
    () => r.chars(ALNUM, r.between(20, 40)),
    () => hex(r, 40),
    () => base64url(r.bytes(24)),
  ])()
  const param = r.pick([
    'secret',
    'token',
    'api_key',
    'apikey',
    'auth',
    'access_token',
    'signature',
    'code',
    'password',
  ])
  const url = `https://${host(r)}/hooks/${r.pick(NOUN)}?source=ci&${param}=${secret}`
  const text = r.pick([
    `curl -X POST '${url}' -d '{}'`,
    `${stamp(r)} INFO POST /hooks/${r.pick(NOUN)}?${param}=${secret} 202 ${r.between(2, 90)}ms`,
    `webhook:\n  url: ${url}\n  events: [push]`,
    json({ name: 'web', config: { url, content_type: 'json' } }),
    `I registered ${url} as the endpoint.`,
  ])
  return { text, secret }
})
add('http-url-userinfo', (r) => {
  const secret = urlPassword(r)
  const url =
    `https://${r.pick(FIRST)}:${secret}@${host(r)}/` +
    `${r.pick(['repo', 'simple', 'artifactory/api/pypi'])}/`
  const text = r.pick([
    `pip install --index-url ${url} ${r.pick(NOUN)}`,
    `HTTPS_PROXY=http://${r.pick(FIRST)}:${secret}@proxy.${host(r)}:3128`,
    `wget ${url}file.tgz`,
    `amqp://${r.pick(FIRST)}:${secret}@mq.${host(r)}:5672/`,
  ])
  return { text, secret }
})

// Keys in files

add('pem-rsa-private-key', (r) => block(r, 'RSA', r.pick(['server.key', 'tls.key', 'jwt.pem'])))
add('pem-ec-private-key', (r) => block(r, 'EC', r.pick(['ec.pem', 'AuthKey.p8'])))
add('openssh-private-key', (r) => block(r, 'OPENSSH', r.pick(['~/.ssh/id_ed25519', 'deploy_key'])))
add('pgp-private-key', (r) => block(r, 'PGP', 'release.asc'))
add('kubeconfig-token', (r) => {
  const cert = r.chance(0.4)
  const secret = cert ? Buffer.from(`${pem(r, 'EC').lines.join('\n')}\n`).toString('base64') : jwt(r)
  const text =
    `apiVersion: v1\nkind: Config\ncurrent-context: ${r.pick(TEAM)}\nusers:\n- name: ` +
    `${r.pick(SERVICE)}-admin\n` +
    `  user:\n    ${cert ? 'client-key-data' : 'token'}: ${secret}\n`
  return { text, secret }
})
add('kubernetes-secret', (r) => {
  const secret = Buffer.from(password(r)).toString('base64')
  const key = r.pick(['password', 'db-password', 'API_KEY', 'redis-pass', 'jwt-secret'])
  const name = `${r.pick(SERVICE)}-credentials`
  const text = r.pick([
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\ntype: Opaque\ndata:\n  ${key}: ${secret}\n`,
    `$ kubectl get secret ${name} -o json\n${pretty({
      apiVersion: 'v1',
      data: { [key]: secret },
      kind: 'Secret',
      metadata: { name, uid: uuid(r) },
      type: 'Opaque',
    })}`,
  ])
  return { text, secret }
})
add('xprv', (r) => {
  const payload = [
    0x04,
    0x88,
    0xad,
    0xe4,
    r.int(6),
    ...r.bytes(4),
    ...r.bytes(4),
    ...r.bytes(32),
    0,
    ...r.bytes(32),
  ]
  return prefixed(r, base58check(payload), ['WALLET_XPRV', 'MASTER_KEY'], ['extended private key', 'xprv'])
})
add('age-secret-key', (r) => {
  const secret = bech32('AGE-SECRET-KEY-', r.bytes(32)).toUpperCase()
  const pub = bech32('age', r.bytes(32))
  const text = r.pick([
    `# created: ${day(r)}T${clock(r)}Z\n# public key: ${pub}\n${secret}`,
    `SOPS_AGE_KEY=${secret}`,
    `echo ${secret} > key.txt && age -d -i key.txt data.age`,
    `I put ${secret} in the runner`,
  ])
  return { text, secret }
})
add('minisign-secret-key', (r) => {
  const salt = [...r.bytes(32), 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0]
  const secret = base64([...textBytes('EdScB2'), ...salt, ...r.bytes(104)])
  const text = `untrusted comment: ${r.pick(['minisign', 'rsign'])} encrypted secret key\n${secret}\n`
  return { text: r.chance(0.5) ? text : `$ cat ~/.minisign/minisign.key\n${text}`, secret }
})
add('wireguard-private-key', (r) => {
  const bytes = r.bytes(32)
  bytes[0] = (bytes[0] as number) & 248
  bytes[31] = ((bytes[31] as number) & 127) | 64
  const secret = base64(bytes)
  const text = r.pick([
    `[Interface]\nPrivateKey = ${secret}\nAddress = 10.0.0.2/32\n\n[Peer]\nAllowedIPs = 0.0.0.0/0`,
    `wg0:\n  private_key: ${secret}\n  listen_port: 51820`,
  ])
  return { text, secret }
})
add('bip39-phrase', (r) => {
  const secret = mnemonic(r, r.pick([12, 12, 24]))
  const text = r.pick([
    `my seed phrase is ${secret} and the wallet shows zero`,
    `Recovery phrase: ${secret}`,
    `MNEMONIC="${secret}"`,
    `const mnemonic = '${secret}'`,
    `module.exports = { networks: { main: { accounts: { mnemonic: '${secret}' } } } }`,
    `Write down these ${secret.split(' ').length} words in order, they restore your wallet:\n\n${secret}\n`,
    json({ wallet: 'main', seedPhrase: secret }),
    `Meine Seed-Wörter lauten: ${secret}`,
  ])
  return { text, secret }
})

// Tools

addPrefixed(
  'shopify-token',
  (r) => `${r.pick(['shpat_', 'shpss_', 'shpca_', 'shppa_'])}${hex(r, 32)}`,
  ['SHOPIFY_ACCESS_TOKEN', 'SHOPIFY_API_SECRET'],
  ['Shopify admin token'],
)
add('okta-ssws', (r) => {
  const secret = `00${r.chars(WORDISH, 40)}`
  if (r.chance(0.4)) return named(r, secret, ['OKTA_API_TOKEN', 'OKTA_TOKEN'], ['Okta API token'])
  const text = r.pick([
    `curl https://${r.pick(TEAM)}.okta.com/api/v1/users -H "Authorization: SSWS ${secret}"`,
    json({ headers: { Authorization: `SSWS ${secret}` } }),
  ])
  return { text, secret }
})
addPrefixed('linear-key', (r) => `lin_api_${r.chars(ALNUM, 40)}`, ['LINEAR_API_KEY'], ['Linear key'])
addPrefixed(
  'notion-token',
  (r) => (r.chance(0.5) ? `secret_${r.chars(ALNUM, 43)}` : `ntn_${r.chars(DIGIT, 11)}${r.chars(ALNUM, 35)}`),
  ['NOTION_TOKEN', 'NOTION_API_KEY'],
  ['Notion integration token'],
)
addPrefixed('figma-token', (r) => `figd_${r.chars(WORDISH, 40)}`, ['FIGMA_TOKEN'], ['Figma token'])
addPrefixed(
  'airtable-token',
  (r) => `pat${r.chars(ALNUM, 14)}.${hex(r, 64)}`,
  ['AIRTABLE_API_KEY', 'AIRTABLE_TOKEN'],
  ['Airtable token'],
)
addPrefixed(
  'databricks-token',
  (r) => `dapi${hex(r, 32)}${r.pick(['', '-2', '-3'])}`,
  ['DATABRICKS_TOKEN'],
  ['Databricks token'],
)
addNamed(
  'datadog-key',
  (r) => hex(r, r.pick([32, 40])),
  ['DD_API_KEY', 'DATADOG_API_KEY', 'DD_APP_KEY'],
  ['Datadog API key'],
)

// Passwords and codes

addNamed(
  'generic-app-secret',
  (r) =>
    r.pick([
      () => base64url(r.bytes(32)),
      () => hex(r, 64),
      () => r.chars(ALNUM, 50),
      () => base64(r.bytes(48)),
    ])(),
  ['SECRET_KEY', 'JWT_SECRET', 'NEXTAUTH_SECRET', 'SESSION_SECRET', 'ENCRYPTION_KEY', 'CLIENT_SECRET'],
  ['client secret', 'signing key', 'JWT secret', 'encryption key'],
)
addNamed(
  'password-in-config',
  password,
  [
    'PASSWORD',
    'DB_PASSWORD',
    'ADMIN_PASSWORD',
    'POSTGRES_PASSWORD',
    'KEYSTORE_PASSWORD',
    'MYSQL_ROOT_PASSWORD',
  ],
  ['password', 'database password', 'admin password'],
)
add('password-yaml', (r) => {
  const secret = password(r)
  const key = r.pick(['password', 'passwd', 'pwd', 'passphrase', 'ansible_become_pass', 'rootPassword'])
  const value = r.pick([
    secret.includes('#') || secret.includes('@') ? `"${secret}"` : secret,
    `"${secret}"`,
    `'${secret}'`,
  ])
  const text = `database:\n  host: db.${host(r)}\n  user: app\n  ${key}: ${value}\n  pool: ${r.between(1, 20)}`
  return { text, secret }
})
add('password-in-sentence', (r) => {
  const secret = password(r)
  const text = r.pick([
    `The password for the staging box is ${secret} - log in as ${r.pick(FIRST)}.`,
    `login with ${r.pick(FIRST)} and password ${secret}`,
    `I changed my password to ${secret} yesterday and now the sync fails`,
    `user: ${r.pick(FIRST)}, pass: ${secret}`,
    `username ${r.pick(FIRST)} / pw ${secret}`,
    `Das Passwort für den Server lautet ${secret}, bitte nicht weitergeben.`,
    `Mein Kennwort ist ${secret}`,
    `Le mot de passe du compte est ${secret}, merci de te connecter.`,
    `La contraseña es ${secret}`,
    `Your temporary password is: ${secret}\nPlease change it after your first sign-in.`,
    `sudo asks for a password, just type ${secret}`,
    `The Wi-Fi in the office uses the password "${secret}".`,
    `creds: ${r.pick(FIRST)} / ${secret}`,
  ])
  return { text, secret }
})
add('pin-or-one-time-code', (r) => {
  const six = r.chars(DIGIT, 6)
  const four = r.chars(DIGIT, 4)
  const [text, secret] = r.pick([
    [`Your verification code is ${six}. It expires in 10 minutes.`, six],
    [`G-${six} is your Google verification code.`, six],
    [`my PIN is ${four}, try that on the tablet`, four],
    [`The door PIN: ${four}`, four],
    [`Use ${six} as your one-time passcode to sign in to ${capital(r.pick(TEAM))}.`, six],
    [`Dein Bestätigungscode lautet ${six}.`, six],
    [`Votre code de vérification est ${six}`, six],
    [`the 2FA code it sent me: ${six}`, six],
    [`OTP: ${six}`, six],
    [`SIM-PIN ist ${four}, PUK habe ich nicht`, four],
    [`npm publish --otp=${six}`, six],
  ]) as [string, string]
  return { text, secret }
})
add('totp-seed', (r) => {
  const secret = r.chars(BASE32, r.pick([16, 32]))
  const text = r.pick([
    `otpauth://totp/${capital(r.pick(TEAM))}:${r.pick(FIRST)}?secret=${secret}&issuer=` +
      capital(r.pick(TEAM)),
    `TOTP_SECRET=${secret}`,
    `oathtool --totp -b ${secret}`,
    `If you cannot scan the QR code, enter this setup key: ${secret}`,
  ])
  return { text, secret }
})
add('netrc', (r) => {
  const secret = r.chance(0.5) ? password(r) : r.chars(ALNUM, 40)
  const machine = r.pick(['api.heroku.com', 'github.com', `git.${host(r)}`])
  const text = r.pick([
    `machine ${machine}\n  login ${r.pick(FIRST)}\n  password ${secret}\n`,
    `machine ${machine} login ${r.pick(FIRST)} password ${secret}`,
    `echo "machine ${machine} login ci password ${secret}" >> ~/.netrc`,
  ])
  return { text, secret }
})
add('htpasswd', (r) => {
  const salted = `./${ALNUM}`
  const secret = r.pick([
    () => `$apr1$${r.chars(salted, 8)}$${r.chars(salted, 22)}`,
    () => `$2y$${r.pick(['05', '10', '12'])}$${r.chars(salted, 53)}`,
    () => `{SHA}${base64(r.bytes(20))}`,
    () => `$6$${r.chars(salted, 16)}$${r.chars(salted, 86)}`,
  ])()
  const user = r.pick(FIRST)
  const text = secret.startsWith('$6$')
    ? `${user}:${secret}:20412:0:99999:7:::`
    : r.pick([
        `${user}:${secret}`,
        `$ cat /etc/nginx/.htpasswd\n${user}:${secret}\n`,
        `htpasswd -nb ${user}\n${user}:${secret}`,
      ])
  return { text, secret }
})
add('curl-user-password', (r) => {
  const secret = password(r)
  const user = r.pick(FIRST)
  const text = r.pick([
    `curl -u ${user}:'${secret}' https://${host(r)}/api/status`,
    `curl -sSf --user "${user}:${secret}" https://${host(r)}/api/status`,
    `curl -X PUT -u '${user}:${secret}' -T app.jar https://nexus.${host(r)}/repository/releases/`,
    `requests.get("https://${host(r)}", auth=("${user}", "${secret}"))`,
    `http -a '${user}:${secret}' GET https://${host(r)}/me`,
    `sshpass -p '${secret}' ssh ${user}@build.${host(r)} uptime`,
    `docker login -u ${user} -p '${secret}' registry.${host(r)}`,
    `htpasswd -b -c .htpasswd ${user} '${secret}'`,
    `echo '${secret}' | sudo -S systemctl restart ${r.pick(SERVICE)}`,
    `lftp -u ${user},'${secret}' sftp://files.${host(r)}`,
  ])
  return { text, secret }
})
add('wifi-psk', (r) => {
  const secret = r.chance(0.3) ? hex(r, 64) : password(r)
  const ssid = `${capital(r.pick(TEAM))}-${r.pick(['Guest', 'Office', '5G'])}`
  const text = r.pick([
    `network={\n  ssid="${ssid}"\n  psk="${secret}"\n  key_mgmt=WPA-PSK\n}`,
    `nmcli device wifi connect "${ssid}" password '${secret}'`,
    `WIFI:T:WPA;S:${ssid};P:${secret};;`,
    `WiFi.begin("${ssid}", "${secret}"); // wifi password`,
    `[wifi-security]\nkey-mgmt=wpa-psk\npsk=${secret}`,
    `the wifi is ${ssid}, password: ${secret}`,
  ])
  return { text, secret }
})

// Bare: nothing tells of them

const bare = (form: string, value: (r: Rng) => string): void =>
  add(
    form,
    (r) => {
      const secret = value(r)
      const text = r.pick([
        secret,
        `${r.pick(SMALL_TALK)}\n\n${secret}\n`,
        `${r.pick(FIRST)}: ${secret}`,
        `$ pbpaste\n${secret}`,
        `try this one: ${secret}`,
        json({ value: secret }),
        `${r.pick(NOUN)}\n${secret}\n${r.pick(NOUN)}`,
      ])
      return { text, secret }
    },
    false,
  )
bare('bare-mixed-40', (r) => r.chars(B64, 40))
bare('bare-hex-64', (r) => hex(r, 64))
bare('bare-alnum-32', (r) => r.chars(ALNUM, 32))
bare('bare-urlsafe-43', (r) => base64url(r.bytes(32)))
bare('bare-password', password)
bare('bare-bip39', (r) => mnemonic(r, r.pick([12, 24])))

export const formNames: readonly { form: string; marked: boolean }[] = forms.map(({ form, marked }) => ({
  form,
  marked,
}))

const occurrences = (text: string, part: string): number => text.split(part).length - 1

/** `perForm` samples of each form; the secret stands exactly once in its text. */
export const heldOutSecrets = (seed: number, perForm: number): HeldOutSecret[] =>
  forms.flatMap(({ form, marked, make }) => {
    const r = rngOf(seed, `secret/${form}`)
    const out: HeldOutSecret[] = []
    while (out.length < perForm) {
      const found = make(r)
      const text = embed(r, found)
      if (occurrences(text, found.secret) === 1) out.push({ form, marked, text, secret: found.secret })
    }
    return out
  })

// ---------------------------------------------------------------------------------------------------------
// Ordinary texts: nothing in them is secret, though much of it looks or sounds like it
// ---------------------------------------------------------------------------------------------------------

type Source = { source: string; make: (r: Rng) => string }

const sources: Source[] = []
const ordinary = (source: string, make: (r: Rng) => string): void => {
  sources.push({ source, make })
}
const lines = (r: Rng, low: number, high: number, line: () => string): string =>
  Array.from({ length: r.between(low, high) }, line).join('\n')
const lazy = (r: Rng, kinds: readonly (() => string)[]): string => r.pick(kinds)()
const thousands = (n: number): string => n.toLocaleString('en-US')
const shaOf = (r: Rng): string => hex(r, 40)
const PKG = [
  'left-pad',
  'zod',
  'undici',
  'esbuild',
  'chalk',
  '@types/node',
  'p-limit',
  'vite',
  'semver',
  'ws',
]
const VERB = ['Fix', 'Add', 'Refactor', 'Remove', 'Document', 'Test', 'Speed up', 'Simplify']
const THING = [
  'token counting in the streaming parser',
  'password reset page layout',
  'the key handling of arrow keys',
  'pagination of search results',
  'secret rotation docs',
  'flaky session test',
  'retry logic in the queue worker',
  'primary key migration',
  'keyboard shortcuts',
  'auth middleware ordering',
]
const version = (r: Rng): string => `${r.between(0, 24)}.${r.between(0, 30)}.${r.between(0, 20)}`

ordinary('agent-chat', (r) => {
  const turns = [
    'user: The login form shows "invalid password" even though the test account is right. Why?',
    `assistant: I traced it to \`${r.pick(FILE)}\`: the password is compared before it is hashed.`,
    `assistant: I used ${thousands(r.between(1200, 99000))} tokens so far, about ` +
      `${r.between(2, 60)}% of the context.`,
    'user: ok, where do we keep the API key for the mailer?',
    'assistant: It is read from `process.env.MAILER_API_KEY`; the value is in the vault, I cannot see it.',
    'user: dont print any secrets please',
    `assistant: The token expires after ${r.between(5, 90)} minutes, so the refresh has to run earlier.`,
    `assistant: Commit ${hex(r, 7)} passes; run ${r.between(100000, 999999)} failed with exit ` +
      `code ${r.pick([1, 2, 137])}.`,
    'user: can you explain what the Authorization header does?',
    'assistant: The key insight is that the cache key includes the locale, so both pages collide.',
    `assistant: Session ${uuid(r)} was resumed, nothing else changed.`,
    'user: what is the secret sauce of this sorting function?',
    `assistant: Password rules: at least ${r.between(8, 16)} characters, one digit, one symbol.`,
    'user: Which code is better, the first or the second?',
    'assistant: The code is 214 lines long; the second version is 30% shorter.',
  ]
  return r.some(turns, r.between(4, 8)).join('\n\n')
})

ordinary('agent-plan', (r) => {
  const steps = [
    'Read the auth module and list every place that touches a token',
    'Move the password policy into its own file',
    `Add a test that a missing API key gives a clear error (${r.pick(FILE)})`,
    'Rotate keys: document who does it, how often, and where it is logged',
    `Keep the total under ${thousands(r.between(2000, 60000))} tokens per run`,
    'Pin the version of the base image',
    'Ask for the PIN only once per session',
    'Do not log secrets; log the key id instead',
    `Compare results with run_${r.chars(LOWER + DIGIT, 12)} before merging`,
    'Make the passphrase prompt skippable with --yes',
    `Check that bearer tokens are refused on http (issue #${r.between(10, 9000)})`,
  ]
  const chosen = r.some(steps, r.between(4, 8))
  const item = (s: string, i: number): string =>
    r.chance(0.5) ? `${i + 1}. ${s}` : `- [${r.pick(['x', ' '])}] ${s}`
  return `# Plan\n\n${chosen.map(item).join('\n')}`
})

ordinary('code-typescript', (r) =>
  r
    .some(
      [
        `export const sessionId = '${uuid(r)}'`,
        "const password = await prompt({ type: 'password', message: 'Enter your password' })",
        "if (!process.env.OPENAI_API_KEY) throw new Error('OPENAI_API_KEY is missing')",
        'type Credentials = { username: string; password: string; token?: string }',
        'const token = tokens[index + 1] ?? null',
        "const apiKey = config.get<string>('apiKey')",
        `const maxTokens = ${r.between(256, 200000)}`,
        "headers.set('authorization', `Bearer ${await getAccessToken()}`)",
        `const ETAG = 'W/"${hex(r, 8)}-${r.chars(WORDISH, 27)}"'`,
        'export const isSecret = (name: string): boolean => /secret|password|token/i.test(name)',
        'const key = `${user.id}:${locale}:${page}`',
        'const { password, ...safe } = user',
        `const queryKey = ['orders', ${r.between(1, 999)}, 'items'] as const`,
        'for (const [key, value] of Object.entries(headers)) map.set(key.toLowerCase(), value)',
        `const NAMESPACE = '${uuid(r)}' // fixed, for v5 ids`,
        "expect(screen.getByLabelText('Password')).toBeVisible()",
        "const secret = await secrets.get('projects/app/secrets/db-password/versions/latest')",
        `const buildId = '${r.chars(WORDISH, 21)}'`,
        "passwordInput.addEventListener('input', validatePassword)",
        "const keyOf = (event: KeyboardEvent) => event.key === 'Enter'",
      ],
      r.between(4, 9),
    )
    .join('\n'),
)

ordinary('code-python-go-java', (r) =>
  lazy(r, [
    () =>
      `class User(models.Model):\n    id = models.UUIDField(primary_key=True, default=uuid.uuid4)\n` +
      `    password = models.CharField(max_length=${r.between(64, 255)})\n    api_key = ` +
      `models.CharField(null=True)\n`,
    () =>
      `def test_${r.pick(NOUN)}():\n    run_id = "${uuid(r)}"\n    tokens = tokenizer.encode(text)\n` +
      `    assert len(tokens) == ${r.between(3, 900)}\n    password = getpass.getpass("Password: ")\n`,
    () =>
      `func Load() (*Config, error) {\n\ttoken := os.Getenv("${r.pick(SERVICE).toUpperCase()}_TOKEN")\n` +
      `\tif token == "" {\n\t\treturn nil, errors.New("token is empty")\n\t}\n\tkey := ` +
      `ctx.Value(ctxKey("trace"))\n`,
    () =>
      `@Value("\${spring.datasource.password}")\nprivate String password;\n\n` +
      `private static final long serialVersionUID = ${r.between(1, 9)}${r.chars(DIGIT, 17)}L;\n`,
    () =>
      `let token = lexer.next_token()?;\nmatch token.kind {\n    TokenKind::Ident => self.key(token),\n` +
      `    _ => return Err(Error::Expected("key")),\n}\nconst SEED: u64 = 0x${hex(r, 16)};\n`,
    () =>
      `api_key = os.environ["ANTHROPIC_API_KEY"]\nclient = Anthropic(api_key=api_key)\n` +
      `resp = client.messages.create(model="claude", max_tokens=${r.between(100, 8192)})\n`,
    () =>
      `#define LED_PIN ${r.between(2, 40)}\n#define RESET_PIN ${r.between(2, 40)}\nint pin = ` +
      `${r.between(2, 40)};\n` +
      `uint32_t magic = 0x${hex(r, 8)};\n`,
    () => `var hash = MD5.HashData(bytes); // ${hex(r, 32)}\nAssert.Equal("${hex(r, 64)}", Sha256(file));\n`,
  ]),
)

ordinary('git-log', (r) =>
  r.chance(0.5)
    ? lines(
        r,
        4,
        10,
        () => `${hex(r, r.pick([7, 8, 10]))} ${r.pick(VERB)} ${r.pick(THING)} (#${r.between(1, 4000)})`,
      )
    : lines(
        r,
        2,
        4,
        () =>
          `commit ${shaOf(r)}\nMerge: ${hex(r, 7)} ${hex(r, 7)}\nDate:   ${day(r)} ${clock(r)} +0100\n\n` +
          `    ${r.pick(VERB)} ${r.pick(THING)}\n\n    Reverts ${shaOf(r)}.\n`,
      ),
)

ordinary('git-diff', (r) => {
  const file = r.pick(FILE)
  return (
    `diff --git a/${file} b/${file}\nindex ${hex(r, 7)}..${hex(r, 7)} 100644\n--- a/` +
    `${file}\n+++ b/${file}\n` +
    `@@ -${r.between(1, 90)},4 +${r.between(1, 90)},5 @@\n-  token: process.env.TOKEN,\n` +
    `+  token: process.env.API_TOKEN ?? '',\n+  keyId: '${uuid(r)}',\n   password: undefined,\n`
  )
})

ordinary('lockfile', (r) => {
  const sri = (): string => `sha512-${base64(r.bytes(64))}`
  return lazy(r, [
    () =>
      lines(r, 2, 5, () => {
        const name = r.pick(PKG)
        const v = version(r)
        const file = `${name.split('/').pop()}-${v}.tgz`
        return (
          `    "node_modules/${name}": {\n      "version": "${v}",\n      "resolved": ` +
          `"https://${NPM}/${name}/-/${file}",\n      "integrity": "${sri()}"\n    },`
        )
      }),
    () => lines(r, 3, 6, () => `  ${r.pick(PKG)}@${version(r)}:\n    resolution: {integrity: ${sri()}}`),
    () =>
      lines(
        r,
        2,
        5,
        () =>
          `[[package]]\nname = "${r.pick(NOUN)}"\nversion = "${version(r)}"\n` +
          `source = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${hex(r, 64)}"\n`,
      ),
    () =>
      lines(
        r,
        3,
        7,
        () => `github.com/${r.pick(TEAM)}/${r.pick(NOUN)} v${version(r)} h1:${base64(r.bytes(32))}`,
      ),
    () =>
      lines(
        r,
        2,
        5,
        () => `    {file = "${r.pick(NOUN)}-${version(r)}.whl", hash = "sha256:${hex(r, 64)}"},`,
      ),
    () =>
      lines(
        r,
        2,
        4,
        () =>
          `"${r.pick(PKG)}@npm:^${version(r)}":\n  version: ${version(r)}\n  checksum: 10c0/${hex(r, 128)}\n`,
      ),
  ])
})

ordinary('otlp-json', (r) => {
  const at = `${epoch(r)}${r.chars(DIGIT, 9)}`
  const attribute = (key: string, value: string | number) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  })
  const span = {
    traceId: hex(r, 32),
    spanId: hex(r, 16),
    parentSpanId: hex(r, 16),
    name: r.pick(['chat gpt-5', 'execute_tool bash', 'invoke_agent', 'GET /v1/items']),
    kind: r.between(1, 3),
    startTimeUnixNano: at,
    endTimeUnixNano: `${at.slice(0, 9)}9${at.slice(10)}`,
    attributes: [
      attribute('gen_ai.usage.input_tokens', r.between(10, 90000)),
      attribute('gen_ai.usage.output_tokens', r.between(10, 9000)),
      attribute('gen_ai.response.id', `chatcmpl-${r.chars(ALNUM, 29)}`),
      attribute('session.id', uuid(r)),
      attribute('service.instance.id', uuid(r)),
    ],
  }
  const trace = `traceparent: 00-${hex(r, 32)}-${hex(r, 16)}-01`
  return r.chance(0.8)
    ? r.chance(0.5)
      ? pretty(span)
      : json({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
    : trace
})

ordinary('api-ids', (r) => {
  const ids = [
    `msg_01${r.chars(ALNUM, 22)}`,
    `toolu_01${r.chars(ALNUM, 22)}`,
    `call_${r.chars(ALNUM, 24)}`,
    `run_${r.chars(ALNUM, 24)}`,
    `req_${r.chars(ALNUM, 24)}`,
    `req_011C${r.chars(ALNUM, 20)}`,
    `resp_${hex(r, 48)}`,
    `thread_${r.chars(ALNUM, 24)}`,
    `asst_${r.chars(ALNUM, 24)}`,
    `chatcmpl-${r.chars(ALNUM, 29)}`,
    `file-${r.chars(ALNUM, 24)}`,
    `fp_${hex(r, 10)}`,
    `cus_${r.chars(ALNUM, 14)}`,
    `pi_3${r.chars(ALNUM, 23)}`,
    `evt_1${r.chars(ALNUM, 23)}`,
    `usr_${r.chars('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26)}`,
    r.chars('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26),
    uuid(r),
    `dpl_${r.chars(ALNUM, 28)}`,
    `arn:aws:iam::${r.chars('123456789', 12)}:role/${r.pick(SERVICE)}`,
    `i-0${hex(r, 16)}`,
    `vpc-0${hex(r, 16)}`,
  ]
  const few = r.some(ids, r.between(3, 6))
  return lazy(r, [
    () => pretty({ object: 'list', data: few.map((id) => ({ id, created: epoch(r) })) }),
    () =>
      few
        .map((id) => `${stamp(r)} INFO request_id=${id} status=200 duration_ms=${r.between(1, 900)}`)
        .join('\n'),
    () =>
      few.map((id) => json({ type: 'tool_use', id, name: 'bash', input: { command: 'ls -la' } })).join('\n'),
    () => `The failing ones are ${few.join(', ')}; the rest finished.`,
    () =>
      `x-request-id: ${uuid(r)}\ncf-ray: ${hex(r, 16)}-FRA\nIdempotency-Key: ${uuid(r)}\netag: "` +
      `${hex(r, 32)}"`,
  ])
})

ordinary('base64-thumbnail', (r) => {
  const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52]
  const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1]
  const isPng = r.chance(0.5)
  const type = isPng ? 'image/png' : 'image/jpeg'
  const data = base64([...(isPng ? png : jpeg), ...r.bytes(r.between(200, 900))])
  return lazy(r, [
    () => `<img alt="thumbnail" src="data:${type};base64,${data}">`,
    () => json({ type: 'image', source: { type: 'base64', media_type: type, data } }),
    () => `.logo { background: url(data:${type};base64,${data}) no-repeat }`,
    () => `![thumb](data:${type};base64,${data})`,
    () => `@font-face{font-family:x;src:url(data:font/woff2;base64,d09GMg${base64(r.bytes(240))})}`,
  ])
})

ordinary('minified-js', (r) => {
  const v = (): string => r.chars(LOWER, r.between(1, 2))
  const bit = (): string =>
    lazy(r, [
      () => `function ${v()}(${v()},${v()}){return ${v()}.token=${v()}.key||${v()}[${r.between(0, 99)}]}`,
      () => `var ${v()}=${v()}.password,${v()}=function(){return void 0===${v()}?"":${v()}}`,
      () => `${v()}.exports="${hex(r, 20)}.${hex(r, 8)}.js"`,
      () => `e.d(t,{${r.chars(UPPER + LOWER, 2)}:()=>${v()}})`,
      () => `!function(e){"use strict";e.secret=!0,e.apiKey=null}(${v()})`,
      () => `${r.between(1000, 9999)}:(e,t,n)=>{n.r(t),n.d(t,{default:()=>${v()}})}`,
    ])
  return (
    `${Array.from({ length: r.between(5, 14) }, bit).join(';')};\n//# ` +
    `sourceMappingURL=main.${hex(r, 20)}.js.map`
  )
})

ordinary('stack-trace', (r) =>
  lazy(r, [
    () =>
      `TypeError: Cannot read properties of undefined (reading 'token')\n${lines(
        r,
        3,
        7,
        () => `    at ${r.pick(NOUN)}Key (/app/${r.pick(FILE)}:${r.between(1, 400)}:${r.between(1, 80)})`,
      )}\n    at async file:///app/node_modules/.pnpm/undici@${version(r)}/node_modules/undici/` +
      `index.js:1:${r.between(1, 9999)}`,
    () =>
      `Traceback (most recent call last):\n${lines(
        r,
        2,
        5,
        () =>
          `  File "/srv/app/${r.pick(NOUN)}.py", line ${r.between(1, 900)}, in check_password\n ` +
          `   return key[name]`,
      )}\nKeyError: 'password'`,
    () =>
      `java.lang.IllegalStateException: token must not be null\n${lines(
        r,
        3,
        6,
        () =>
          `\tat com.${r.pick(TEAM)}.auth.TokenFilter.lambda$doFilter$` +
          `${r.between(0, 9)}(TokenFilter.java:${r.between(9, 300)})`,
      )}`,
    () =>
      `goroutine ${r.between(1, 99)} [running]:\nmain.(*Vault).Secret(0x${hex(r, 10)}, {0x` +
      `${hex(r, 10)}, 0x${hex(r, 2)}})\n` +
      `\t/src/vault.go:${r.between(9, 300)} +0x${hex(r, 3)}`,
    () =>
      `AuthenticationError: No API key provided. Set your API key in the OPENAI_API_KEY ` +
      `environment variable.`,
    () =>
      `error: password authentication failed for user "app"\n    at Parser.parseErrorMessage ` +
      `(parser.js:${r.between(9, 400)}:98)`,
  ]),
)

ordinary('sql', (r) =>
  r
    .some(
      [
        'CREATE TABLE users (id uuid PRIMARY KEY, password_hash text NOT NULL, api_token text UNIQUE);',
        `SELECT id, token_count FROM runs WHERE id = '${uuid(r)}' AND total_tokens > ` +
          `${r.between(100, 99999)};`,
        'ALTER TABLE sessions ADD COLUMN refresh_token text;',
        "SELECT count(*) FROM secrets WHERE rotated_at < now() - interval '90 days';",
        'CREATE UNIQUE INDEX users_key ON users (tenant_id, key);',
        `INSERT INTO commits (sha, author) VALUES ('${shaOf(r)}', '${r.pick(FIRST)}');`,
        "UPDATE users SET password = crypt($1, gen_salt('bf')) WHERE id = $2;",
        'ALTER TABLE orders ADD CONSTRAINT orders_fk FOREIGN KEY (user_id) REFERENCES users (id);',
        `INSERT INTO files (id, sha256) VALUES (${r.between(1, 999)}, '${hex(r, 64)}');`,
        'SELECT * FROM pg_stat_activity WHERE usename = current_user;',
      ],
      r.between(2, 5),
    )
    .join('\n'),
)

ordinary('csv', (r) =>
  lazy(r, [
    () =>
      `id,key,count,checksum\n${lines(
        r,
        4,
        9,
        () => `${uuid(r)},${r.pick(SERVICE)}.${r.pick(NOUN)},${r.between(1, 9999)},${hex(r, 32)}`,
      )}`,
    () =>
      `run,model,input_tokens,output_tokens,cost\n${lines(
        r,
        4,
        9,
        () =>
          `run_${r.chars(LOWER + DIGIT, 10)},gpt-5,${r.between(1, 99999)},` +
          `${r.between(1, 9999)},0.${r.chars(DIGIT, 4)}`,
      )}`,
    () =>
      `sku;ean;price\n` +
      lines(r, 4, 8, () => `SKU-${r.chars(UPPER + DIGIT, 8)};${r.pick(NOUN)};${r.between(1, 99)},90`),
  ]),
)

ordinary('urls', (r) =>
  lines(r, 3, 6, () =>
    lazy(r, [
      () =>
        `https://github.com/${r.pick(TEAM)}/${r.pick(SERVICE)}/blob/${shaOf(r)}/` +
        `${r.pick(FILE)}#L${r.between(1, 400)}`,
      () =>
        `https://blog.${host(r)}/${day(r).replaceAll('-', '/')}/` +
        'how-we-stopped-storing-passwords-and-learned-to-love-passkeys',
      () => `https://cdn.${host(r)}/assets/${r.pick(NOUN)}-${r.chars(WORDISH, 8)}.js?v=${hex(r, 20)}`,
      () => `https://www.youtube.com/watch?v=${r.chars(WORDISH, 11)}&t=${r.between(1, 900)}s`,
      () => `https://docs.google.com/document/d/1${r.chars(WORDISH, 43)}/edit`,
      () =>
        `https://www.figma.com/design/${r.chars(ALNUM, 22)}/Onboarding?node-id=` +
        `${r.between(1, 99)}-${r.between(1, 999)}`,
      () =>
        `https://linear.app/${r.pick(TEAM)}/issue/ENG-` +
        `${r.between(1, 9000)}/rotate-the-signing-key-every-quarter`,
      () =>
        `https://${host(r)}/search?q=${r.pick(NOUN)}&page=${r.between(1, 9)}&sort=key&cursor=` +
        jsonB64url({ id: r.between(1, 9999) }),
      () => `https://www.notion.so/${r.pick(TEAM)}/Password-policy-${hex(r, 32)}`,
      () => `ipfs://Qm${r.chars(BASE58, 44)}`,
      () =>
        `https://${host(r)}/reset-password?locale=de&utm_source=newsletter&utm_campaign=${r.pick(NOUN)}_2026`,
      () => `docker.io/${r.pick(TEAM)}/${r.pick(SERVICE)}@sha256:${hex(r, 64)}`,
    ]),
  ),
)

ordinary('prose-english', (r) =>
  r
    .some(
      [
        'A password should be long rather than complicated, and nobody should have to change it every month.',
        `The summary took ${thousands(r.between(900, 9000))} tokens, most of them spent on the tool output.`,
        'The secret sauce of the restaurant is, of course, butter.',
        'She forgot the key to the shed again, so we waited in the rain.',
        'Never send your PIN by mail; the bank will not ask for it.',
        `The map key explains the ${r.between(3, 12)} symbols used on page ${r.between(2, 300)}.`,
        'Passwords are hashed with a salt before they are stored.',
        'The token ring network lost to Ethernet in the nineties.',
        'A private key must stay private; a public key may be printed on a business card.',
        `Chapter ${r.between(2, 30)}: The Secret Garden, in which a key is found.`,
        'The API key is optional for local models.',
        'His password is too short, the form says, and mine is too long.',
        `As a token of our thanks, you get ${r.between(5, 30)}% off your next order.`,
        `The code is on page ${r.between(2, 300)}, and the PIN of the badge reader is set by the janitor.`,
        'Two-factor codes arrive by text message, which is better than nothing.',
        'The wallet asks for twelve words, and those words must be written down on paper.',
        'It is an open secret that the passphrase prompt annoys everyone.',
        'Your password was changed successfully. If this was not you, contact support.',
      ],
      r.between(3, 7),
    )
    .join(' '),
)

ordinary('prose-german', (r) =>
  r
    .some(
      [
        'Das Passwort muss mindestens zwölf Zeichen lang sein.',
        'Der Schlüssel zum Erfolg ist Geduld, sagte der Hausmeister und suchte seinen Schlüsselbund.',
        `Der Lauf verbrauchte ${r.between(2, 90)}.${r.chars(DIGIT, 3)} Tokens, also weniger als gestern.`,
        'Die PIN wird dreimal falsch eingegeben, dann ist die Karte gesperrt.',
        'Das Kennwort wurde erfolgreich geändert.',
        'Ein offenes Geheimnis: niemand liest die Passwortrichtlinie.',
        'Bitte geben Sie Ihr Passwort nicht an Dritte weiter.',
        'Der API-Schlüssel wird aus der Umgebungsvariable gelesen.',
        'Wer das Zugangstoken erneuert, muss sich danach neu anmelden.',
        'Die Zwei-Faktor-Authentifizierung bleibt eingeschaltet.',
        'Das Passwort ist abgelaufen, teilte die Anwendung mit.',
      ],
      r.between(3, 6),
    )
    .join(' '),
)

ordinary('prose-french', (r) =>
  r
    .some(
      [
        'Le mot de passe doit contenir au moins douze caractères.',
        'La clé de la réussite est la patience, dit le gardien.',
        `L’exécution a consommé ${r.between(2, 90)} ${r.chars(DIGIT, 3)} jetons, moins que la veille.`,
        'Ne communiquez jamais votre code secret par téléphone.',
        'Le mot de passe a été modifié avec succès.',
        'C’est un secret de polichinelle.',
        'La clé publique peut être publiée, la clé privée reste privée.',
        'Le jeton d’accès expire au bout d’une heure.',
        'Le code de la route a changé cette année.',
        'Votre mot de passe est expiré, affiche l’application.',
      ],
      r.between(3, 6),
    )
    .join(' '),
)

ordinary('env-docs', (r) =>
  lazy(r, [
    () =>
      r
        .some(
          [
            'API_KEY=<your key>',
            'OPENAI_API_KEY=sk-...',
            'ANTHROPIC_API_KEY=sk-ant-...',
            'GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
            'DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/DATABASE',
            'TOKEN=${TOKEN}',
            'SECRET_KEY=',
            'PASSWORD="$(op read op://vault/item/password)"',
            'AWS_SECRET_ACCESS_KEY=<secret>',
            'SMTP_PASSWORD=********',
            'STRIPE_SECRET_KEY=sk_live_...',
            'SESSION_SECRET={{ session_secret }}',
            'JWT_SECRET=your-jwt-secret-here',
            'SLACK_TOKEN=xoxb-your-token',
            'DB_PASSWORD=[REDACTED]',
          ],
          r.between(4, 8),
        )
        .join('\n'),
    () =>
      `| Variable | Meaning | Default |\n| --- | --- | --- |\n| \`API_KEY\` | key of the ` +
      `service, required | none |\n` +
      `| \`MAX_TOKENS\` | limit per answer | ${r.between(256, 8192)} |\n| \`TOKEN_TTL\` | ` +
      `seconds | ${r.between(60, 9000)} |`,
    () =>
      'Set `OPENAI_API_KEY` (it starts with `sk-`), then run:\n\n' +
      '```sh\nexport OPENAI_API_KEY=<your key>\nnpm start\n```',
    () => 'curl https://api.example.com/v1/me -H "Authorization: Bearer $TOKEN" -u "$USER:$PASSWORD"',
    () => 'client = OpenAI(api_key=os.environ.get("OPENAI_API_KEY"))\nconst key = process.env.OPENAI_API_KEY',
    () =>
      'env:\n  NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}\n  GH_TOKEN: ${{ github.token }}\n' +
      '  PASSWORD: ${{ inputs.password }}',
    () => 'Authorization: Bearer <token>\nX-Api-Key: YOUR_API_KEY\nCookie: session=<session id>',
    () => 'Usage: login --username <name> --password <password> [--token <token>] [--otp <code>]',
  ]),
)

ordinary('test-names', (r) =>
  r
    .some(
      [
        `✓ rejects a password shorter than ${r.between(6, 12)} characters (${r.between(1, 90)} ms)`,
        '✓ returns 401 when the token is missing',
        '✗ redacts secret values in logs',
        `✓ parses key=value pairs (${r.between(1, 90)} ms)`,
        'test_refresh_token_is_rotated_after_use PASSED',
        'TestVault/secret_not_found (0.00s)',
        "it('keeps the API key out of the error message', async () => {})",
        "describe('password strength', () => {})",
        '  ok 14 - session cookie is HttpOnly',
        `test result: ok. ${r.between(3, 300)} passed; 0 failed; finished in 0.${r.chars(DIGIT, 2)}s`,
        'PASS src/auth/token.test.ts',
        'should_not_accept_expired_pin_code ... ok',
      ],
      r.between(4, 8),
    )
    .join('\n'),
)

ordinary('markdown-table', (r) =>
  lazy(r, [
    () =>
      `| run | sha | tokens | result |\n| --- | --- | ---: | --- |\n${lines(
        r,
        3,
        7,
        () =>
          `| ${r.between(1, 900)} | \`${hex(r, 12)}\` | ${thousands(r.between(100, 90000))} | ` +
          `${r.pick(['pass', 'fail'])} |`,
      )}`,
    () =>
      `| Shortcut | Key | Action |\n|---|---|---|\n${lines(
        r,
        3,
        6,
        () =>
          `| ${r.pick(NOUN)} | Ctrl+${r.chars(UPPER, 1)} | ` +
          `${r.pick(['copy token', 'show password', 'lock'])} |`,
      )}`,
    () =>
      `| Prefix | What it is |\n|---|---|\n| \`ghp_\` | classic GitHub token |\n| \`xoxb-\` | ` +
      `Slack bot token |\n` +
      `| \`sk-ant-\` | Anthropic key |\n| \`AKIA\` | AWS access key id |\n| \`whsec_\` | webhook secret |`,
  ]),
)

ordinary('kubernetes-yaml', (r) =>
  lazy(r, [
    () =>
      `env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: ` +
      `${r.pick(SERVICE)}-credentials\n      key: password\n` +
      `image: ghcr.io/${r.pick(TEAM)}/${r.pick(SERVICE)}@sha256:${hex(r, 64)}`,
    () =>
      `tls:\n- hosts: [${host(r)}]\n  secretName: ${r.pick(TEAM)}-tls\nmetadata:\n  uid: ${uuid(r)}\n` +
      `  resourceVersion: "${r.between(1000, 99999999)}"\n  name: ${r.pick(SERVICE)}-` +
      `${hex(r, 10)}-${r.chars(LOWER, 5)}`,
    () =>
      `NAME                      TYPE     DATA   AGE\n${r.pick(SERVICE)}-credentials   Opaque   ` +
      `${r.between(1, 5)}      ${r.between(1, 90)}d`,
    () =>
      `imagePullSecrets:\n- name: regcred\nautomountServiceAccountToken: ` +
      `false\nserviceAccountName: ${r.pick(SERVICE)}`,
  ]),
)

ordinary('ci-log', (r) =>
  lines(r, 4, 9, () =>
    lazy(r, [
      () => `${stamp(r)} ##[group]Run actions/checkout@${shaOf(r)}`,
      () => `${stamp(r)}   token: ***`,
      () =>
        `${stamp(r)} #${r.between(3, 30)} sha256:${hex(r, 64)} ${r.between(1, 90)}.${r.int(10)}MB / 90.1MB`,
      () => `${stamp(r)} Cache restored from key: node-modules-Linux-${hex(r, 64)}`,
      () => `${stamp(r)} env: NPM_TOKEN: ***`,
      () => `${stamp(r)} npm notice shasum: ${shaOf(r)}`,
      () => `${stamp(r)} Digest: sha256:${hex(r, 64)}`,
      () => `${stamp(r)} Process completed with exit code ${r.between(0, 2)}.`,
      () => `${stamp(r)} dist/assets/index-${r.chars(WORDISH, 8)}.js  ${r.between(10, 900)}.${r.int(99)} kB`,
    ]),
  ),
)

ordinary('usage-json', (r) =>
  pretty({
    id: `chatcmpl-${r.chars(ALNUM, 29)}`,
    model: r.pick(['gpt-5-mini', 'claude-sonnet-4-5-20250929', 'mistral-large']),
    system_fingerprint: `fp_${hex(r, 10)}`,
    max_tokens: r.between(100, 9000),
    usage: {
      prompt_tokens: r.between(10, 90000),
      completion_tokens: r.between(10, 9000),
      total_tokens: r.between(20, 99000),
      cache_read_input_tokens: r.between(0, 9000),
    },
    stop_reason: r.pick(['end_turn', 'max_tokens', 'tool_use']),
    key: r.pick(['Enter', 'Escape', 'ArrowDown', `orders/${r.between(1, 99)}`]),
    password_required: r.chance(0.5),
    token_type: 'Bearer',
    secret: null,
  }),
)

ordinary('shell-session', (r) =>
  r
    .some(
      [
        `$ sha256sum app.tar.gz\n${hex(r, 64)}  app.tar.gz`,
        `$ md5sum *.iso\n${hex(r, 32)}  disk.iso`,
        `$ docker ps\nCONTAINER ID   IMAGE\n${hex(r, 12)}   ${r.pick(TEAM)}/${r.pick(SERVICE)}`,
        `$ git rev-parse HEAD\n${shaOf(r)}`,
        '$ read -s -p "Password: " PASSWORD',
        '$ echo $GITHUB_TOKEN | gh auth login --with-token',
        '$ gh auth status\n✓ Logged in to github.com\n  - Token: gho_************************************',
        '$ ssh-keygen -t ed25519 -f deploy_key -N ""',
        '$ vault kv get -field=password secret/app',
        '$ aws sts get-caller-identity --query Account',
        `$ ls -la ~/.ssh\n-rw-------  1 root root  ${r.between(300, 2600)} id_ed25519`,
        '$ openssl rand -hex 32 > /dev/null',
        `$ uuidgen\n${uuid(r).toUpperCase()}`,
        `$ npm config set //${NPM}/:_authToken=\\\${NPM_TOKEN}`,
        '$ sudo -k\n[sudo] password for root: ',
      ],
      r.between(2, 5),
    )
    .join('\n'),
)

ordinary('public-crypto', (r) =>
  lazy(r, [
    () => {
      const blob = base64([...sshString(textBytes('ssh-ed25519')), ...sshString(r.bytes(32))])
      return `ssh-ed25519 ${blob} ${r.pick(FIRST)}-laptop`
    },
    () =>
      armour(r, 'CERTIFICATE', folded(base64([0x30, 0x82, 3, 0x10, ...r.bytes(784)]), 64)).lines.join('\n'),
    () => {
      const spki = der(0x30, [...RSA_OID, ...der(3, [0, ...der(0x30, [...derInt(r, 256), 2, 3, 1, 0, 1])])])
      return armour(r, 'PUBLIC KEY', folded(base64(spki), 64)).lines.join('\n')
    },
    () => `256 SHA256:${base64(r.bytes(32)).replaceAll('=', '')} deploy (ED25519)`,
    () => `MD5:${Array.from({ length: 16 }, () => hex(r, 2)).join(':')}`,
    () => `Transfer 0x${hex(r, 64)} to 0x${hex(r, 40)} confirmed in block ${r.between(1000000, 9999999)}`,
    () => `# public key: ${bech32('age', r.bytes(32))}`,
    () => `minisign public key ${hex(r, 16).toUpperCase()}\n${base64([...textBytes('Ed'), ...r.bytes(40)])}`,
    () =>
      armour(r, 'PGP SIGNATURE', folded(base64([0xc2, 0xc0, 0x73, 4, 0, 1, ...r.bytes(300)]), 64), {
        head: [''],
      }).lines.join('\n'),
    () =>
      `Content-Security-Policy: script-src 'nonce-${base64(r.bytes(16))}' 'sha256-${base64(r.bytes(32))}'`,
  ]),
)

ordinary('html-form', (r) =>
  r
    .some(
      [
        '<label for="pw">Password</label> <input id="pw" type="password" autocomplete="current-password">',
        '<button data-key="save" class="btn btn-primary">Show secret</button>',
        `<script src="/static/app.${hex(r, 8)}.js" integrity="sha384-${base64(r.bytes(48))}"></script>`,
        '<p>Forgot your password? <a href="/reset">Reset it</a>.</p>',
        `<div id="radix-${r.between(1, 99)}" data-v-${hex(r, 8)} class="css-` +
          `${r.chars(LOWER + DIGIT, 6)}">PIN</div>`,
        '<input name="otp" inputmode="numeric" maxlength="6" placeholder="123456">',
        '<input type="hidden" name="token" value="{{ csrf_token }}">',
      ],
      r.between(2, 5),
    )
    .join('\n'),
)

ordinary('detector-docs', (r) =>
  r
    .some(
      [
        "regex = '''AKIA[0-9A-Z]{16}'''",
        'A classic token matches `ghp_[A-Za-z0-9]{36}` and ends in a checksum.',
        'const pattern = /sk-ant-[a-z0-9]+-[\\w-]{93}AA/',
        'The block starts with `-----BEGIN RSA PRIVATE KEY-----` and ends with the matching END line.',
        'password\\s*[:=]\\s*(\\S+)',
        'Slack webhooks look like `https://hooks.slack.com/services/T000/B000/XXXX`.',
        "redact: ['password', 'token', 'apiKey', 'authorization', 'cookie']",
        'JWTs have three parts: header.payload.signature.',
        `Entropy threshold: ${r.between(3, 4)}.${r.int(10)} bits per character`,
      ],
      r.between(3, 6),
    )
    .join('\n'),
)

ordinary('terraform-and-ini', (r) =>
  lazy(r, [
    () =>
      `variable "db_password" {\n  type      = string\n  sensitive = true\n}\n\n` +
      `resource "aws_secretsmanager_secret" "${r.pick(SERVICE)}" {\n  name = "` +
      `${r.pick(TEAM)}/db/password"\n}`,
    () =>
      `password = var.db_password\ntoken    = ` +
      `data.vault_generic_secret.ci.data["token"]\nkey_id   = "${uuid(r)}"`,
    () =>
      `[core]\n\tautocrlf = input\n[user]\n\tsigningkey = ` +
      `${hex(r, 16).toUpperCase()}\n[credential]\n\thelper = osxkeychain`,
    () =>
      `[auth]\npassword_min_length = ${r.between(8, 20)}\ntoken_lifetime = ` +
      `${r.between(60, 9000)}\nsecret_backend = vault`,
    () => `Host build\n  User ci\n  IdentityFile ~/.ssh/id_ed25519\n  PasswordAuthentication no`,
  ]),
)

ordinary('agent-jsonl', (r) => {
  const sessionId = uuid(r)
  const entry = (): string =>
    json({
      uuid: uuid(r),
      parentUuid: uuid(r),
      sessionId,
      type: r.pick(['user', 'assistant']),
      timestamp: stamp(r),
      cwd: `/home/${r.pick(FIRST)}/${r.pick(SERVICE)}`,
      gitBranch: `${r.pick(['feat', 'fix'])}/${r.pick(NOUN)}-token-refresh`,
      message: {
        id: `msg_01${r.chars(ALNUM, 22)}`,
        content: [{ type: 'text', text: `${r.pick(SMALL_TALK)} ${r.pick(VERB)} ${r.pick(THING)}.` }],
        usage: { input_tokens: r.between(1, 9000), output_tokens: r.between(1, 900) },
      },
      requestId: `req_011C${r.chars(ALNUM, 20)}`,
    })
  return lines(r, 2, 4, entry)
})

ordinary('config-yaml', (r) =>
  lazy(r, [
    () =>
      `auth:\n  provider: oidc\n  token_ttl: ${r.between(1, 60)}m\n` +
      `  password_policy: strict\n  session: redis\n` +
      `cache:\n  key: {{ checksum "package-lock.json" }}-v${r.between(1, 9)}\n  secret: false`,
    () =>
      `tokenizer: cl100k_base\nmax_tokens: ${r.between(256, 9000)}\nkey: ${r.pick(NOUN)}\n` +
      `secrets: inherit\npassword: null\ntoken: ""\nkeys: [id, name]`,
    () =>
      `id: ${uuid(r)}\nversion: ${version(r)}\ndigest: sha256:${hex(r, 64)}\n` +
      `passwordFile: /run/secrets/db_password\ntokenPath: /var/run/secrets/serviceaccount/token`,
    () =>
      `on:\n  pull_request:\npermissions:\n  id-token: write\nsteps:\n` +
      `- uses: actions/checkout@${shaOf(r)}\n  with:\n    persist-credentials: false`,
  ]),
)

ordinary('http-log', (r) =>
  lines(r, 3, 7, () =>
    lazy(r, [
      () =>
        `"GET /assets/${r.pick(NOUN)}.${hex(r, 20)}.css HTTP/1.1" 200 ${r.between(100, 99999)} "Mozilla/5.0"`,
      () => `"POST /oauth/token HTTP/1.1" ${r.pick([200, 400, 401])} ${r.between(10, 900)} 0.${r.int(10)}`,
      () => `"GET /users/${uuid(r)}/password HTTP/2" 405 ${r.between(10, 900)}`,
      () => `"GET /api/keys?limit=${r.between(1, 99)}&order=desc HTTP/1.1" 200 ${r.between(10, 9000)}`,
      () => `"GET /${shaOf(r)}/bundle.js HTTP/2" 304 0`,
      () =>
        `WARN token bucket empty for ${r.pick(SERVICE)}, ${r.between(1, 900)} missing, key=${r.pick(NOUN)}`,
    ]),
  ),
)

export const sourceNames: readonly string[] = sources.map(({ source }) => source)

/** `count` texts, spread evenly over the sources. */
export const ordinaryTexts = (seed: number, count: number): OrdinaryText[] => {
  const rngs = sources.map(({ source }) => rngOf(seed, `ordinary/${source}`))
  return Array.from({ length: count }, (_, i) => {
    const at = i % sources.length
    const { source, make } = sources[at] as Source
    return { source, text: make(rngs[at] as Rng) }
  })
}
