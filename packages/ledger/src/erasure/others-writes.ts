import type { ClewEvent } from '../event/envelope.ts'
import { nameOf, subjectOf } from '../memory/fold.ts'

/** For memory items that an erasure touches: the seqs that are erased, and those that other runs wrote and that stay. */
export interface SharedItems {
  readonly going: ReadonlySet<number>
  readonly kept: ReadonlySet<number>
}

/**
 * Divides the events of items. What others wrote stays. But a value does not come back: what the subject's run deleted goes
 * with the deletion, since without that event it would be remembered again.
 */
export function divideItems(
  events: readonly ClewEvent[],
  erasedSeqs: ReadonlySet<number>,
  isOfOthers: (event: ClewEvent) => boolean,
): SharedItems {
  const going = new Set<number>()
  const kept = new Set<number>()
  /** For each name, from its last event back: whether a kept event or an erased deletion decides the current value. */
  const later = new Map<string, 'kept' | 'deleted'>()
  for (const event of events.toReversed()) {
    const { seq } = event.ledger
    const subject = subjectOf(event)
    const name = subject === undefined ? '' : nameOf(subject)
    const isDeletion = event.eventType === 'execution.memory_forgotten'
    if (erasedSeqs.has(seq) || !isOfOthers(event)) {
      going.add(seq)
      if (isDeletion && !later.has(name)) later.set(name, 'deleted')
    } else if (later.get(name) === 'deleted') going.add(seq)
    else {
      kept.add(seq)
      later.set(name, 'kept')
    }
  }
  return { going, kept }
}
