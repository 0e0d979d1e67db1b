import type { StepSkeleton } from '../fold/steps.ts'
import type { RunKey, StoredEvent } from '../store/store.ts'
import type { PruneMarker } from '../store/change.ts'
import { storedEvent } from '../store/stored-event.ts'
import type { MutableRun, Transaction } from '../store/transaction.ts'
import type { StoredNode } from '../hash/tree.ts'
import type { VaultData } from '../vault/vault-rows.ts'
import type { createInProcessLeases } from './leases.ts'

export interface InProcessRun extends MutableRun {
  /** Index: seq, from the run's first own event; a pruned event is a hole. */
  readonly events: (StoredEvent | undefined)[]
  readonly eventsById: Map<string, StoredEvent>
  readonly steps: Map<string, StepSkeleton>
  readonly pruned: PruneMarker[]
}

interface InProcessValue extends StoredNode {
  readonly scope: number
}

/** The tables of a store in memory. */
export interface Rows {
  readonly runs: InProcessRun[]
  /** Index: position, from 1; a pruned event is a hole. */
  readonly events: (StoredEvent | undefined)[]
  readonly values: (InProcessValue | undefined)[]
  readonly vault: Map<number, VaultData>
  /** Marks of scopes whose values may be unused. */
  readonly pending: Map<number, number>
  findRun(key: RunKey): InProcessRun | undefined
  /** Events of one id or one cause, by position. */
  eventsOf(kind: 'id' | 'cause', workspace: string, eventId: string): StoredEvent[]
  /** `thread NAME` or `run ID`. */
  scopeName(run: MutableRun): string | null
  dropValue(id: number): void
  readonly tx: Transaction
}

const keyOf = ({ workspace, runId }: RunKey): string => `${workspace}\n${runId}`
const stepKeyOf = (stepId: string, attempt: number): string => `${attempt} ${stepId}`

export function ownsEvents({ events }: InProcessRun): boolean {
  return events.some((event) => event !== undefined)
}

