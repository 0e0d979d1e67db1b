/**
 * Money is added up in whole nano-dollars: sums of decimal prices neither drift nor depend on their order. A run, a
 * day or a workspace would have to cost nine million dollars before a number could not hold it any more.
 */
const NANO = 1e9
/** Upper limit of one call's cost. A higher amount is treated as a recording mistake. */
const MAX_AMOUNT = 1e6

/** Whole nano-dollars of an amount; undefined when it is no amount at all. */
export function toNano(amount: unknown): number | undefined {
  if (typeof amount !== 'number' || !(Math.abs(amount) <= MAX_AMOUNT)) return undefined
  // Adding 0 turns -0 into 0, which JSON and equality treat alike.
  return Math.round(amount * NANO) + 0
}

export const fromNano = (nano: number): number => nano / NANO

/** The amount as it is frozen on an event: no digits below a nano-dollar. */
export function roundAmount(amount: number): number | null {
  const nano = toNano(amount)
  return nano === undefined ? null : fromNano(nano)
}

/** The sum of two amounts, exact to the nano-dollar. */
export const addAmounts = (a: number, b: number): number =>
  fromNano(Math.round(a * NANO) + Math.round(b * NANO))
