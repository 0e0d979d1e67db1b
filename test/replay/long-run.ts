import { type Agent, agent } from '../../packages/runtime/src/index.ts'

/** So many steps, half of them its own computation, hundreds at a time so that recording them does not take long. */
export const longRun = (steps: number): Agent<null, number> =>
  agent('long', async (run) => {
    const AT_ONCE = 500
    let sum = 0
    for (let done = 0; done < steps; done += AT_ONCE) {
      const all = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) => {
          const input = { n: done + at, text: `what to do at ${done + at}` }
          return at % 2 === 0
            ? run.step('think', input, ({ n }) => ({ n: n % 7 }))
            : run.effect('look', input, ({ n }) => ({ n: n % 5 }))
        }),
      )
      for (const { n } of all) sum += n
    }
    return sum
  })
