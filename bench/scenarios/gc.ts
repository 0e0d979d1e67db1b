import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventInput, type Ledger, openLedger } from 'clew'
import { type Figure, inTempFolder, prose } from '../measure.ts'

const RUN = 50
const BATCH = 500
const PER_S = 2000
const ALONE_S = 10
const GC = join(import.meta.dirname, '../gc-process.ts')

function event(n: number): EventInput {
  const correlationId = `old-${Math.floor(n / RUN)}`
  if (n % RUN === 0) return { eventType: 'system.workflow_started', correlationId, payload: { agent: 'old' } }
  if (n % RUN === RUN - 1) return { eventType: 'system.workflow_completed', correlationId, payload: {} }
  return { eventType: 'execution.message', correlationId, payload: { content: prose(300, n % 997) } }
}

/** 2,000 events a second, four at a time; what each append waited, in ms. */
async function write(ledger: Ledger, isOver: () => boolean): Promise<number[]> {
  const waits: number[] = []
  const open: Promise<void>[] = []
  async function timed(appended: Promise<unknown>, at: number): Promise<void> {
    await appended
    waits.push(performance.now() - at)
  }
  const startedMs = performance.now()
  for (let sent = 0; !isOver(); ) {
    const due = ((performance.now() - startedMs) / 1000) * PER_S
    for (; sent < due; sent += 4) {
      const at = performance.now()
      const correlationId = `live-${sent % 10}`
      const four = Array.from({ length: 4 }, (_, i) => ({
        eventType: 'execution.message',
        correlationId,
        payload: { content: prose(300, i) },
      }))
      const done = timed(ledger.append(four), at)
      open.push(done)
    }
    await sleep(2)
  }
  await Promise.all(open)
  return waits
}

const p99 = (waits: readonly number[]): number =>
  waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] as number

const longest = (waits: readonly number[]): number => waits.reduce((most, wait) => Math.max(most, wait), 0)

/** What writers wait while another process lets old runs go. */
export async function gcFigures(events: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const url = `sqlite:${join(folder, 'gc.db')}`
    const ledger = await openLedger(url)
    for (let n = 0; n < events; n += BATCH)
      await ledger.append(Array.from({ length: BATCH }, (_, i) => event(n + i)))
    await write(ledger, after(2))
    const alone = await write(ledger, after(ALONE_S))
    const child = spawn(process.execPath, ['--conditions=@clew/source', GC, url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // Loading it takes a core for a moment, and is not what is measured.
    await once(child.stdout, 'data')
    let gone = ''
    child.stdout.on('data', (text: Buffer) => (gone += text.toString()))
    child.stdin.write('go')
    let isOver = false
    const startedMs = performance.now()
    void once(child, 'exit').then(() => (isOver = true))
    const beside = await write(ledger, () => isOver)
    const tookS = (performance.now() - startedMs) / 1000
    // Before and after: on a machine that others use, what writers wait without gc changes meanwhile.
    const again = await write(ledger, after(ALONE_S))
    if (Number(gone) !== events) throw new Error(`gc let ${gone || 'no'} events go, not ${events}`)
    await ledger.close()
    const [without, during] = [p99([...alone, ...again]), p99(beside)]
    const [worstWithout, worst] = [longest([...alone, ...again]), longest(beside)]
    return [
      {
        name: `writers' p99 at ${PER_S.toLocaleString('en-US')} events/s while ${events.toLocaleString('en-US')} old events go (${tookS.toFixed(0)} s)`,
        ours: `${during.toFixed(1)} ms`,
        beside: `${without.toFixed(1)} ms without`,
        ratio: during / without,
        most: 2,
      },
      {
        name: 'longest wait of a writer meanwhile',
        ours: `${worst.toFixed(0)} ms, ${((beside.indexOf(worst) * 4) / PER_S).toFixed(0)} s after its start`,
        beside: `${worstWithout.toFixed(0)} ms without`,
        ratio: worst,
        most: 50,
        unit: 'ms',
      },
    ]
  })
}

function after(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * 1000
  return () => performance.now() > endMs
}
