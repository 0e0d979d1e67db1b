import { ClewError, type Usage } from '@clew/ledger'

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output?: number | undefined
  /** Default: as `input`. */
  readonly cacheRead?: number | undefined
  /** Default: as `input`. */
  readonly cacheWrite?: number | undefined
}

/**
 * Prices of one's own. A key is a model, `provider/model`, or the beginning of either with a `*` at its end; the most
 * exact one counts. What is not in it is looked up in the bundled list.
 */
export interface PriceTable {
  /** Which edition this is; stands on every event that was priced by it. */
  readonly version?: string | undefined
  readonly models: Readonly<Record<string, ModelPrice>>
}

interface Tier {
  readonly above: number
  readonly input?: number
  readonly output?: number
}

interface Entry extends ModelPrice {
  readonly tiers: readonly Tier[]
}

export type Lookup = (model: string, provider: string | undefined, usage: Usage) => number | undefined

/** Finds prices in a table of Clew's form or of LiteLLM's; undefined for a model that is not in it. */
export function createLookup(table: unknown): Lookup {
  const exact = new Map<string, Entry>()
  const beginnings: [string, Entry][] = []
  for (const [key, entry] of entriesOf(table)) {
    if (key.endsWith('*')) beginnings.push([key.slice(0, -1), entry])
    else exact.set(key, entry)
  }
  beginnings.sort(([a], [b]) => b.length - a.length)
  return (model, provider, usage) => {
    const names = provider === undefined ? [model] : [`${provider}/${model}`, model]
    const entry =
      names.map((name) => exact.get(name)).find((each) => each !== undefined) ??
      beginnings.find(([start]) => names.some((name) => name.startsWith(start)))?.[1]
    return entry && amountOf(entry, usage)
  }
}

function amountOf(entry: Entry, usage: Usage): number | undefined {
  const tier = entry.tiers.findLast(({ above }) => usage.inputTokens > above)
  const input = tier?.input ?? entry.input
  const output = tier?.output ?? entry.output
  if (output === undefined && usage.outputTokens > 0) return undefined
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const dollarsByMillion =
    Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens) * input +
    cacheReadTokens * (entry.cacheRead ?? input) +
    cacheWriteTokens * (entry.cacheWrite ?? input) +
    outputTokens * (output ?? 0)
  return dollarsByMillion / 1e6
}

function* entriesOf(table: unknown): Generator<[string, Entry]> {
  if (!isRecord(table)) throw badTable('it is not an object')
  const models = table['models']
  if (isRecord(models)) {
    for (const [key, price] of Object.entries(models)) yield [key, ownEntry(key, price)]
    return
  }
  let found = 0
  for (const [key, price] of Object.entries(table)) {
    const entry = key === 'sample_spec' ? undefined : foreignEntry(price)
    if (!entry) continue
    found++
    yield [key, entry]
  }
  if (found === 0) throw badTable('it has neither `models` nor entries with `input_cost_per_token`')
}

function ownEntry(key: string, price: unknown): Entry {
  const number = (name: string): number | undefined => {
    const value = isRecord(price) ? price[name] : undefined
    if (value === undefined || isPrice(value)) return value
    throw badTable(`${name} of ${key} is not a price in dollars per million tokens`)
  }
  const input = number('input')
  if (input === undefined) throw badTable(`${key} has no price for input`)
  return {
    input,
    output: number('output'),
    cacheRead: number('cacheRead'),
    cacheWrite: number('cacheWrite'),
    tiers: [],
  }
}

/** LiteLLM gives dollars per token; entries that are not priced by tokens are passed over. */
function foreignEntry(price: unknown): Entry | undefined {
  if (!isRecord(price)) return undefined
  const million = (name: string): number | undefined => {
    const value = price[name]
    return isPrice(value) ? value * 1e6 : undefined
  }
  const input = million('input_cost_per_token')
  if (input === undefined) return undefined
  const tiers = new Map<number, { input?: number; output?: number }>()
  for (const name of Object.keys(price)) {
    const [, side, thousands] = /^(input|output)_cost_per_token_above_(\d+)k_tokens$/.exec(name) ?? []
    const value = million(name)
    if ((side !== 'input' && side !== 'output') || value === undefined) continue
    const above = Number(thousands) * 1000
    tiers.set(above, { ...tiers.get(above), [side]: value })
  }
  return {
    input,
    output: million('output_cost_per_token'),
    cacheRead: million('cache_read_input_token_cost'),
    cacheWrite: million('cache_creation_input_token_cost'),
    tiers: [...tiers].map(([above, tier]) => ({ above, ...tier })).toSorted((a, b) => a.above - b.above),
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isPrice = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

function badTable(why: string): ClewError {
  return new ClewError(
    'bad_option',
    `The price table cannot be used: ${why}`,
    'Write { "models": { "my-model": { "input": 2.5, "output": 10 } } } in dollars per million tokens.',
    { option: 'prices' },
  )
}
