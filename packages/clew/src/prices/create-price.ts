import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { calcPrice as CalcPrice } from '@pydantic/genai-prices'
import { ClewError, type Price, roundAmount, type Usage } from '@clew/ledger'
import { createLookup, type PriceTable } from './price-table.ts'

const BUNDLED = '@pydantic/genai-prices'

/** Version of the bundled list, which the package does not export; a test compares it with the manifest. */
export const BUNDLED_VERSION = '0.1.8'

/**
 * Prices of model calls: the given table first, then the bundled list. The list (0.8 MB, about 30 ms) is loaded here and
 * not with the first price, because an append must not wait: events of one caller could overtake each other.
 */
export async function createPrice(prices: string | PriceTable | undefined): Promise<Price> {
  const own = prices === undefined ? undefined : openTable(prices)
  const { calcPrice } = await import('@pydantic/genai-prices')
  return (model, provider, usage, at) => {
    const amount = own?.lookup(model, provider, usage)
    const rounded = amount === undefined ? null : roundAmount(amount)
    if (own && rounded !== null) return { amount: rounded, source: 'prices', version: own.version }
    return bundledPrice(calcPrice, model, provider, usage, at)
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
  calcPrice: typeof CalcPrice,
  model: string,
  provider: string | undefined,
  usage: Usage,
  at: string,
): ReturnType<Price> {
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
