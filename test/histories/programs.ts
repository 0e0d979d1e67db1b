import type { JsonObject } from '@clew/ledger'
import type { Agent, EffectFn } from '../catalogue/agent.ts'

/** The agents whose runs are kept in this folder. On replay no effect is called, so none has anything to call. */
const outside: EffectFn = () => Promise.reject(new Error('a replay reached the world outside'))

const countdown: Agent = {
  name: 'countdown',
  async fn(run, input) {
    const at = run.now()
    let { n } = input as { n: number }
    while (n > 0) {
      const next = await run.step('tick', { n }, async (_, given) => ({ n: (given as { n: number }).n - 1 }))
      n = (next as { n: number }).n
    }
    return { n, at }
  },
}

const prices: Agent = {
  name: 'prices',
  async fn(run, input) {
    const { shops } = input as { shops: string[] }
    const quotes = await Promise.all(shops.map((shop) => run.effect('quote', { shop }, outside)))
    return run.step('best', quotes, async (_, given) => ({
      price: Math.min(...(given as { price: number }[]).map(({ price }) => price)),
    }))
  },
}

const mirror: Agent = {
  name: 'mirror',
  async fn(run, input) {
    const { file } = input as { file: string }
    const won = await run.step('fastest', { file }, (inner) =>
      Promise.race(['eu', 'us'].map((from) => inner.effect('fetch', { file, from }, outside))),
    )
    const { from, text } = won as { from: string; text: string }
    await run.effect('note', { from }, outside)
    return { text }
  },
}

const digest: Agent = {
  name: 'digest',
  async fn(run, input) {
    const { files } = input as { files: string[] }
    return Promise.all(files.map((file) => run.effect('summarise', { file }, outside, { key: file, tries: 2 })))
  },
}

const publish: Agent = {
  name: 'publish',
  async fn(run, input) {
    const draft = await run.effect('draft', input, outside)
    const answer = await run.interrupt({ question: 'Publish?', options: ['yes', 'no'] })
    if (answer !== 'yes') return { published: null }
    const page = await run.effect('publish', draft, outside, { safety: 'write' })
    return { published: (page as { url: string }).url }
  },
}

const remind: Agent = {
  name: 'remind',
  async fn(run, input) {
    const desk = await run.effect('search', input, outside)
    return run.effect('send', desk, outside, { safety: 'write' })
  },
}

const hotel: Agent = {
  name: 'hotel',
  fn: (run, input) => run.effect('reserve', input, outside, { safety: 'write' }),
}

const trip: Agent = {
  name: 'trip',
  async fn(run, input) {
    const booked = await run.child('book', hotel, input)
    return { ...(input as JsonObject), ...(booked as JsonObject) }
  },
}

export const AGENTS: ReadonlyMap<string, Agent> = new Map(
  [countdown, prices, mirror, digest, publish, remind, hotel, trip].map((agent) => [agent.name, agent]),
)
