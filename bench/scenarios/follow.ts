import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from 'clew'
import { type Figure, inTempFolder, median } from '../measure.ts'

const EVENTS = 200
const WRITER = new URL('../follow-writer.ts', import.meta.url).pathname

/** Another process commits and writes the time into the event; delivery is when the follower here has it. */
export async function followFigures(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const url = `sqlite:${join(folder, 'follow.db')}`
    const ledger = await openLedger(url)
    const delays: number[] = []
    const done = new AbortController()
    const following = (async () => {
      for await (const event of ledger.follow({ signal: done.signal })) {
        delays.push(Date.now() - Date.parse(event.ledger.recordedAt))
        if (delays.length === EVENTS) return
      }
    })()
    await sleep(100)
    const writer = spawn(process.execPath, ['--conditions=@clew/source', WRITER, url, String(EVENTS)], {
      stdio: 'inherit',
    })
    const [code] = (await once(writer, 'exit')) as [number]
    if (code !== 0) throw new Error('the writer of the follow scenario failed')
    await Promise.race([following, sleep(5000).then(() => done.abort())])
    await ledger.close()
    if (delays.length !== EVENTS) throw new Error(`followed ${delays.length} of ${EVENTS} events`)
    const p50 = median(delays)
    return [
      {
        name: 'follow across processes, commit to delivery',
        ours: `p50 ${p50} ms, p99 ${delays.toSorted((a, b) => a - b)[Math.floor(EVENTS * 0.99)]} ms`,
        beside: 'promise p50 30 ms',
        ratio: p50,
        most: 30,
        unit: 'ms',
      },
    ]
  })
}
