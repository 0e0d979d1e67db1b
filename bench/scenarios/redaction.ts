import { randomUUID } from 'node:crypto'
import { createRedactor, type JsonObject } from '@clew/ledger'
import { measureFifth } from '../../test/redaction/measure.ts'
import { type Figure, prose } from '../measure.ts'

const PAYLOADS = 3000

/** A log of a web shop: what the rules have to look at twice, and none of it a secret. */
function logOf(length: number, seed: number): string {
  const lines: string[] = []
  let size = 0
  for (let n = seed; size < length; n++) {
    const at = new Date(1_790_000_000_000 + n * 731).toISOString()
    const id = (n * 2_654_435_761).toString(16).padStart(12, '0')
    const line = [
      `${at} INFO  [exec-${n % 20}] c.e.orders.OrderController - GET /api/v1/orders/${n}?page=2 200 ${n % 300}ms`,
      `10.0.${n % 255}.7 - alice [16/Nov/2026:05:12:11 +0000] "GET /static/main.${id}.js HTTP/1.1" 200 ${n} "-" "Mozilla/5.0"`,
      `${at} WARN  user ${n} logged in from 10.0.4.${n % 255} session=${id} attempts=1`,
      `    at Object.handle (/srv/app/dist/server.js:${n % 900}:17)`,
      `level=info ts=${at} caller=main.go:${n % 400} msg="model answered" input_tokens=${n} output_tokens=58`,
      `[2026-11-16 05:12:33,182] {kafka.log.Log} - [partition=events-${n % 12}] rolled a segment at offset ${n * 97} in 4 ms`,
    ][n % 6] as string
    lines.push(line)
    size += line.length + 1
  }
  return lines.join('\n')
}

/** What nearly every payload is: a message, or the many small fields of a tool's answer. */
const CLEAN: Readonly<Record<string, readonly [number, (i: number) => JsonObject]>> = {
  'clean text': [4, (i) => ({ role: 'user', content: prose(1000, i) })],
  // What a tool reads from a file: names, numbers, ids and addresses in every line.
  'clean logs': [30, (i) => ({ role: 'tool', content: logOf(4000, i) })],
  'clean JSON of many fields': [
    5,
    (i) => ({
      id: randomUUID(),
      call: { name: 'search', arguments: { query: prose(60, i), limit: 10, offset: i, sort: 'desc' } },
      usage: { inputTokens: 412 + i, outputTokens: 58, cacheReadTokens: 0 },
      items: Array.from({ length: 8 }, (_, k) => ({
        index: k,
        title: prose(30, i + k),
        url: `https://example.org/${i}/${k}`,
        score: 0.5 + k / 100,
      })),
    }),
  ],
  // What a durable step records: 1.5 µs for each of them.
  'a small payload of a step': [
    5,
    (i) => ({
      stepId: randomUUID(),
      name: 'fetch-order',
      input: { url: `https://example.org/orders/${i}`, limit: 20, digest: 'b2c4'.repeat(10) },
      output: {
        orderId: 10000 + i,
        customer: { id: `cus_${i}`, name: 'Jane Miller', city: 'Bremen' },
        lines: [{ sku: 'A-1204', quantity: 2, price: 19.9 }],
      },
      startedAt: '2026-11-15T07:00:00.000Z',
      durationMs: 12 + i,
    }),
  ],
}

/** What a live page shows as it is written: how many characters wait, in the mean, when each comes with the three before. */
const LIVE: Readonly<Record<string, readonly [number, () => string]>> = {
  prose: [8, () => prose(8000, 1)],
  code: [
    16,
    () =>
      'export function readPage(db: Db, after: string, limit = 50): Page {\n  const rows = db.all(SELECT, after, limit)\n  return { rows, next: rows.at(-1)?.id ?? null }\n}\n\n'.repeat(
        40,
      ),
  ],
  'text about passwords': [
    12,
    () =>
      'Reset the password of the account, then set a new token and tell nobody about the secret. '.repeat(60),
  ],
}

