import { randomUUID } from 'node:crypto'
import { createRedactor, type JsonObject } from '@clew/ledger'
import { type Figure, prose } from '../measure.ts'

const PAYLOADS = 3000

/** What nearly every payload is: a message, or the many small fields of a tool's answer. */
const CLEAN: Readonly<Record<string, readonly [number, (i: number) => JsonObject]>> = {
  'clean text': [4, (i) => ({ role: 'user', content: prose(1000, i) })],
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
  return figures
}
