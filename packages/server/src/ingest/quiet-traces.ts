import { ClewError, endingEvent, type Ledger, type RunSummary } from '@clew/ledger'

const PAGE = 100
/** Runtime name of events mapped from OTLP. */
const RUNTIME = 'otel'

/**
 * T7 for what others export: a trace whose root span does not come has no end, and no owner whose death could be seen. When
 * nothing has come for `quietMs` it is interrupted, so that no page spins for ever; a span that comes after all lets it
 * run on, and its root ends it. Gives the ids of the runs it marked.
 */
export async function interruptQuietTraces(ledger: Ledger, quietMs: number): Promise<string[]> {
  const { workspace } = ledger
  const leases = await ledger.leases.list()
  const held = new Set(leases.filter((lease) => lease.workspace === workspace).map(({ runId }) => runId))
  const marked: string[] = []
  let cursor: string | null | undefined
  do {
    const page = await ledger.listRuns({ status: 'running', limit: PAGE, ...(cursor && { cursor }) })
    for (const run of page.runs)
      if (
        !held.has(run.runId) &&
        (await isQuiet(ledger, run, quietMs)) &&
        (await interrupt(ledger, run, quietMs))
      )
        marked.push(run.runId)
    cursor = page.nextCursor
  } while (cursor)
  return marked
}

async function isQuiet(ledger: Ledger, { runId, events }: RunSummary, quietMs: number): Promise<boolean> {
  for await (const { source, ledger: place } of ledger.read(runId, { afterSeq: events - 1, limit: 1 }))
    return source.runtime === RUNTIME && Date.now() - Date.parse(place.recordedAt) >= quietMs
  return false
}

async function interrupt(ledger: Ledger, { runId, events }: RunSummary, quietMs: number): Promise<boolean> {
  const reason = `its root span has not come, and nothing else for ${Math.round(quietMs / 60_000)} minutes`
  try {
    const interrupted = endingEvent('system.workflow_interrupted', runId, { reason })
    await ledger.append([interrupted], { expectedSeq: events })
    return true
  } catch (error) {
    // Something came at this moment.
    if (error instanceof ClewError && error.code === 'wrong_seq') return false
    throw error
  }
}
