import { needsEpoch, type PayloadOf } from '../catalogue/catalogue.ts'
import { chainHash, GENESIS, payloadHash } from '../hash/chain.ts'
import { ClewError } from '../errors.ts'
import type { Ports } from '../ports.ts'
import { prunedPlace, prunedRun } from '../retention/pruned.ts'
import type { StoredEvent } from './store.ts'
import type { AppendCall, PreparedEvent, ImportedFields } from './change.ts'
import type { MutableRun, Transaction } from './transaction.ts'
import { rootOfBody } from '../hash/tree.ts'

interface Head {
  readonly seq: number
  readonly hash: string
}

/**
 * Checks a call before anything of it is written: throws if it must be refused. For events that
 * stand already it gives their first place; undefined when all are new.
 */
export function checkAppend(
  tx: Transaction,
  ports: Pick<Ports, 'sha256'>,
  call: AppendCall,
): (StoredEvent | undefined)[] | undefined {
  assertDistinct(call)
  const heads = call.events.some((event) => event.sealed) ? new Map<string, Head>() : undefined
  let standing: (StoredEvent | undefined)[] | undefined
  let isFirstNew = true
  for (let item = 0; item < call.events.length; item++) {
    const stored = checkEvent(tx, ports, call, item, { isFirstNew, heads })
    if (stored) (standing ??= [])[item] = stored
    else isFirstNew = false
  }
  return standing
}

function assertDistinct(call: AppendCall): void {
  if (call.events.length === 1) return
  const seen = new Map<string, number>()
  for (const [item, event] of call.events.entries()) {
    if (event.fresh) continue
    const id = `${event.eventId} ${event.correlationId}`
    const first = seen.get(id)
    if (first !== undefined)
      throw new ClewError(
        'conflict',
        `Items ${first} and ${item} of the batch have the same event id ${event.eventId}`,
        'Give each event of a batch an id of its own, or leave the ids out; nothing was written.',
        { eventId: event.eventId, item },
      )
    seen.set(id, item)
  }
}

interface Circumstances {
  readonly isFirstNew: boolean
  /** Heads of imported runs after the preceding items of the call. */
  readonly heads: Map<string, Head> | undefined
}

function checkEvent(
  tx: Transaction,
  ports: Pick<Ports, 'sha256'>,
  call: AppendCall,
  item: number,
  { isFirstNew, heads }: Circumstances,
): StoredEvent | undefined {
  const event = call.events[item] as PreparedEvent
  const { correlationId: runId, sealed } = event
  const run = tx.findRun({ workspace: call.workspace, runId })
  if (run && !event.fresh) {
    const stored = tx.findEvent(run, event.eventId)
    if (stored) {
      if (isSame(tx, ports, stored, event)) return stored
      // Derived ids are those of the new owner, too: a caller that lost the run gets that error.
      if (call.epoch !== undefined) checkEpoch(tx, call, event)
      throw otherContent(run, stored, event, item)
    }
  }
  if (run?.summary.status === 'deleted') throw prunedRun(runId)
  const head = heads?.get(runId) ?? run ?? headOfNew(tx, call.workspace, event)
  if (isFirstNew && call.expectedSeq !== undefined && call.expectedSeq !== head.seq)
    throw new ClewError(
      'wrong_seq',
      `Run ${runId} stands at seq ${head.seq}, not at the expected ${call.expectedSeq}`,
      'Read what was appended in between and decide again; nothing was written.',
      { runId, seq: head.seq, expectedSeq: call.expectedSeq },
    )
  checkEpoch(tx, call, event)
  if (sealed) checkSeal(ports, head, event, sealed, item)
  heads?.set(runId, { seq: head.seq + 1, hash: sealed?.hash ?? '' })
  return undefined
}

/** An imported event must stand where it stood and hash to what it claims. */
function checkSeal(
  ports: Pick<Ports, 'sha256'>,
  head: Head,
  event: PreparedEvent,
  sealed: ImportedFields,
  item: number,
): void {
  const fields = { runId: event.correlationId, seq: sealed.seq, item }
  if (sealed.seq !== head.seq + 1)
    throw new ClewError(
      'broken_import',
      `Event ${sealed.seq} of run ${event.correlationId} does not follow seq ${head.seq}, which is the last one here`,
      'Import the events that come before it first; nothing of this batch was written.',
      fields,
    )
  if (chainHash(ports.sha256, head.hash, event, sealed) !== sealed.hash)
    throw new ClewError(
      'broken_import',
      `Event ${sealed.seq} of run ${event.correlationId} does not have the hash it claims`,
      'The file was changed after it was exported: get it again, or import with rehash; nothing of this batch was written.',
      fields,
    )
}

