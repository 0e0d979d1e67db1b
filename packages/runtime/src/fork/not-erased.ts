import { ClewError, type ClewEvent, prunedState } from '@clew/ledger'

/** Nothing is left of its payload, not even which step it was about. */
const isBlank = ({ payload, ledger }: ClewEvent): boolean =>
  ledger.erased === true && Object.keys(payload).length === 0

/** P5: refuses what would need payloads that were erased, up to a seq. */
export function assertNotErased(runId: string, events: readonly ClewEvent[], upToSeq = Infinity): void {
  const gone = events.find((event) => isBlank(event) && event.ledger.seq <= upToSeq)
  if (!gone) return
  const { seq, pruned } = gone.ledger
  if (pruned) throw prunedState(runId, seq)
  throw new ClewError(
    'erased',
    `Run ${runId} was erased at seq ${seq}: what came after it cannot be told from its record`,
    'See with `clew compliance` when and why; nothing was written.',
    { runId, seq },
  )
}
