import { agent, type Ledger, openLedger, replay } from 'clew'
import { type Figure, micros } from '../measure.ts'

const STEPS = 10_000
const ROUNDS = 5
/** Temporal replays at about 3 ms an activity, DBOS at 0.55 ms a step. */
const MOST_MICROS = 20

interface Calls {
  compute(input: { n: number }): Promise<{ n: number }>
  look(input: { n: number }): Promise<{ n: number }>
}

/** What the agent's own code does, with whoever answers its calls. */
async function work(calls: Calls): Promise<number> {
  let sum = 0
  for (let n = 0; n < STEPS; n += 2) {
    sum += (await calls.compute({ n })).n
    sum += (await calls.look({ n })).n
  }
  return sum
}

const add = ({ n }: { n: number }): { n: number } => ({ n: n + 1 })
const bare: Calls = { compute: async (input) => add(input), look: async (input) => add(input) }

const looping = agent('looping', (run) =>
  work({
    compute: (input) => run.step('compute', input, add),
    look: (input) => run.effect('look', input, add),
  }),
)

/** Processor time of this process, which others on the machine do not count towards. */
async function cpuSeconds(task: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

async function best(task: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) least = Math.min(least, await cpuSeconds(task))
  return least
}

async function replayed(ledger: Ledger, runId: string): Promise<void> {
  const { verdict } = await replay(looping, { ledger, runId })
  if (verdict !== 'identical') throw new Error(`the replay ${verdict}`)
}

export async function replayFigures(): Promise<Figure[]> {
  const ledger = await openLedger('memory:')
  const { runId } = await looping.start(ledger, null)
  const floor = await best(() => work(bare))
  const load = await best(() => Array.fromAsync(ledger.read(runId)))
  const ours = await best(() => replayed(ledger, runId))
  await ledger.close()
  const over = ((ours - floor) * 1e6) / STEPS
  return [
    {
      name: `${STEPS.toLocaleString('en')} steps re-executed from memory, over the bare code`,
      ours: `${micros(ours, STEPS)} a step, of which ${micros(load, STEPS)} reading`,
      beside: `bare code ${micros(floor, STEPS)}`,
      ratio: over,
      most: MOST_MICROS,
      unit: 'µs a step',
    },
  ]
}
