import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as GenaiPrices from '@pydantic/genai-prices'
import { ClewError, type Price, roundAmount, type Usage } from '@clew/ledger'
import { createLookup, type PriceTable } from './price-table.ts'

const BUNDLED = '@pydantic/genai-prices'
// Not `import()`: an append is prepared without a pause, or events of one caller could overtake each other.
const loadNow = createRequire(import.meta.url)
let bundled: typeof GenaiPrices | undefined

/** Half a megabyte of prices: read when the first event needs one, and never by whoever records no usage. */
const loadBundled = (): typeof GenaiPrices => (bundled ??= loadNow(BUNDLED) as typeof GenaiPrices)

/** The package tells its version to nobody at run time; a test compares this with its manifest. */
export const BUNDLED_VERSION = '0.1.8'

/** Prices of model calls: one's own table first, then the bundled list. */
export function createPrice(prices: string | PriceTable | undefined): Price {
  const own = prices === undefined ? undefined : openTable(prices)
  return (model, provider, usage, at) => {
    const amount = own?.lookup(model, provider, usage)
    const rounded = amount === undefined ? null : roundAmount(amount)
    if (own && rounded !== null) return { amount: rounded, source: 'prices', version: own.version }
    return bundledPrice(model, provider, usage, at)
  }
}

function openTable(prices: string | PriceTable): {
  lookup: ReturnType<typeof createLookup>
  version: string
} {
  const text = typeof prices === 'string' ? readFileSync(prices, 'utf8') : JSON.stringify(prices)
  let table: unknown
  try {
    table = JSON.parse(text)
  } catch (cause) {
    throw new ClewError(
      'bad_option',
      `The price file ${typeof prices === 'string' ? prices : ''} is not JSON`,
      'Correct it, or leave the option out to use the bundled prices.',
      { option: 'prices' },
      cause,
    )
  }
  const lookup = createLookup(table)
  const version = (table as PriceTable).version
  return {
    lookup,
    version: typeof version === 'string' ? version : `sha256:${hash('sha256', text).slice(0, 12)}`,
  }
}

function bundledPrice(
  model: string,
  provider: string | undefined,
  usage: Usage,
  at: string,
): ReturnType<Price> {
  const { calcPrice } = loadBundled()
  const tokens = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  }
  const slash = model.indexOf('/')
  const ways: [string, string | undefined][] = [[model, provider]]
  // Gateways write the provider before the model.
  if (provider === undefined && slash > 0) ways.push([model.slice(slash + 1), model.slice(0, slash)])
  for (const [name, providerId] of ways) {
    try {
      const found = calcPrice(tokens, name, { ...(providerId && { providerId }), timestamp: new Date(at) })
      const amount = found && roundAmount(found.total_price)
      if (amount !== null) return { amount, source: BUNDLED, version: BUNDLED_VERSION }
    } catch {
      // Usage that contradicts itself has no price, and no price is an answer.
    }
  }
  return null
}
