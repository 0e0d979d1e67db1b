import { countUsage } from '../billing/count-usage.ts'
import { chainHash, GENESIS, SCHEMA_VERSION } from '../hash/chain.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { beginsStep } from '../fold/begins-step.ts'
import { beginRun, foldRun } from '../fold/run-summary.ts'
import { foldStep, stepKey, type StepSkeleton, toSkeleton } from '../fold/steps.ts'
import { isoText } from '../event/iso-text.ts'
import { forkOrigin, checkAppend } from './check-append.ts'
import type { Ports } from '../ports.ts'
import type { AppendCall, AppendOutcome, PreparedEvent } from './change.ts'
import { queueEntryOf } from './queue-slots.ts'
import type { EventPlace, MutableRun, Transaction } from './transaction.ts'
import { storeRoot } from '../hash/tree.ts'

/**
 * Applies calls inside one transaction. Each call is judged before its first write, so that a refused one
 * leaves no trace and its neighbours go on (L5). Shared by all synchronous stores: order, idempotency, fork,
 * chain and projections are decided here and in `judge`, and nowhere else.
 */
export function commitCalls(
  tx: Transaction,
  ports: Pick<Ports, 'sha256' | 'now'>,
  calls: readonly AppendCall[],
): AppendOutcome[] {
  const now = isoText(ports.now())
  return calls.map((call) => {
    try {
      const standing = checkAppend(tx, ports, call)
      return {
        events: call.events.map((event, item) => {
          const place = standing?.[item]
          return place
            ? toEvent(call, { ...event, timestamp: place.timestamp }, place)
            : write(tx, ports, call, event, now)
        }),
      }
    } catch (error) {
      if (error instanceof ClewError && !error.code.startsWith('store_')) return { error }
      throw error
    }
  })
}

function write(
  tx: Transaction,
  ports: Pick<Ports, 'sha256'>,
  call: AppendCall,
  event: PreparedEvent,
  now: string,
): ClewEvent {
  const key = { workspace: call.workspace, runId: event.correlationId }
  const known = tx.findRun(key)
  const origin = known ? undefined : forkOrigin(tx, call.workspace, event)
  const head = known ?? origin
  const seq = (head?.seq ?? 0) + 1
  const { sealed } = event
  // A clock that goes back does not turn time round within a run.
  const recordedAt = sealed?.recordedAt ?? (head && head.recordedAt > now ? head.recordedAt : now)
  const schemaVersion = sealed?.schemaVersion ?? SCHEMA_VERSION
  const hash =
    sealed?.hash ?? chainHash(ports.sha256, head?.hash ?? GENESIS, event, { seq, recordedAt, schemaVersion })
  const place = { seq, position: tx.nextPosition(), recordedAt, hash, schemaVersion }
  const stored = toEvent(call, event, place)
  const run =
    known ??
    tx.insertRun({
      ...key,
      summary: beginRun(stored, origin?.source.summary),
      forkOf: origin ? { id: origin.owner.id, seq: origin.seq } : null,
    })
  tx.insertEvent(run, event, place, bodyOf(tx, run, event))
  const wasWaiting = run.summary.waiting === true && run.seq > 0
  project(tx, run, stored)
  // An imported run is not run from here.
  if (stored.eventType === 'system.workflow_submitted' && seq === 1 && !sealed)
    tx.enqueue(run, queueEntryOf(run.summary))
  else if (wasWaiting && run.summary.waiting !== true) tx.dequeue(run)
  run.seq = seq
  run.hash = hash
  run.recordedAt = recordedAt
  tx.touch(run)
  return stored
}

/** Stored body of a payload: its whole text, or the top of its tree, whose nodes are shared in the run's scope. */
function bodyOf(tx: Transaction, run: MutableRun, event: PreparedEvent): string | null {
  if (event.payload === null) return null
  if (!event.tree) return event.text
  return storeRoot(
    event.tree,
    (hash) => tx.findNode(run.scope, hash),
    (hash, body) => tx.insertNode(run.scope, hash, body),
  )
}

/** Projections of the event, written in the same transaction (L1); a rebuild goes through here too. */
export function project(
  tx: Pick<Transaction, 'findStep' | 'putStep'>,
  run: MutableRun,
  event: ClewEvent,
): void {
  const key = stepKey(event)
  const before = key && tx.findStep(run, key.stepId, key.attempt)
  // The type of an erased start event remains and still counts.
  const begins = beginsStep(event, before !== undefined)
  const step = key && foldStep(before, event, run.summary.steps)
  if (step) tx.putStep(run, toSkeleton(step))
  const marks = {
    find: (stepId: string) => tx.findStep(run, stepId, 1),
    put: (step: StepSkeleton) => tx.putStep(run, step),
    awaited: new Set(run.summary.awaited),
  }
  const usage = countUsage(event, marks, run.summary.modelCalls, begins)
  run.summary = foldRun(run.summary, event, usage, begins, marks.awaited)
}

function toEvent({ workspace }: AppendCall, event: PreparedEvent, place: EventPlace): ClewEvent {
  const { seq, position, recordedAt, hash, schemaVersion } = place
  const ledger = { workspace, seq, position, recordedAt, hash, schemaVersion }
  return {
    eventId: event.eventId,
    eventType: event.eventType,
    timestamp: event.timestamp,
    source: { origin: event.origin, runtime: event.runtime },
    correlationId: event.correlationId,
    causationId: event.causationId,
    payload: event.payload ?? {},
    ledger:
      event.payload === null || event.sealed?.pruned
        ? {
            ...ledger,
            ...(event.payload === null && { erased: true as const }),
            ...(event.sealed?.pruned && { pruned: true as const }),
          }
        : ledger,
  }
}