export function createRows(leases: () => ReturnType<typeof createInProcessLeases>): Rows {
  const runs: InProcessRun[] = []
  const byKey = new Map<string, InProcessRun>()
  const events: (StoredEvent | undefined)[] = []
  const macs: (string | null)[] = []
  const eventLists = new Map<string, StoredEvent[]>()
  const values: (InProcessValue | undefined)[] = []
  const valueIds = new Map<string, number>()
  const scopes = new Map<string, number>()
  const vault = new Map<number, VaultData>()
  const pending = new Map<number, number>()
  let marks = 0

  function addTo(kind: 'id' | 'cause', eventId: string, event: StoredEvent): void {
    const key = `${kind} ${event.workspace}\n${eventId}`
    const list = eventLists.get(key)
    if (list) list.push(event)
    else eventLists.set(key, [event])
  }

  const own = (run: MutableRun): InProcessRun => runs[run.id] as InProcessRun
  const firstSeq = (run: MutableRun): number => (run.forkOf?.seq ?? 0) + 1

  function eventsIn(run: MutableRun, fromSeq: number, toSeq: number): StoredEvent[] {
    const [from, to] = [fromSeq - firstSeq(run), toSeq - firstSeq(run) + 1]
    return own(run)
      .events.slice(Math.max(0, from), to)
      .filter((event) => event !== undefined)
  }

  const tx: Transaction = {
    findRun: (key) => byKey.get(keyOf(key)),
    insertRun({ workspace, runId, summary, forkOf }) {
      const name = `${workspace}\n${summary.threadId === null ? `run ${runId}` : `thread ${summary.threadId}`}`
      const scope = scopes.get(name) ?? scopes.size
      scopes.set(name, scope)
      const run: InProcessRun = {
        id: runs.length,
        workspace,
        runId,
        scope,
        forkOf,
        seq: 0,
        hash: '',
        recordedAt: '',
        summary,
        events: [],
        eventsById: new Map(),
        steps: new Map(),
        pruned: [],
      }
      runs.push(run)
      byKey.set(keyOf(run), run)
      return run
    },
    findEvent: (run, eventId) => own(run).eventsById.get(eventId),
    eventAt: (run, seq) => own(run).events[seq - firstSeq(run)],
    runById: (id) => runs[id] as InProcessRun,
    macOf: (position) => macs[position - 1] ?? null,
    nodeHash: (id) => (values[id] as StoredNode).hash,
    nextPosition: () => events.length + 1,
    insertEvent(run, event, place, body) {
      const stored = storedEvent(run, event, place, body)
      events.push(stored)
      macs.push(event.mac)
      if (event.vault) vault.set(place.position, event.vault)
      own(run).events.push(stored)
      own(run).eventsById.set(event.eventId, stored)
      addTo('id', event.eventId, stored)
      if (event.causationId !== null) addTo('cause', event.causationId, stored)
    },
    findNode: (scope, hash) => valueIds.get(`${scope} ${hash}`),
    insertNode(scope, hash, body) {
      values.push({ scope, hash, body })
      valueIds.set(`${scope} ${hash}`, values.length - 1)
      return values.length - 1
    },
    findStep: (run, stepId, attempt) => own(run).steps.get(stepKeyOf(stepId, attempt)),
    putStep: (run, step) => void own(run).steps.set(stepKeyOf(step.stepId, step.attempt), step),
    dropStep: (run, stepId, attempt) => void own(run).steps.delete(stepKeyOf(stepId, attempt)),
    lease: (key) => leases().current(key),
    enqueue: (run, entry) => leases().enqueue(run, entry),
    dequeue: (run) => leases().dequeue(run),
    touch(run) {
      if (run.summary.threadId === null) leases().forgetThread(run)
    },
    isLeased: (run) => leases().isLeased(run, run.summary.threadId),
    forksOf: (run) =>
      runs.flatMap((fork) =>
        fork.forkOf?.id === run.id
          ? [{ seq: fork.forkOf.seq, isNeedy: fork.summary.status !== 'deleted' || ownsEvents(fork) }]
          : [],
      ),
    countEvents: (run, fromSeq, toSeq) => eventsIn(run, fromSeq, toSeq).length,
    hasEvents: (run) => ownsEvents(own(run)),
    blank({ positions, as, keepPayloads = false }) {
      for (const position of positions) {
        // In place: the event is in several lists.
        const event = events[position - 1] as { -readonly [K in keyof StoredEvent]: StoredEvent[K] }
        if (as === 'pruned') event.pruned = true
        if (keepPayloads) continue
        event.body = null
        event.salt = null
        event.erased = true
        macs[position - 1] = null
        vault.delete(position)
        pending.set((byKey.get(`${event.workspace}\n${event.correlationId}`) as InProcessRun).scope, ++marks)
      }
    },
    prune(run, seal) {
      const { pruned, steps, eventsById, events: ownEvents } = own(run)
      pruned.push(seal)
      pruned.sort((a, b) => a.fromSeq - b.fromSeq)
      for (const { position, eventId } of eventsIn(run, seal.fromSeq, seal.toSeq)) {
        events[position - 1] = undefined
        macs[position - 1] = null
        vault.delete(position)
        eventsById.delete(eventId)
      }
      for (let seq = seal.fromSeq; seq <= seal.toSeq; seq++) ownEvents[seq - firstSeq(run)] = undefined
      for (const [key, { startedSeq }] of steps)
        if (startedSeq >= seal.fromSeq && startedSeq <= seal.toSeq) steps.delete(key)
      pending.set(run.scope, ++marks)
    },
    replaceVault({ position, before, after }) {
      const row = vault.get(position)
      if (row?.keyId === before.keyId && row.data === before.data) vault.set(position, after)
    },
  }

  return {
    runs,
    events,
    values,
    vault,
    pending,
    findRun: (key) => byKey.get(keyOf(key)),
    // A pruned event stays in its list and is passed over.
    eventsOf: (kind, workspace, eventId) =>
      (eventLists.get(`${kind} ${workspace}\n${eventId}`) ?? []).filter(
        (event) => events[event.position - 1] === event,
      ),
    scopeName({ workspace, scope }) {
      const [name] = [...scopes].find(([, id]) => id === scope) ?? []
      return name?.slice(workspace.length + 1) ?? null
    },
    dropValue(id) {
      const value = values[id]
      values[id] = undefined
      if (value) valueIds.delete(`${value.scope} ${value.hash}`)
    },
    tx,
  }
}
