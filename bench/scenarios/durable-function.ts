import { agent, type Ledger } from 'clew'
import { type Figure, median, prose } from '../measure.ts'
import { best, micro, onFile } from '../on-file.ts'
import { peerResults } from './peers.ts'

const STEPS = 1000

/** A run that makes as many steps as it is asked for and says how long the last one took. */
function openPages(ledger: Ledger): { step(count: number): Promise<number>; end(): Promise<void> } {
  const page = prose(10_240, 1)
  let asked = Promise.withResolvers<number>()
  let told = Promise.withResolvers<number>()
  const wide = agent('wide', async (run) => {
    for (let made = 0; ; ) {
      const count = await asked.promise
      if (count === 0) return
      asked = Promise.withResolvers()
      let start = 0
      for (const end = made + count; made < end; made++) {
        start = performance.now()
        await run.step('page', made, (n) => `${n} ${page}`)
      }
      told.resolve((performance.now() - start) * 1000)
    }
  })
  const ended = wide.start(ledger, null)
  return {
    step(count) {
      told = Promise.withResolvers()
      asked.resolve(count)
      return told.promise
    },
    async end() {
      asked.resolve(0)
      const { status } = await ended
      if (status !== 'completed') throw new Error(`the pages came out ${status}`)
    },
  }
}

/** The 100th page of a run and the 2,000th of another, in turn: what slows the machine down is in both. */
const pageGrowth = (): Promise<{ early: number; late: number }> =>
  onFile((long) =>
    onFile(async (short) => {
      const [old, young] = [openPages(long), openPages(short)]
      await old.step(1900)
      await young.step(50)
      const times: { early: number[]; late: number[] } = { early: [], late: [] }
      for (let i = 0; i < 100; i++) {
        times.early.push(await young.step(1))
        times.late.push(await old.step(1))
      }
      await old.end()
      await young.end()
      return { early: median(times.early), late: median(times.late) }
    }),
  )

export async function functionFigures(): Promise<Figure[]> {
  const { dbos, mastra } = await peerResults()
  const count = agent('count', async (run, steps: number) => {
    let value = 0
    for (let i = 0; i < steps; i++) value = await run.step('add', value, (before) => before + 1)
    return value
  })
  const time = (sync: 'normal' | 'full'): Promise<number> =>
    onFile(async (ledger) => ((await best(4, () => count.start(ledger, STEPS))) * 1e3) / STEPS, sync)
  const normal = await time('normal')
  const full = await time('full')
  const grown = await pageGrowth()
  const peer = dbos ? `DBOS on PostgreSQL ${dbos.msPerStep.toFixed(2)} ms` : 'DBOS was left out'
  return [
    {
      name: 'durable function, 1,000 steps',
      ours: `${(normal * 1000).toFixed(1)} µs a step`,
      beside: 'promise 0.15 ms',
      ratio: normal,
      most: 0.15,
      unit: 'ms',
    },
    ...(dbos
      ? [
          {
            name: 'durable function against DBOS, ours on disk at each commit (FULL)',
            ours: `${full.toFixed(3)} ms`,
            beside: peer,
            ratio: full / dbos.msPerStep,
            most: 0.1 * 4,
          },
          {
            name: 'durable function against DBOS, ours at its default (NORMAL)',
            ours: `${normal.toFixed(3)} ms`,
            beside: peer,
            ratio: normal / dbos.msPerStep,
            most: 0.1,
          },
        ]
      : []),
    {
      name: 'durable function, 2,000 outputs of 10 KB: the last against the 100th',
      ours: micro(grown.late),
      beside: `${micro(grown.early)}${mastra ? `; Mastra ${mastra.msPerStepAtEnd.toFixed(0)} ms at ${mastra.steps}` : ''}`,
      ratio: grown.late / grown.early,
      most: 1.3,
    },
  ]
}
