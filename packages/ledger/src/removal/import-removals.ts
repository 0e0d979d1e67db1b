import { auditEvent } from '../append/audit-run.ts'
import { isSystemRun } from '../event/system-run.ts'
import { checkInput, type ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Preparer } from '../append/prepare.ts'
import { checkRemovals } from './check-removals.ts'
import { readRemovals, type Removals, sealKey } from './read-removals.ts'
import { rangeOf, toPairs } from './removed-range.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { PreparedEvent } from '../store/change.ts'
import { findRun, findSeals } from '../store/find-runs.ts'
import type { Store, StoredEvent } from '../store/store.ts'
import type { SealLine } from '../retention/seal-lines.ts'
import type { PruneMarker } from '../store/change.ts'

interface AdoptParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly preparer: Preparer
  readonly workspace: string
  readonly push: (events: readonly PreparedEvent[]) => Promise<unknown>
}

/** Removals that an import brings: pruned ranges, erased payloads and pruned states. */
export interface RemovalImport {
  /** Takes a seal over, unless it is here or all events of its range are. */
  adopt(line: SealLine): Promise<void>
  /** An event was imported, now or before, without its payload or its state. */
  note(event: ClewEvent): void
  /** Events that were pruned here do not come back. */
  isPruned(runId: string, seq: number): Promise<boolean>
  /**
   * Records audit events for what was imported and no audit event covers. Called last: the audit run of the source may be
   * in the same file, and its events must find their places free. An import that was killed before does it the next time.
   */
  end(): Promise<void>
}

export async function createRemovalImport(parts: AdoptParts): Promise<RemovalImport> {
  const { store, workspace } = parts
  const hasSeals = (await store.info('prunedEvents')).prunedEvents > 0
  const known = new Map<string, Promise<readonly PruneMarker[]>>()
  const taken: SealLine[] = []
  const noted = new Map<string, Set<number>>()

  function sealsOf(runId: string): Promise<readonly PruneMarker[]> {
    const found = known.get(runId) ?? findSeals(store, { workspace, runId })
    known.set(runId, found)
    return found
  }

  async function record(
    eventType: 'system.payload_erased' | 'system.range_pruned',
    payload: Record<string, unknown>,
  ): Promise<void> {
    await parts.push([parts.preparer.prepare(checkInput(auditEvent(eventType, payload)))])
  }

  /** Events of a run that the file says are without payload or state, and that no audit event covers. */
  async function findUnrecorded(
    runId: string,
    seqs: ReadonlySet<number>,
    removals: Removals,
  ): Promise<StoredEvent[]> {
    const run = await findRun(store, { workspace, runId })
    if (!run) return []
    const check = checkRemovals(run, removals, [])
    const events = new Map<number, StoredEvent>()
    for await (const page of parts.runs.ownEvents(run))
      for (const event of page) {
        check.see(event)
        if (seqs.has(event.seq)) events.set(event.seq, event)
      }
    const unrecorded = new Set(
      check.end().faults.flatMap(({ seq, fault }) => (fault === 'unrecorded' ? [seq] : [])),
    )
    return [...events.values()].filter(({ seq }) => unrecorded.has(seq))
  }

  return {
    async adopt(line) {
      const { runId, toSeq, headHash } = line
      const key = { workspace, runId }
      const seals = await findSeals(store, { workspace, runId })
      if (
        seals.some((seal) => sealKey(seal) === sealKey(line)) ||
        'outcomes' in (await store.write({ calls: [], adopt: [{ workspace, ...line }] }))
      ) {
        taken.push(line)
        return
      }
      const [last] = await store.readRun(key, { afterSeq: toSeq - 1, upToSeq: toSeq, limit: 1 })
      if (last?.hash !== headHash) throw notFollowing(line)
    },
    note({ correlationId, ledger: { seq, erased, pruned } }) {
      if (!erased && !pruned) return
      const seqs = noted.get(correlationId)
      if (seqs) seqs.add(seq)
      else noted.set(correlationId, new Set([seq]))
    },
    async isPruned(runId, seq) {
      if (!hasSeals) return false
      return (await sealsOf(runId)).some(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq)
    },
    async end() {
      if (taken.length + noted.size === 0) return
      const removals = await readRemovals(store, parts.reader, workspace)
      const sealed = taken
        .filter((line) => !removals.seals.has(sealKey(line)))
        .map(({ runId, fromSeq, toSeq, headHash, run }) => ({
          runId,
          fromSeq,
          toSeq,
          headHash,
          rule: 'imported',
          ...(run.summary.status === 'deleted' && { deletes: true }),
        }))
      if (sealed.length > 0) await record('system.range_pruned', { ranges: sealed, events: 0 })
      const states: object[] = []
      const erased: object[] = []
      let events = 0
      for (const [runId, seqs] of noted) {
        const found = await findUnrecorded(runId, seqs, removals)
        const pruned = found.filter((event) => event.pruned)
        const gone = found.filter((event) => !event.pruned)
        const blank = toPairs(pruned.flatMap(({ body, seq }) => (body === null ? [seq] : [])))
        if (pruned.length > 0)
          states.push({
            runId,
            ...rangeOf(pruned),
            rule: 'imported',
            states: pruned.length,
            ...(blank.length > 0 && { blank }),
          })
        if (gone.length > 0) erased.push({ ...(!isSystemRun(runId) && { runId }), ...rangeOf(gone) })
        events += gone.length
      }
      if (states.length > 0) await record('system.range_pruned', { ranges: states, events: 0 })
      if (erased.length > 0)
        await record('system.payload_erased', {
          target: 'import',
          events,
          runs: erased.length,
          ranges: erased,
        })
    },
  }
}

const notFollowing = ({ runId, fromSeq, toSeq }: SealLine): ClewError =>
  new ClewError(
    'broken_import',
    `The seal of ${fromSeq} to ${toSeq} of run ${runId} does not follow what is here of that run`,
    'Import the events that come before it first.',
    { runId, fromSeq, toSeq },
  )
