import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { agent, openLedger } from 'clew'
import { type Figure, inTempFolder, median, seconds } from '../measure.ts'

const TOKENS = 40
const GAP_MS = 10
const ROUNDS = 15
const QUICK_ROUNDS = 200

const PROMPT = JSON.stringify({
  model: 'small',
  stream: true,
  messages: [{ role: 'user', content: 'the owl '.repeat(500) }],
})

/** As a library reads it: each chunk decoded, each event parsed. */
async function ask(url: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: PROMPT,
  })
  const decoder = new TextDecoder()
  let rest = ''
  let words = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: {') && JSON.parse(line.slice(6))) words++
  }
  if (words !== TOKENS) throw new Error(`the server said ${words} words`)
  return words
}

const askUntaped = agent('untaped', async (_run, url: string) => ask(url))

/** What the tape adds to a streamed model call, in a run on SQLite; the run without a tape stands beside it. */
export async function tapeFigures(): Promise<Figure[]> {
  const askTaped = agent('taped', async (_run, url: string) => ask(url), { recordFetch: true })
  const server = new Worker(new URL('../model-server.ts', import.meta.url), {
    execArgv: [],
    workerData: { tokens: TOKENS, gapMs: GAP_MS },
  })
  try {
    const [port] = (await once(server, 'message')) as [number]
    return await inTempFolder(async (folder) => {
      const ledger = await openLedger(`sqlite:${join(folder, 'tape.db')}`)
      const timed = (isTaped: boolean, path: string): Promise<number> =>
        seconds(async () => {
          const url = `http://127.0.0.1:${port}${path}`
          const { status } = await (isTaped ? askTaped : askUntaped).start(ledger, url)
          if (status !== 'completed') throw new Error(`the run came out ${status}`)
        })
      async function both(path: string, rounds: number): Promise<{ taped: number; untaped: number }> {
        const times: Record<'taped' | 'untaped', number[]> = { taped: [], untaped: [] }
        for (let round = -2; round < rounds; round++) {
          const [untaped, taped] = [await timed(false, path), await timed(true, path)]
          if (round < 0) continue
          times.untaped.push(untaped)
          times.taped.push(taped)
        }
        return { taped: median(times.taped), untaped: median(times.untaped) }
      }
      try {
        const slow = await both('/slow', ROUNDS)
        const quick = await both('/quick', QUICK_ROUNDS)
        const ms = (time: number): string => `${(time * 1000).toFixed(1)} ms`
        return [
          {
            name: `tape, a model call of ${TOKENS} tokens streamed by a local server`,
            ours: ms(slow.taped),
            beside: `the same run without a tape ${ms(slow.untaped)}`,
            ratio: slow.taped / slow.untaped,
            most: 1.05,
          },
          {
            name: 'tape, what it adds to a call, chunks without a pause',
            ours: `${((quick.taped - quick.untaped) * 1000).toFixed(2)} ms`,
            beside: `taped ${ms(quick.taped)}, without ${ms(quick.untaped)}; a twentieth of a call of 200 ms is 10 ms`,
            ratio: (quick.taped - quick.untaped) * 1000,
            most: 10,
            unit: 'ms',
          },
        ]
      } finally {
        await ledger.close()
      }
    })
  } finally {
    await server.terminate()
  }
}
