/** A clerk that quotes goods: prices from outside, a discount from its input, and a check at the end. */
import { agent } from 'clew'

export interface Order {
  readonly customer: string
  readonly goods: readonly string[]
  /** A share of the sum: 0.1 is ten percent. */
  readonly discount: number
}

const PRICES: Readonly<Record<string, number>> = { lantern: 40, compass: 25, rope: 12 }

export const quote = agent('quote', async (run, order: Order) => {
  let sum = 0
  for (const name of order.goods) {
    const { price } = await run.effect('get_price', { name }, ({ name: asked }) => ({
      price: PRICES[asked] ?? 0,
    }))
    sum += price
  }
  const total = await run.step(
    'reduce',
    { sum, discount: order.discount },
    (given) => Math.round(given.sum * (1 - given.discount) * 100) / 100,
  )
  await run.step('check', { total }, (given) => {
    if (given.total <= 0) throw new Error(`the total ${given.total} is no price`)
  })
  return { customer: order.customer, total }
})
