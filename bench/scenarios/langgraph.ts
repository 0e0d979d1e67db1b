import type { Figure } from '../measure.ts'
import { installPeers, runPeer, type SaverFigures } from '../peers.ts'

const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

type Pair = Readonly<Record<'clew' | 'theirs', SaverFigures>>
type StoreName = 'SQLite' | 'PostgreSQL'

function figure(store: StoreName, name: string, pair: Pair, of: keyof SaverFigures, most: number): Figure {
  const show = of === 'bytes' ? megabytes : ms
  return {
    name: `LangGraph.js saver on ${store}, ${name}`,
    ours: show(pair.clew[of]),
    beside: `its own saver ${show(pair.theirs[of])}`,
    ratio: pair.clew[of] / pair.theirs[of],
    most,
  }
}

/** The same graphs with durability sync, our saver beside the framework's own. */
export async function langgraphFigures(): Promise<Figure[]> {
  const reason = await installPeers()
  return [...(await figuresOn('SQLite', reason)), ...(await figuresOn('PostgreSQL', reason))]
}

async function figuresOn(store: StoreName, reason: string | undefined): Promise<Figure[]> {
  const counts = store === 'SQLite' ? {} : { postgres: 1, steps: 300, rounds: 1 }
  const result = reason === undefined ? await runPeer('langgraph-savers', counts) : { leftOut: reason }
  if ('leftOut' in result) {
    process.stdout.write(`  left out: ${result.leftOut}\n`)
    return []
  }
  const { steps, turns, small, loop, separate } = result.figures
  return [
    figure(store, `${steps} steps of a counter: a step`, small, 'msPerStep', 1),
    figure(store, `${steps} steps of a counter: newest state`, small, 'getStateMs', 1),
    figure(store, `1 KB message a step, ${steps} steps: a step`, loop, 'msPerStep', 1 / 3),
    figure(store, `1 KB message a step, ${steps} steps: on disk`, loop, 'bytes', 1 / 100),
    figure(store, `1 KB message a step, ${steps} steps: newest state`, loop, 'getStateMs', 1),
    figure(store, `1 KB message a step, ${steps} steps: whole history`, loop, 'historyMs', 1 / 3),
    figure(
      store,
      `1 KB message a turn, ${turns} turns: a turn`,
      separate,
      'msPerStep',
      turns >= 1000 ? 1 / 3 : 1,
    ),
    // Theirs grows with the square of the turns: 1/200 at 1,000 of them.
    figure(store, `1 KB message a turn, ${turns} turns: on disk`, separate, 'bytes', 1 / (turns / 5)),
  ]
}
