import type { PrunedRange } from '../retention/pruned.ts'
import type { PruneMarker } from '../store/change.ts'
import type { Store, StoredEvent, StoredRun } from '../store/store.ts'
import { type Removals, sealKey } from './read-removals.ts'
import { createSeqSet, type RemovedRange, seqsIn } from './removed-range.ts'

/** Rows of one run that hide events, by seq. */
export interface RunMarks {
  readonly erased: readonly number[]
  readonly pruned: readonly number[]
}

export interface RemovalFault {
  readonly seq: number
  /** `unrecorded`: deleted without an audit event. `restored`: there, although an audit event records its deletion. */
  readonly fault: 'unrecorded' | 'restored' | 'forged_seal'
  readonly detail: string
}

/** Compares the deleted parts of one run with the audit run, while its events are read in their order. */
export interface RemovalCheck {
  /** The recorded seal whose range begins at this seq. */
  sealAt(fromSeq: number): PruneMarker | undefined
  see(event: StoredEvent): void
  /** After the last event. */
  end(): RemovalOutcome
}

export interface RemovalOutcome {
  readonly faults: readonly RemovalFault[]
  /** Recorded ranges that fit this run. */
  readonly fitting: readonly RemovedRange[]
  /** Ranges that retention deleted, for reports. */
  readonly pruned: readonly PrunedRange[]
}

export function checkRemovals(
  run: StoredRun,
  removals: Removals,
  seals: readonly PruneMarker[],
  marks: RunMarks = { erased: [], pruned: [] },
): RemovalCheck {
  const { runId } = run.summary
  const trusted = new Map<number, PruneMarker>()
  const fitting: RemovedRange[] = []
  const pruned: PrunedRange[] = []
  const faults: RemovalFault[] = []
  const sealed = createSeqSet()
  for (const seal of seals) {
    const { fromSeq, toSeq } = seal
    const range = removals.seals.get(sealKey(seal))
    if (range) {
      trusted.set(fromSeq, seal)
      fitting.push(range)
      sealed.add(fromSeq, toSeq)
      addRange(pruned, toPruned(runId, range))
    } else {
      const detail = `no audit event names the seal of ${fromSeq} to ${toSeq}`
      faults.push({ seq: fromSeq, fault: 'forged_seal', detail })
    }
  }

  const isPrunedRow = new Set(marks.pruned)
  const seen = createSeqSet()
  const gone = createSeqSet()
  const hidden = createSeqSet()
  const recorded = removals.byRun.get(runId) ?? []

  return {
    sealAt: (fromSeq) => trusted.get(fromSeq),
    see({ seq, hash, body, pruned: isPruned }) {
      for (const range of removals.byHash.get(hash) ?? []) if (range.toSeq === seq) fitting.push(range)
      if (sealed.has(seq)) {
        const detail = 'an audit event says that it was pruned, and it is there'
        faults.push({ seq, fault: 'restored', detail })
      }
      seen.add(seq, seq)
      if (body === null) gone.add(seq, seq)
      if (isPruned || isPrunedRow.has(seq)) hidden.add(seq, seq)
    },
    end() {
      const payloads = createSeqSet()
      const states = createSeqSet()
      for (const { kind, seqs, blank } of fitting) {
        if (kind === 'payloads') payloads.addAll(seqs)
        if (kind !== 'states') continue
        payloads.addAll(blank)
        states.addAll(seqs)
      }
      const add = (seq: number, fault: RemovalFault['fault'], detail: string): void =>
        void faults.push({ seq, fault, detail })
      for (const seq of seqsIn(gone.pairs()))
        if (!payloads.has(seq)) add(seq, 'unrecorded', 'its payload is gone, and no audit event says so')
      for (const seq of marks.erased)
        if (!payloads.has(seq) && !gone.has(seq))
          add(seq, 'unrecorded', 'a row of erasures hides it, and no audit event says that it was erased')
      for (const seq of seqsIn(hidden.pairs()))
        if (!states.has(seq) && (payloads.has(seq) || !gone.has(seq)))
          add(
            seq,
            'unrecorded',
            'a row of pruned_states hides its state, and no audit event says that it went',
          )
      for (const seq of seqsIn(payloads.pairs()))
        if (seen.has(seq) && !gone.has(seq))
          add(seq, 'restored', 'an audit event says that its payload was erased, and it is there')
      for (const seq of seqsIn(states.pairs()))
        if (seen.has(seq) && !hidden.has(seq))
          add(
            seq,
            'restored',
            'an audit event says that its state was pruned, and no row of pruned_states does',
          )
      // A run that was created again has other hashes: then no range fits, and events named as deleted may be there.
      for (const range of recorded) {
        if (range.kind === 'events' || fitting.includes(range)) continue
        const covered = range.kind === 'payloads' ? payloads : states
        const seq = seqsIn(range.seqs).find((each) => seen.has(each) && !covered.has(each))
        if (seq !== undefined)
          add(
            seq,
            'restored',
            `an audit event says that ${range.kind} of seq ${range.fromSeq} to ${range.toSeq} went, and these are other events`,
          )
      }
      for (const range of recorded) if (range.kind === 'states') pruned.push(toPruned(runId, range))
      return { faults, fitting, pruned }
    },
  }
}

const toPruned = (
  runId: string,
  { fromSeq, toSeq, rule, by, at, kind, states }: RemovedRange,
): PrunedRange => ({
  runId,
  fromSeq,
  toSeq,
  rule,
  by,
  at,
  ...(kind === 'states' && { states }),
})

/** Adjoining ranges that the same rule took become one. */
function addRange(ranges: PrunedRange[], range: PrunedRange): void {
  const last = ranges.at(-1)
  if (last && last.toSeq + 1 === range.fromSeq && last.rule === range.rule && last.by === range.by)
    ranges.splice(-1, 1, { ...last, toSeq: range.toSeq })
  else ranges.push(range)
}

const PAGE = 1000

/** A row that hides an event, where there is no such event. */
export interface StrayMark {
  readonly position: number
  readonly table: 'erasures' | 'pruned_states'
}

export interface WorkspaceMarks {
  of(runId: string): RunMarks | undefined
  readonly strays: readonly StrayMark[]
}

/** The rows of `erasures` and `pruned_states`, by run. */
export async function readMarks(store: Store, workspace: string): Promise<WorkspaceMarks> {
  const byRun = new Map<string, { erased: number[]; pruned: number[] }>()
  const strays: StrayMark[] = []
  for (let afterPosition = 0; ; ) {
    const page = await store.rows.marks({ afterPosition, limit: PAGE })
    for (const { position, isErased, isPruned, event } of page) {
      if (!event) {
        if (isErased) strays.push({ position, table: 'erasures' })
        if (isPruned) strays.push({ position, table: 'pruned_states' })
      } else if (event.workspace === workspace) {
        const marks = byRun.get(event.runId) ?? { erased: [], pruned: [] }
        byRun.set(event.runId, marks)
        if (isErased) marks.erased.push(event.seq)
        if (isPruned) marks.pruned.push(event.seq)
      }
    }
    if (page.length < PAGE) return { of: (runId) => byRun.get(runId), strays }
    afterPosition = page.at(-1)?.position ?? afterPosition
  }
}
