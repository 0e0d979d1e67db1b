import { isObject, type JsonObject } from '../json.ts'
import { toNano } from './money.ts'
import { normaliseUsage, storedUsage, type Usage } from './usage.ts'

/** Cost of a call as stored on its event: the amount at the price of that day, with source and edition of the price list. */
export interface Cost {
  /** Null when the price is unknown; never 0 for that. */
  readonly amount: number | null
  readonly currency: string
  readonly source: string | null
  readonly version: string | null
}

/** A price list: what these tokens of this model cost at that time; null when it does not know the model. */
export type Price = (
  model: string,
  provider: string | undefined,
  usage: Usage,
  at: string,
) => { readonly amount: number; readonly source: string; readonly version: string } | null

export interface PricedPayload {
  readonly payload: JsonObject
  readonly text: string
}

/**
 * Freezes usage and cost on a payload that has a `usage` (V7). The usage gets Clew's names, the cost is looked up
 * when there is a model and the producer brought none of its own. What was passed is left alone.
 */
export function priceValues(
  payload: JsonObject,
  text: string,
  at: string,
  price: Price | undefined,
): PricedPayload {
  const raw = payload['usage']
  const usage = normaliseUsage(raw)
  if (!usage) return { payload, text }
  const { model, provider } = payload
  const stored = storedUsage(raw as JsonObject, usage)
  const wantsCost = price !== undefined && typeof model === 'string' && payload['cost'] === undefined
  if (stored === raw && !wantsCost) return { payload, text }
  const next: JsonObject = { ...payload, usage: stored }
  if (!wantsCost) return { payload: next, text: JSON.stringify(next) }
  const found = price(model, typeof provider === 'string' ? provider : undefined, usage, at)
  const cost: JsonObject = found
    ? { amount: found.amount, currency: 'USD', source: found.source, version: found.version }
    : { amount: null, currency: 'USD', source: null, version: null }
  next['cost'] = cost
  // The cost stands last, so the text of a large payload need not be made again.
  const appended = stored === raw ? `${text.slice(0, -1)},"cost":${JSON.stringify(cost)}}` : undefined
  return { payload: next, text: appended ?? JSON.stringify(next) }
}

/** The money that an event reports, whichever tool reported it; `nano` is undefined if the event has no price. */
export function costOf(payload: Readonly<Record<string, unknown>>): { nano?: number; currency: string } {
  const { cost } = payload
  const amount = isObject(cost) ? cost['amount'] : cost
  const currency = isObject(cost) && typeof cost['currency'] === 'string' ? cost['currency'] : 'USD'
  const nano = toNano(amount)
  return nano === undefined ? { currency } : { nano, currency: currency.toUpperCase() }
}