function headOfNew(tx: Transaction, workspace: string, event: PreparedEvent): Head {
  const origin = forkOrigin(tx, workspace, event)
  return origin ? { seq: origin.seq, hash: origin.hash } : { seq: 0, hash: GENESIS }
}

function checkEpoch(tx: Transaction, call: AppendCall, event: PreparedEvent): void {
  if (event.sealed) return
  const asked = call.epoch !== undefined
  if (!asked && !needsEpoch(event.eventType)) return
  const lease = tx.lease({ workspace: call.workspace, runId: event.correlationId })
  // A lease that was given up, or whose thread was taken over, is not current: its owner must not write on.
  if (asked ? lease?.held && lease.epoch === call.epoch : !lease?.held) return
  throw new ClewError(
    'stale_epoch',
    asked
      ? `Run ${event.correlationId} is at epoch ${lease?.epoch ?? 0}${lease?.held ? '' : ', which nobody holds'}, and ${call.epoch} is not its current one`
      : `Run ${event.correlationId} is held by a lease, and ${event.eventType} was sent without its epoch`,
    'Stop working on this run here; what was not acknowledged was not written.',
    { runId: event.correlationId, epoch: call.epoch, current: lease?.epoch ?? 0 },
  )
}

/** Same id: the same content is answered with its first place, other content is a conflict (L4). */
function otherContent(run: MutableRun, stored: StoredEvent, event: PreparedEvent, item: number): ClewError {
  return new ClewError(
    'conflict',
    `Event ${event.eventId} is in run ${run.runId} already, ${stored.erased ? 'and its payload was erased' : 'with other content'}`,
    'Use a new event id for a new fact; nothing was written.',
    { eventId: event.eventId, runId: run.runId, seq: stored.seq, item },
  )
}

function isSame(
  tx: Transaction,
  ports: Pick<Ports, 'sha256'>,
  stored: StoredEvent,
  event: PreparedEvent,
): boolean {
  if (event.sealed) return event.sealed.hash === stored.hash
  const { given } = event
  const mac = given && tx.macOf(stored.position)
  if (mac && mac === given.mac()) return true
  if (stored.eventType !== event.eventType || stored.causationId !== event.causationId) return false
  if (stored.origin !== event.origin || stored.runtime !== event.runtime) return false
  if (stored.body === null || stored.salt === null) return false
  const root = rootOfBody(ports.sha256, stored.body, (id) => tx.nodeHash(id))
  if (payloadHash(ports.sha256, stored.salt, root) !== stored.payloadHash) return false
  // Without a digest nothing was redacted: what is stored is what was sent.
  if (!mac && given?.root === root) return true
  // The event as it was read back, or a lost key: then the redacted content decides.
  return sameText(ports, root, event)
}

function sameText(ports: Pick<Ports, 'sha256'>, root: string, event: PreparedEvent): boolean {
  return payloadHash(ports.sha256, event.salt, root) === event.payloadHash
}

interface ForkOrigin extends Head {
  readonly recordedAt: string
  /** The run named by the fork, and the one of its line that owns the event at `seq`. */
  readonly source: MutableRun
  readonly owner: MutableRun
}

/** Source of a forked run's inherited events, if the event is a fork; else undefined. */
export function forkOrigin(tx: Transaction, workspace: string, event: PreparedEvent): ForkOrigin | undefined {
  if (event.eventType !== 'system.workflow_forked') return undefined
  const payload = event.payload as PayloadOf<'system.workflow_forked'>
  const { runId, seq } = event.sealed?.forkedFrom ?? { runId: payload.sourceRunId, seq: payload.sourceSeq }
  const source = tx.findRun({ workspace, runId })
  if (!source || seq > source.seq)
    throw new ClewError(
      'not_found',
      source ? `Run ${runId} has ${source.seq} events, not ${seq}` : `There is no run ${runId} to fork from`,
      'Fork from a run and a seq that exist; nothing was written.',
      { runId, seq },
    )
  // An imported fork may have a deleted source: it was made before the deletion.
  if (source.summary.status === 'deleted' && !event.sealed) throw prunedRun(runId)
  let owner = source
  while (owner.forkOf && seq <= owner.forkOf.seq) owner = tx.runById(owner.forkOf.id)
  const last = tx.eventAt(owner, seq)
  if (!last) throw prunedPlace(owner.runId, seq)
  return { source, owner, seq, hash: last.hash, recordedAt: last.recordedAt }
}
