import { type AppendCall, beginsStep, type PreparedEvent, type RunKey, type StepSkeleton } from '@clew/ledger'
import type { Batch } from './batch.ts'
import { BLOCK, type Loaded, nothingLoaded, runKey, stepKey } from './loaded.ts'
import { dueMsOfRow, type RunRow } from './run-row.ts'

const MAX_RUNS = 5000
const MAX_OPEN_STEPS = 1000

interface KnownRun {
  readonly run: RunRow
  /** First attempts that have not ended, by id. */
  readonly openSteps: Map<string, StepSkeleton>
}

/**
 * Runs as this process last wrote them, so that the next small append to one of them is a single statement.
 *
 * - Nothing here is trusted: the statement checks head, lease and revision of each run and writes nothing when one is
 *   different. A call is never refused because of a cached row either. In both cases the append is done again with rows
 *   that are read under locks.
 * - Of the steps, the open ones are cached. A step that begins is taken to be new, and so is an event id that comes with
 *   an epoch or an expected seq: unique indexes refuse the statement when it is not.
 * - Large payloads, usage and further attempts need more rows than these, and are always read under locks.
 */
export interface KnownRuns {
  /** The rows that the calls need; undefined when some of them are not cached. */
  load(calls: readonly AppendCall[]): Loaded | undefined
  /** Caches what was written; `from` says whether it was decided on cached rows or on rows that were read. */
  put(batch: Batch, from: 'cached' | 'read'): void
  forget(key: RunKey): void
}

export function createKnownRuns(): KnownRuns {
  const known = new Map<string, KnownRun>()

  function load(calls: readonly AppendCall[]): Loaded | undefined {
    const loaded = nothingLoaded()
    loaded.blocks.push(0)
    const begun = new Set<string>()
    let count = 0
    for (const { workspace, events, epoch, expectedSeq } of calls) {
      const areNew = epoch !== undefined || expectedSeq !== undefined
      count += events.length
      for (const event of events) {
        const key = runKey({ workspace, runId: event.correlationId })
        const found = known.get(key)
        if (!found || event.tree || event.sealed || !(event.fresh || areNew)) return undefined
        if (!loaded.runs.has(key)) loaded.runs.set(key, { ...found.run })
        if (!loadStep(found, event, loaded, begun)) return undefined
      }
    }
    return count <= BLOCK ? loaded : undefined
  }

  /** False if the event needs a step that is not cached. */
  function loadStep(
    { run, openSteps }: KnownRun,
    { eventType, payload }: PreparedEvent,
    loaded: Loaded,
    begun: Set<string>,
  ): boolean {
    if (payload?.['usage'] !== undefined) return false
    const stepId = payload?.['stepId']
    if (typeof stepId !== 'string') return true
    if ((payload?.['attempt'] ?? 1) !== 1) return false
    const key = stepKey(run.id, stepId, 1)
    const step = openSteps.get(stepId)
    if (step) loaded.steps.set(key, step)
    else if (beginsStep({ eventType, payload: payload ?? {} })) begun.add(key)
    return step !== undefined || begun.has(key)
  }

  function keep(run: RunRow, openSteps: Map<string, StepSkeleton>): void {
    const key = runKey(run)
    known.delete(key)
    if (openSteps.size > MAX_OPEN_STEPS) return
    if (known.size >= MAX_RUNS) known.delete(known.keys().next().value as string)
    const { seq, hash, summary } = run
    known.set(key, { run: { ...run, stored: { seq, hash, summary, dueMs: dueMsOfRow(run) } }, openSteps })
  }

  return {
    load,
    put(batch, from) {
      const openSteps = new Map<number, Map<string, StepSkeleton>>()
      for (const run of batch.runs)
        openSteps.set(
          run.id,
          (from === 'cached' ? known.get(runKey(run))?.openSteps : undefined) ?? new Map(),
        )
      for (const { run, step } of batch.steps.values()) {
        if (step.attempt !== 1) continue
        if (step.endedSeq === null) openSteps.get(run)?.set(step.stepId, step)
        else openSteps.get(run)?.delete(step.stepId)
      }
      for (const run of batch.runs) keep(run, openSteps.get(run.id) as Map<string, StepSkeleton>)
    },
    forget: (key) => void known.delete(runKey(key)),
  }
}
