import { agent, type Run } from 'clew'
import type { Dice } from './dice.ts'

export interface Item {
  readonly name: string
  readonly price: number
}

/** What one seed makes: names of tools and fields, items and prices. A run and its sibling share it. */
export interface World {
  readonly names: {
    readonly recall: string
    readonly price: string
    readonly rate: string
    readonly send: string
    readonly field: string
    readonly team: string
    readonly other: string
  }
  readonly customer: string
  readonly items: readonly Item[]
  readonly limit: number
  readonly rate: number
  readonly prompt: string
  readonly expected: number
}

export function createWorld(dice: Dice): World {
  const base = dice.between(40, 400)
  const items = Array.from({ length: dice.between(4, 7) }, () => ({
    name: dice.word(),
    price: base + dice.between(-20, 60) + dice.between(0, 99) / 100,
  }))
  const rate = dice.pick([0.85, 0.92, 1.07, 1.21])
  const team = dice.pick(['billing', 'claims', 'orders'])
  return {
    names: {
      recall: dice.pick(['recall_customer', 'memory_lookup', 'read_notes']),
      price: dice.pick(['get_price', 'fetch_quote', 'lookup_fee']),
      rate: dice.pick(['fetch_rate', 'get_exchange', 'load_tariff']),
      send: dice.pick(['send_letter', 'post_message', 'submit_order']),
      field: dice.pick(['price', 'fee', 'quote']),
      team,
      other: dice.pick(['marketing', 'archive', 'press'] as const),
    },
    customer: dice.word(),
    items,
    limit: Math.round(base * items.length * 4),
    rate,
    prompt: `You are a clerk of ${dice.word()}. Quote each item of the customer, and hand over to ${team}.`,
    expected: toCents(items.reduce((sum, { price }) => sum + price, 0) * rate),
  }
}

const toCents = (amount: number): number => Math.round(amount * 100) / 100

/** Answers of the world outside, which a fault replaces one of. */
export interface Tools {
  recall(): unknown
  plan(prompt: string): { readonly text: string; readonly decision: string }
  price(item: Item, at: number, attempt: number): unknown
  rate(): unknown
  balances: 'one after the other' | 'at once'
  write(total: number): unknown
  readonly planTokens?: number
}

export interface DeskOptions {
  readonly prompt: string
  readonly isApproved: (total: number, limit: number) => boolean
  readonly handTo: string
  readonly cache: boolean
  readonly asks: boolean
  readonly tries: number
}

/** A clerk with tools: recalls a customer, plans, prices items, adds up, decides, hands over, books, writes and checks. */
export const createDesk = (world: World, tools: Tools, options: DeskOptions, dice: Dice) =>
  agent('desk', async (run, { customer, items }: { customer: string; items: readonly string[] }) => {
    const { names } = world
    const noise = () => ({ request_id: dice.hex(16), took_ms: dice.between(3, 900) })
    run.say({ role: 'user', content: `Please quote ${items.length} items for ${customer}.` })
    const notes = await run.effect(names.recall, { customer }, () => tools.recall() as never)
    const plan = await run.effect('model', { prompt: options.prompt, customer, notes }, (_, call) => {
      call.usage({ model: 'clerk-1', inputTokens: tools.planTokens ?? 420, outputTokens: 60 })
      return { ...tools.plan(options.prompt), finish_reason: 'stop' }
    })
    const quotes: unknown[] = []
    for (const [at, item] of world.items.entries())
      quotes.push(
        await run.effect(
          names.price,
          { item: item.name, action: plan.decision },
          (_, { attempt }) => ({ ...(tools.price(item, at, attempt) as object), ...noise() }),
          { retry: { tries: options.tries, delayMs: 1 } },
        ),
      )
    const { rate } = (await run.effect(names.rate, { pair: 'EUR/USD' }, () => tools.rate() as never, {
      cache: options.cache,
    })) as { rate: number }
    const total = await run.step('total', { quotes, rate }, ({ quotes: given, rate: by }) =>
      toCents(given.reduce((sum: number, quote) => sum + priceOf(quote, names.field), 0) * by),
    )
    const limit = limitOf(notes)
    const verdict = options.isApproved(total, limit) ? 'approve' : 'review'
    run.decide(verdict, `${total} against ${limit}`)
    if (options.asks) await run.interrupt({ question: `Approve ${total}?`, options: ['yes', 'no'] })
    run.handoff(options.handTo, { reason: verdict })
    const balance = await book(run, tools.balances)
    const letter = await run.effect('write', { total, customer }, (_, call) => {
      call.usage({ model: 'clerk-1', inputTokens: 380, outputTokens: 90 })
      return tools.write(total) as { text: string; finish_reason: string }
    })
    await run.step(
      'check',
      { total, balance, letter: letter.text, team: options.handTo, rate, verdict, action: plan.decision },
      (found) => {
        if (found.action !== 'quote')
          throw new Error(`the customer asked for quotes, and it did ${found.action}`)
        if (found.verdict === 'approve' && found.total > limit)
          throw new Error(`${found.total} was approved over the limit`)
        if (found.team !== names.team) throw new Error(`${found.team} does not handle quotes`)
        if (found.rate !== world.rate) throw new Error(`the rate ${found.rate} is not that of today`)
        if (found.balance !== 70)
          throw new Error(`the balance is ${found.balance} after both bookings, not 70`)
        if (!found.letter.endsWith('.')) throw new Error('the letter has no end')
        if (found.total !== world.expected)
          throw new Error(`the total ${found.total} does not match the books`)
      },
    )
    await run.effect(names.send, { customer, letter: letter.text }, () => ({ sent: true, ...noise() }))
    return { total, letter: letter.text }
  })

function priceOf(quote: unknown, field: string): number {
  const price: unknown = Reflect.get(quote as object, field)
  if (typeof price !== 'number') throw new TypeError(`${field} is not a number`)
  return price
}

function limitOf(notes: unknown): number {
  const limit: unknown = (notes as { limit?: unknown } | null)?.limit
  if (typeof limit !== 'number') throw new TypeError('there is no limit for the customer')
  return limit
}

/** Two bookings of one account; at once, both read it before either writes. */
async function book(run: Run, how: Tools['balances']): Promise<number> {
  let balance = 100
  const read = () => run.effect('read_balance', { account: 'main' }, () => ({ balance }))
  const write = (value: number) =>
    run.effect('write_balance', { account: 'main', value }, () => ({ balance: (balance = value) }))
  if (how === 'at once') {
    const [first, second] = await Promise.all([read(), read()])
    await write(first.balance - 10)
    return (await write(second.balance - 20)).balance
  }
  await write((await read()).balance - 10)
  return (await write((await read()).balance - 20)).balance
}
