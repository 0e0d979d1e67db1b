import { isSystemRun } from '../event/system-run.ts'
import { commitCalls } from './commit.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { isoText } from '../event/iso-text.ts'
import type { Ports } from '../ports.ts'
import { isPrunable } from '../retention/is-prunable.ts'
import type { MutableRun, Transaction } from './transaction.ts'
import type { Adoption, Applied, StoreChange, Expectation, PruneItem, RowChange } from './change.ts'

/**
 * Applies a change inside one transaction. Everything that may refuse it is checked before the first write, so a store
 * without rollback can use it too. The order is the same for all stores:
 * expectations, append, blank, prune, replace, adopt, vault. The append comes first: positions continue from the newest
 * event, which must not be pruned before the event that records it has its position.
 */
export function applyChange(
  tx: Transaction,
  ports: Pick<Ports, 'sha256' | 'now'>,
  change: StoreChange,
): Applied {
  const { calls, blank = [], prune = [], replace = [], adopt = [], vault = [] } = change
  if (calls.length > 1 && Object.keys(change).length > 1)
    throw new RangeError('a change with other parts has at most one call')
  const moved = findMoved(tx, change)
  if (moved.length > 0) return { moved }
  const outcomes = commitCalls(tx, ports, calls)
  if (outcomes.some((outcome) => 'error' in outcome)) return { outcomes }
  for (const each of blank) tx.blank(each, isoText(ports.now()))
  pruneRanges(tx, prune)
  for (const each of replace) replaceRows(tx, each)
  for (const each of adopt) adoptRange(tx, each)
  for (const each of vault) tx.replaceVault(each)
  return { outcomes }
}

function findMoved(
  tx: Transaction,
  { expect = [], prune = [], replace = [], adopt = [] }: StoreChange,
): readonly string[] {
  return [
    ...expect.filter((each) => !isAsExpected(tx, each)),
    ...prune.filter((item) => !canPrune(tx, item)),
    ...replace.filter((each) => !tx.findRun(each)),
    ...adopt.filter((each) => !isAdoptable(tx, each)),
  ].map(({ runId }) => runId)
}

function isAsExpected(tx: Transaction, expected: Expectation): boolean {
  const run = tx.findRun(expected)
  return (
    run !== undefined &&
    (expected.seq ?? run.seq) === run.seq &&
    (expected.forks === undefined || tx.forksOf(run).length === expected.forks)
  )
}

function canPrune(tx: Transaction, item: PruneItem): boolean {
  const run = tx.findRun(item)
  if (run?.seq !== item.seq || !(isPrunable(run.summary) || isSystemRun(run.runId)) || tx.isLeased(run))
    return false
  if (tx.countEvents(run, item.fromSeq, item.toSeq) !== item.toSeq - item.fromSeq + 1) return false
  if (tx.eventAt(run, item.toSeq)?.hash !== item.headHash) return false
  return !tx.forksOf(run).some(({ seq, isNeedy }) => isNeedy && seq >= item.fromSeq)
}

/** A fork whose source is not here cannot be linked to it. */
function isAdoptable(tx: Transaction, { workspace, runId, fromSeq, run: { forkOf } }: Adoption): boolean {
  const run = tx.findRun({ workspace, runId })
  if (run) return run.seq === fromSeq - 1
  return (
    (forkOf?.seq ?? 0) === fromSeq - 1 &&
    (!forkOf || tx.findRun({ workspace, runId: forkOf.runId }) !== undefined)
  )
}

function pruneRanges(tx: Transaction, items: readonly PruneItem[]): void {
  const deleted = new Set<MutableRun>()
  for (const { fromSeq, toSeq, headHash, deletes, ...key } of items) {
    const run = tx.findRun(key) as MutableRun
    tx.prune(run, { fromSeq, toSeq, headHash })
    if (deletes || run.summary.status === 'deleted') deleted.add(run)
  }
  for (const run of deleted) markDeleted(tx, run)
}

function markDeleted(tx: Transaction, run: MutableRun): void {
  run.summary = deletedSummary(run.summary, tx.hasEvents(run))
  tx.touch(run)
}

/** Summary of a deleted run. It keeps its subjects as long as some of its events are stored. */
const deletedSummary = (summary: RunSummary, hasEvents: boolean): RunSummary => ({
  ...summary,
  status: 'deleted',
  subjects: hasEvents ? summary.subjects : [],
  pauses: [],
  error: null,
  checkpoint: null,
  dueAt: null,
  stopRequested: false,
})

function replaceRows(tx: Transaction, { summary, steps, gone, ...key }: RowChange): void {
  const run = tx.findRun(key) as MutableRun
  for (const { stepId, attempt } of gone) tx.dropStep(run, stepId, attempt)
  for (const step of steps) tx.putStep(run, step)
  run.summary = summary ?? run.summary
  tx.touch(run, summary !== undefined)
}

function adoptRange(tx: Transaction, { run: adopted, fromSeq, toSeq, headHash, ...key }: Adoption): void {
  const { summary, forkOf, recordedAt } = adopted
  const source = forkOf && tx.findRun({ workspace: key.workspace, runId: forkOf.runId })
  const run =
    tx.findRun(key) ??
    tx.insertRun({ ...key, summary, forkOf: forkOf && source ? { id: source.id, seq: forkOf.seq } : null })
  tx.prune(run, { fromSeq, toSeq, headHash })
  run.seq = toSeq
  run.hash = headHash
  run.recordedAt = recordedAt
  if (summary.status === 'deleted') markDeleted(tx, run)
  else tx.touch(run)
}
