import { join } from 'node:path'
import { type EventInput, type Ledger, openLedger } from 'clew'
import { type Figure, inTempFolder, median, seconds } from '../measure.ts'

const BATCH = 1000
const ASKED = 40
const STATUSES = ['completed', 'failed', 'running'] as const

const events = (n: number): EventInput[] => {
  const correlationId = `run-${n}`
  const started = { agent: `agent-${n % 20}`, threadId: `thread-${n % 1000}` }
  const ended = STATUSES[n % STATUSES.length]
  const first = { eventType: 'system.workflow_started', correlationId, payload: started }
  return ended === 'running' ? [first] : [first, { eventType: `system.workflow_${ended}`, correlationId }]
}

export async function fillRuns(ledger: Ledger, runs: number): Promise<void> {
  for (let n = 0; n < runs; n += BATCH)
    await ledger.append(Array.from({ length: Math.min(BATCH, runs - n) }, (_, i) => events(n + i)).flat())
}

/** The first page of very many runs, plain and by each filter. */
export async function listingFigures(runs: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const ledger = await openLedger(`sqlite:${join(folder, 'listing.db')}`, { redact: false })
    await fillRuns(ledger, runs)
    const filters = [{}, { status: 'failed' }, { agent: 'agent-3' }, { threadId: 'thread-77' }] as const
    const times: number[] = []
    for (let n = 0; n < ASKED; n++)
      times.push(1000 * (await seconds(() => ledger.listRuns({ ...filters[n % filters.length], limit: 50 }))))
    await ledger.close()
    const worst = Math.max(...times)
    return [
      {
        name: `first page of ${runs.toLocaleString('en')} runs, all filters`,
        ours: `at most ${worst.toFixed(1)} ms, median ${median(times).toFixed(1)} ms`,
        beside: 'promise 50 ms',
        ratio: worst,
        most: 50,
        unit: 'ms',
      },
    ]
  })
}
