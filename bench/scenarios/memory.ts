import { join } from 'node:path'
import { foreignType, type Ledger, openLedger } from 'clew'
import { type Figure, inTempFolder, median, rate, seconds } from '../measure.ts'
import { makeText, WORDS } from '../words.ts'

const BATCH = 1000
const QUERIES = 200
const ROUNDS = 9
const WRITES = 2000

const COMMON =
  'the user said that she likes what the agent wrote about owls in the report of last week'.split(' ')

const text = (seed: number): string => makeText(seed, COMMON)

const item = (n: number) => ({
  layer: 'long' as const,
  scope: n % 2 === 0 ? 'workspace' : `user:${n % 1000}`,
  namespace: `facts/${n % 50}`,
  key: `fact-${n}`,
  value: { text: text(n), n },
  tags: n % 10 === 0 ? ['pinned'] : [],
})

/** Kinds of queries in turn: rare and common words, questions, phrases, beginnings, in all of it and in one scope. */
function queryOf(n: number): [query: string, scope: string | undefined] {
  const [rare, common] = [WORDS[(n * 37) % WORDS.length] ?? '', COMMON[n % COMMON.length] ?? '']
  const kinds: [string, string | undefined][] = [
    [rare, undefined],
    [common, undefined],
    [`what did the user say about ${rare} last week?`, undefined],
    [`"${common} ${COMMON[(n + 3) % COMMON.length]}"`, undefined],
    [`${rare.slice(0, 3)}*`, undefined],
    [`${rare} ${common}`, 'workspace'],
    [`which report about owls does ${rare} like`, `user:${(2 * n + 1) % 1000}`],
    [`${common} -${rare}`, 'workspace'],
  ]
  return kinds[n % kinds.length] ?? [rare, undefined]
}

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] as number

async function fill(ledger: Ledger, items: number): Promise<void> {
  for (let n = 0; n < items; n += BATCH)
    await Promise.all(Array.from({ length: BATCH }, (_, i) => ledger.memory.put(item(n + i))))
}

/** Puts beside bare appends of the same payloads, in turn, each waited for. */
async function putCost(ledger: Ledger): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const puts = await seconds(async () => {
      for (let n = 0; n < WRITES / ROUNDS; n++) await ledger.memory.put(item(round * WRITES + n))
    })
    const appends = await seconds(async () => {
      for (let n = 0; n < WRITES / ROUNDS; n++) {
        const { scope, namespace, key, value, tags } = item(round * WRITES + n)
        await ledger.record({
          eventType: foreignType('execution.note'),
          correlationId: `bare-${scope}`,
          payload: { layer: 'long', namespace, key, value, tags },
        })
      }
    })
    ratios.push(puts / appends)
  }
  return median(ratios)
}

export async function memoryFigures(items: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const ledger = await openLedger(`sqlite:${join(folder, 'memory.db')}`, { redact: false })
    await fill(ledger, items)
    const folding = await seconds(async () => void (await ledger.memory.list({ limit: 1 })))
    const times: number[] = []
    for (let n = 0; n < QUERIES; n++) {
      const [query, scope] = queryOf(n)
      const scopes = scope === undefined ? undefined : [{ layer: 'long', scope } as const]
      const began = performance.now()
      await ledger.memory.search(query, { scopes })
      times.push(performance.now() - began)
    }
    const contexts: number[] = []
    for (let n = 0; n < QUERIES / 4; n++) {
      const began = performance.now()
      await ledger.memory.context({ query: queryOf(n)[0], budgetTokens: 2000 })
      contexts.push(performance.now() - began)
    }
    const cost = await putCost(ledger)
    await ledger.close()
    return [
      {
        name: `memory: search over ${items.toLocaleString('en')} items, ${QUERIES} queries`,
        ours: `p95 ${p95(times).toFixed(1)} ms, median ${median(times).toFixed(1)} ms`,
        beside: `promise 20 ms; rows were folded at ${rate(items, folding)}`,
        ratio: p95(times),
        most: 20,
        unit: 'ms',
      },
      {
        name: 'memory: context of 2,000 tokens',
        ours: `p95 ${p95(contexts).toFixed(1)} ms`,
        beside: 'promise 40 ms',
        ratio: p95(contexts),
        most: 40,
        unit: 'ms',
      },
      {
        name: 'memory: put',
        ours: `${cost.toFixed(2)} × an append`,
        beside: 'a bare append of the same payload',
        ratio: cost,
        most: 2,
      },
    ]
  })
}