function holdFigures(): Figure[] {
  const redactor = createRedactor({}, (secret) => secret.slice(0, 4))
  return Object.entries(LIVE).map(([name, [most, make]]) => {
    const text = make()
    const stream = redactor.stream()
    let [shown, waiting, pushes] = [0, 0, 0]
    for (let at = 0; at < text.length; at += 4, pushes++) {
      shown += stream.push(text.slice(at, at + 4)).length
      waiting += Math.min(text.length, at + 4) - shown
    }
    const mean = waiting / pushes
    return {
      name: `held back of ${name} in pieces`,
      ours: `${mean.toFixed(1)} characters in the mean`,
      beside: `promise ${most}`,
      ratio: mean,
      most,
      unit: 'characters',
    }
  })
}

/** Texts made against the rules, once and twice as long: what is linear takes twice the time. */
const HOSTILE = [
  'password=',
  'password is ',
  "apiKey', '",
  'cookie:a=b;',
  '$ token ',
  'machine a login ',
  '"text":"a1b2c3" ',
]

function hostileFigure(): Figure {
  const redactor = createRedactor({}, (secret) => secret.slice(0, 4))
  const secondsOf = (text: string): number => {
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 3; round++) {
      const before = process.cpuUsage()
      redactor.text(text)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / 1e6)
    }
    return best
  }
  const ratios = HOSTILE.map((piece) => {
    const text = piece.repeat(100_000 / piece.length)
    return secondsOf(text + text) / secondsOf(text)
  })
  const ratio = Math.max(...ratios)
  return {
    name: 'redaction of a hostile text twice as long',
    ours: `${ratio.toFixed(2)} times the time, the worst of ${HOSTILE.length}`,
    beside: 'linear is 2',
    ratio,
    most: 3,
    unit: 'times',
  }
}

/** Of texts by four authors that nobody who writes rules has read. */
function qualityFigures(): Figure[] {
  const { found, alarms, texts } = measureFifth()
  const hits = found.filter((each) => each.found).length
  const missed = found.length - hits
  return [
    {
      name: 'secrets that are missed in texts that nobody read',
      ours: `${missed} of ${found.length}: recall ${(hits / found.length).toFixed(3)}`,
      beside: 'promise 0.98',
      ratio: missed / found.length,
      most: 0.02,
    },
    {
      name: 'false alarms among what is taken out of them',
      ours: `${alarms.length} of ${texts} ordinary transcripts changed: precision ${(hits / (hits + alarms.length)).toFixed(3)}`,
      beside: 'promise 0.99',
      ratio: alarms.length / (hits + alarms.length),
      most: 0.01,
    },
  ]
}

export async function redactionFigures(): Promise<Figure[]> {
  const redactor = createRedactor({}, (secret) => secret.slice(0, 4))
  const figures: Figure[] = []
  for (const [name, [most, make]] of Object.entries(CLEAN)) {
    const payloads = Array.from({ length: PAYLOADS }, (_, i) => make(i))
    const texts = payloads.map((payload) => JSON.stringify(payload))
    const kilobytes = texts.reduce((sum, text) => sum + text.length, 0) / 1000
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 9; round++) {
      // Time of the processor: a neighbour that takes turns with us doubles the other one.
      const before = process.cpuUsage()
      for (let i = 0; i < PAYLOADS; i++) redactor.value(payloads[i] as JsonObject)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / 1e6)
    }
    const micros = (best * 1e6) / kilobytes
    figures.push({
      name: `redaction of ${name}`,
      ours: `${micros.toFixed(2)} µs per KB`,
      beside: `promise ${most} µs per KB`,
      ratio: micros,
      most,
      unit: 'µs/KB',
    })
  }
  return [...figures, ...holdFigures(), hostileFigure(), ...qualityFigures()]
}
