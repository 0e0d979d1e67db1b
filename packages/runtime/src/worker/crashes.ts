import { type ClewEvent, isOwn, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { HANDED_OVER } from '../run/record-idle-reason.ts'

/** Events of progress or of an intervention by a person. */
const PROGRESS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.checkpoint',
  'execution.completed',
  'system.workflow_started',
  'system.workflow_forked',
  'system.workflow_paused',
  'system.workflow_blocked',
  'ui.input_received',
])
const FIRST_LOOK = 64

/** Number of consecutive owner deaths without progress, counted up to `most`. */
export async function countCrashes(ledger: Ledger, run: RunSummary, most: number): Promise<number> {
  const crashes: ClewEvent[] = []
  for await (const event of newestFirst(ledger, run)) {
    if (PROGRESS.has(event.eventType) || crashes.length >= most) break
    if (isOwn(event, 'system.workflow_interrupted') && event.payload.reason !== HANDED_OVER)
      crashes.push(event)
  }
  const first = crashes.at(-1)
  // A parent stands still while its child runs do the work.
  if (!first || (await hasChildProgress(ledger, run.runId, first.ledger.position))) return 0
  return crashes.length
}

/** In growing pages: the answer lies near the end, however long the run is. */
async function* newestFirst(ledger: Ledger, { runId, forkedFrom, events }: RunSummary) {
  const begin = forkedFrom?.seq ?? 0
  let end = begin + events
  for (let limit = FIRST_LOOK; end > begin; limit *= 4) {
    const afterSeq = Math.max(begin, end - limit)
    const page = await Array.fromAsync(ledger.read(runId, { afterSeq, limit: end - afterSeq }))
    yield* page.toReversed()
    end = afterSeq
  }
}

async function hasChildProgress(ledger: Ledger, runId: string, position: number): Promise<boolean> {
  const steps = await ledger.getSkeleton(runId)
  for (const { childRunId, status } of steps) {
    if (childRunId === null || (status !== 'running' && status !== 'paused')) continue
    const child = await ledger.getRun(childRunId)
    if (!child) continue
    if (isTerminal(child.status)) return true
    for await (const event of newestFirst(ledger, child)) {
      if (event.ledger.position < position) break
      if (PROGRESS.has(event.eventType)) return true
    }
    if (await hasChildProgress(ledger, childRunId, position)) return true
  }
  return false
}
