import { createUsageCounter } from '../billing/usage-counter.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { createBeginnings } from '../fold/begins-step.ts'
import { beginRun, foldRun, type RunSummary } from '../fold/run-summary.ts'

/** Folds a run's own events from the first one on to its summary (L1). */
export function projectRun(events: readonly ClewEvent[], source?: RunSummary): RunSummary | undefined {
  const [first] = events
  if (!first) return undefined
  const awaited = new Set<string>()
  const count = createUsageCounter(awaited)
  const isBeginning = createBeginnings()
  let summary = beginRun(first, source)
  for (const event of events) summary = foldRun(summary, event, count(event), isBeginning(event), awaited)
  return summary
}
