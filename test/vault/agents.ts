import { readFileSync } from 'node:fs'
import { agent, type Agent, last, type Run, START, StateGraph } from '@clew/runtime'
import type { Ledger } from 'clew'

/** What the agents meet in the world, and what they tell of it. */
export interface World {
  /** A file with a secret in it. */
  readonly envFile: string
  /** Answers with a secret. */
  readonly url: string
  /** Lives that end here never come back from it. */
  hold(): Promise<string> | string
  /** Told what the code has in hand after it. */
  saw(value: unknown): void
}

const readEnv = (run: Run, { envFile }: World): Promise<string> =>
  run.effect('read file', envFile.split('/').at(-1), () => readFileSync(envFile, 'utf8'))

const parse = (text: string): string => /^API_KEY=(.*)$/m.exec(text)?.[1] ?? ''

/** Reads a file, cuts the key out of it, is caught by whatever `hold` does, and uses the key. */
export const envAgent = (world: World): Agent<null, number> =>
  agent('env', async (run) => {
    const key = await run.step('parse', null, async (_, inner) => parse(await readEnv(inner, world)))
    await run.effect('hold', null, () => world.hold())
    world.saw(key)
    return run.effect('use', { key }, (input) => input.key.length)
  })

/** The same as a graph: the key is a channel of its state. */
export const envGraph = (world: World, ledger: Ledger) =>
  new StateGraph({ key: last(''), size: last(0) })
    .addNode('read', async (_state, run) => ({ key: parse(await readEnv(run, world)) }))
    .addNode('hold', async ({ key }, run) => {
      await run.effect('hold', null, () => world.hold())
      world.saw(key)
      return { size: key.length }
    })
    .addNode('use', async ({ key }) => {
      world.saw(key)
      return { size: key.length }
    })
    .addEdge(START, 'read')
    .addEdge('read', 'hold')
    .addEdge('hold', 'use')
    .compile({ name: 'env graph', checkpointer: ledger })

/** Gets the key from a server, on tape. */
export const fetchAgent = (world: World): Agent<null, number> =>
  agent(
    'fetch',
    async (run) => {
      const { key, pem } = (await (await fetch(world.url)).json()) as { key: string; pem: string }
      await run.effect('hold', null, () => world.hold())
      world.saw({ key, pem })
      return key.length
    },
    { recordFetch: true },
  )
