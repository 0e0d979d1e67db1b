import {
  type Blank,
  type PruneMarker,
  type QueueEntry,
  type StepSkeleton,
  storedEvent,
  type Transaction,
  type VaultChange,
} from '@clew/ledger'
import type { NewEvent } from './event-row.ts'
import {
  BLOCK,
  eventKey,
  type Loaded,
  nodeKey,
  rangeKey,
  runKey,
  scopeKey,
  scopeName,
  seqKey,
  stepKey,
} from './loaded.ts'
import type { RunRow } from './run-row.ts'

export interface NewScope {
  readonly id: number
  readonly workspace: string
  readonly name: string
}
export interface NewNode {
  readonly id: number
  readonly scope: number
  readonly hash: string
  readonly body: string
}
export interface ChangedStep {
  readonly run: number
  readonly step: StepSkeleton
  readonly isNew: boolean
}

export interface DroppedStep {
  readonly run: number
  readonly stepId: string
  readonly attempt: number
}
export interface PrunedRange extends PruneMarker {
  readonly run: number
}

export interface QueuedRun extends QueueEntry {
  readonly run: RunRow
}

/** Rows that a change writes, collected in memory. */
export interface Batch {
  readonly tx: Transaction
  /** Runs whose rows are written. */
  readonly runs: Set<RunRow>
  readonly events: NewEvent[]
  readonly steps: Map<string, ChangedStep>
  readonly droppedSteps: Map<string, DroppedStep>
  readonly scopes: NewScope[]
  readonly nodes: NewNode[]
  readonly blanks: (Blank & { readonly at: string })[]
  readonly prunedRanges: PrunedRange[]
  readonly vault: VaultChange[]
  readonly queued: QueuedRun[]
  /** Runs that wait in no queue any more. */
  readonly dequeued: RunRow[]
}

/**
 * The transaction of `applyChange`: it reads loaded rows and what was written before in the same batch, and collects
 * what is to be written. The rows of `loaded` are changed on the way.
 */
export function createBatch(loaded: Loaded): Batch {
  const { runs, runsById, leases, scopes, nodes, nodeHashes } = loaded
  const batch: Omit<Batch, 'tx'> = {
    runs: new Set(),
    events: [],
    steps: new Map(),
    droppedSteps: new Map(),
    scopes: [],
    nodes: [],
    blanks: [],
    prunedRanges: [],
    vault: [],
    queued: [],
    dequeued: [],
  }
  const eventsById = new Map<string, NewEvent>()
  /** Positions that are the ids of runs without an event. */
  let skipped = 0

  function scopeOf(workspace: string, name: string): number {
    const found = scopes.get(scopeKey(workspace, name))
    if (found !== undefined) return found
    const id = loaded.ids.pop() as number
    scopes.set(scopeKey(workspace, name), id)
    batch.scopes.push({ id, workspace, name })
    return id
  }

  const nextPosition = (): number => {
    const place = batch.events.length + skipped
    return (loaded.blocks[Math.floor(place / BLOCK)] as number) + (place % BLOCK)
  }

  const tx: Transaction = {
    findRun: (key) => runs.get(runKey(key)),
    insertRun({ workspace, runId, summary, forkOf }) {
      const lease = leases.get(runKey({ workspace, runId })) ?? { epoch: 0, held: false }
      if (runsById.has(nextPosition())) skipped++
      const run: RunRow = {
        id: nextPosition(),
        workspace,
        runId,
        scope: scopeOf(workspace, scopeName(runId, summary.threadId)),
        forkOf,
        seq: 0,
        hash: '',
        recordedAt: '',
        summary,
        ...lease,
        revision: 0,
        lastEventId: null,
        stored: null,
        isRewritten: false,
      }
      runs.set(runKey(run), run)
      runsById.set(run.id, run)
      return run
    },
    findEvent(run, eventId) {
      const own = eventsById.get(eventKey(run, eventId))
      return own
        ? storedEvent(own.run, own.event, own.place, own.body)
        : loaded.events.get(eventKey(run, eventId))
    },
    eventAt(run, seq) {
      const own = batch.events.find((each) => each.run.id === run.id && each.place.seq === seq)
      return own
        ? storedEvent(own.run, own.event, own.place, own.body)
        : loaded.eventsAt.get(seqKey(run.id, seq))
    },
    runById: (id) => runsById.get(id) as RunRow,
    macOf(position) {
      const own = batch.events.find(({ place }) => place.position === position)
      return own ? own.event.mac : (loaded.macs.get(position) ?? null)
    },
    nodeHash: (id) => nodeHashes.get(id) as string,
    nextPosition,
    insertEvent(given, event, place, body) {
      const run = given as RunRow
      const follows = event.causationId !== null && event.causationId === run.lastEventId
      const own = { run, event, place, body, follows }
      batch.events.push(own)
      // A fresh id is not sent twice.
      if (!event.fresh) eventsById.set(eventKey(run, event.eventId), own)
      run.lastEventId = event.eventId
    },
    findNode: (scope, hash) => nodes.get(nodeKey(scope, hash)),
    insertNode(scope, hash, body) {
      const id = loaded.ids.pop() as number
      nodes.set(nodeKey(scope, hash), id)
      nodeHashes.set(id, hash)
      batch.nodes.push({ id, scope, hash, body })
      return id
    },
    findStep(run, stepId, attempt) {
      const key = stepKey(run.id, stepId, attempt)
      return batch.steps.get(key)?.step ?? loaded.steps.get(key)
    },
    putStep(run, step) {
      const key = stepKey(run.id, step.stepId, step.attempt)
      batch.steps.set(key, { run: run.id, step, isNew: !loaded.steps.has(key) })
      batch.droppedSteps.delete(key)
    },
    dropStep(run, stepId, attempt) {
      const key = stepKey(run.id, stepId, attempt)
      batch.steps.delete(key)
      batch.droppedSteps.set(key, { run: run.id, stepId, attempt })
    },
    lease(key) {
      const lease = runs.get(runKey(key)) ?? leases.get(runKey(key))
      return lease && lease.epoch > 0 ? { epoch: lease.epoch, held: lease.held } : undefined
    },
    enqueue: (run, entry) => void batch.queued.push({ run: run as RunRow, ...entry }),
    dequeue: (run) => void batch.dequeued.push(run as RunRow),
    touch(run, isRewritten = false) {
      const row = run as RunRow
      batch.runs.add(row)
      row.isRewritten ||= isRewritten
    },
    isLeased: ({ id }) => loaded.leased.has(id),
    forksOf: ({ id }) => loaded.forks.get(id) ?? [],
    countEvents: ({ id }, fromSeq, toSeq) => loaded.counts.get(rangeKey(id, fromSeq, toSeq)) ?? 0,
    hasEvents: (run) => loaded.withEvents.has(run.id) || batch.events.some((event) => event.run === run),
    blank: (blank, at) => void batch.blanks.push({ ...blank, at }),
    prune(run, seal) {
      batch.prunedRanges.push({ run: run.id, ...seal })
      // Its revision is raised: a cached row may have steps of the range.
      batch.runs.add(run as RunRow)
    },
    replaceVault: (change) => void batch.vault.push(change),
  }
  return { ...batch, tx }
}
