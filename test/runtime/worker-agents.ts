import { appendFileSync } from 'node:fs'
import { agent } from 'clew'

/** What really happened, whoever did it. */
const outside = process.env['CLEW_TEST_OUTSIDE'] ?? ''
const note = (what: string): void => appendFileSync(outside, `${process.pid} ${what}\n`)

/** Short work in several steps, some beside each other. */
export const short = agent('short', async (run, n: number) => {
  await run.interrupt('Go?')
  const parts = await Promise.all(
    [1, 2, 3].map((part) =>
      run.effect('part', { n, part }, async () => {
        note(`part ${run.runId} ${part}`)
        await new Promise((resolve) => setTimeout(resolve, 15))
        return part * n
      }),
    ),
  )
  const sum = await run.step('sum', { parts }, () => parts.reduce((a, b) => a + b, 0))
  return run.effect('tell', { sum }, () => {
    note(`tell ${run.runId}`)
    return sum
  })
})

/** Hangs in its second step, as often as it is told to; the first one must never be done again. */
export const hangs = agent('hangs', async (run, times: number) => {
  await run.interrupt('Go?')
  await run.effect('once', {}, () => note(`once ${run.runId}`))
  return run.effect('hang', {}, async (_, { attempt, signal }) => {
    note(`hang ${run.runId} ${attempt}`)
    if (attempt > times) return attempt
    return new Promise<never>((_resolve, reject) => {
      // Keeps the process alive, as a socket would.
      setTimeout(() => {}, 600_000)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  })
})

/** Takes its process down, whoever runs it. */
export const poison = agent('poison', async (run) => {
  await run.interrupt('Go?')
  return run.effect('dies', {}, () => {
    note(`dies ${run.runId}`)
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  })
})

/** Submitted work: one effect, which says when it was done. */
export const quick = agent('quick', async (run, input: { n: number }) =>
  run.effect('work', input, async ({ n }) => {
    note(`work ${run.runId}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return n
  }),
)
