import {
  dueMsOf,
  type EventPlace,
  type PreparedEvent,
  type RunDraft,
  type StepSkeleton,
  storedEvent,
  type StoredEvent,
  type Transaction,
} from '@clew/ledger'
import {
  eventKeyOf,
  type Known,
  knownStepKeyOf,
  type Needs,
  noNeeds,
  placeKeyOf,
  scopeKeyOf,
} from './load.ts'
import { keyOf, nodeKeyOf, type Remembered, scopeName, stepKeyOf, type StoredHead } from './remembered.ts'

/** A run within a decision. Until it is written, the id of a new one is that of its first event's place: negative. */
export interface DraftRun extends StoredHead {
  /** As the row is that this builds on; null for a run that begins. */
  readonly stored: StoredHead | null
}

/** What the row says of when the run goes on: since when it has been so, as long as nothing changed that it hangs on. */
export function dueOf({ summary, recordedAt, status, dueAt, dueMs }: DraftRun): number | null {
  return summary.status === status && summary.dueAt === dueAt ? dueMs : dueMsOf(summary, recordedAt)
}

/** The row of the run as it was written now. */
export function headOf(run: DraftRun, id: number, forkOf: StoredHead['forkOf']): StoredHead {
  const { workspace, runId, scope, seq, hash, recordedAt, summary, epoch, held, revision, lastEventId } = run
  return {
    id,
    workspace,
    runId,
    scope,
    forkOf,
    seq,
    hash,
    recordedAt,
    summary,
    epoch,
    held,
    revision,
    status: summary.status,
    dueAt: summary.dueAt,
    dueMs: dueOf(run),
    lastEventId,
    steps: run.steps,
  }
}

export interface DraftEvent {
  readonly run: DraftRun
  readonly event: PreparedEvent
  readonly place: EventPlace
  readonly body: string | null
  readonly follows: boolean
}

export interface DraftStep {
  readonly run: DraftRun
  readonly step: StepSkeleton
  readonly isStored: boolean
}

export interface Draft {
  readonly tx: Transaction
  /** What it was that `tx` threw `LACKING` for. */
  needs(): Needs
  readonly runs: Map<string, DraftRun>
  readonly touched: Set<DraftRun>
  readonly events: DraftEvent[]
  readonly steps: Map<string, DraftStep>
  readonly scopes: { readonly id: number; readonly workspace: string; readonly name: string }[]
  /** Scopes in which it refers to values that stand already, and the revision of which these are known. */
  readonly leanedOn: Map<number, number>
  readonly nodes: Map<
    string,
    { readonly id: number; readonly scope: number; readonly hash: string; readonly body: string }
  >
}

/** Thrown out of `commitCalls` when something must be read first; then the decision is made again. */
export const LACKING = new Error('something must be read before this can be decided')

/**
 * The transaction of `commitCalls` over remembered and known rows: nothing is written by it, and it can be thrown away.
 * One at a time, for all share their functions: making twenty of them anew costs as much as a small decision.
 *
 * Of a run whose head is remembered, what would have been read is taken for new: an id, a step that begins, a value. If
 * it is not, a unique index refuses the statement, and all is decided again on what was read then.
 */
export function createDrafts(remembered: Remembered): (known: Known) => Draft {
  let known: Known
  let needs: Needs | undefined
  let runs: Draft['runs']
  let touched: Draft['touched']
  let events: DraftEvent[]
  let steps: Draft['steps']
  let scopes: Draft['scopes']
  let nodes: Draft['nodes']
  let leanedOn: Draft['leanedOn']
  // Made when they are needed: an append that makes none of it pays for none.
  let byEventId: Map<string, DraftEvent> | undefined
  let newScopes: Map<string, number> | undefined
  let newHashes: Map<number, string> | undefined
  let readScopes: Set<number> | undefined
  let latest: DraftRun | undefined

  function lack(add: (needs: Needs) => unknown): never {
    needs ??= noNeeds()
    add(needs)
    throw LACKING
  }

  function draftOf(stored: StoredHead): DraftRun {
    const draft: DraftRun = { ...stored, stored }
    runs.set(keyOf(draft), draft)
    return draft
  }

  function nextId(): number {
    return remembered.nextId() ?? lack((to) => (to.ids = 1))
  }

  function scopeOf(workspace: string, runId: string, threadId: string | null): number {
    const name = scopeName(runId, threadId)
    const key = scopeKeyOf(workspace, name)
    const found = newScopes?.get(key) ?? remembered.scope(key) ?? known.scopes.get(key)
    if (found !== undefined && found !== null) return found
    // The scope of a run without a thread is made with the run.
    if (found === undefined && threadId !== null) lack((to) => to.scopes.push({ workspace, name }))
    const id = nextId()
    scopes.push({ id, workspace, name })
    newScopes ??= new Map()
    newScopes.set(key, id)
    return id
  }

  /** What the draft itself has written is read as if it lay in the store. */
  const toStored = ({ run, event, place, body }: DraftEvent): StoredEvent =>
    storedEvent(run, event, place, body)

  /** Whether what is not remembered of the run may be there: its row was read for this decision. */
  const wasRead = (run: DraftRun): boolean => known.runs.has(keyOf(run))

  /** The event that is folded now begins this attempt, so a row that stands already will refuse it. */
  function begins(run: DraftRun, stepId: string, attempt: number): boolean {
    const now = events.at(-1)
    if (now?.run !== run || now.event.payload === null) return false
    const { eventType, payload } = now.event
    if (payload['stepId'] !== stepId || (payload['attempt'] ?? 1) !== attempt) return false
    return (
      eventType === 'execution.step_started' ||
      (eventType === 'execution.step_completed' && typeof payload['name'] === 'string')
    )
  }

  const tx: Transaction = {
    findRun(key) {
      if (latest?.runId === key.runId && latest.workspace === key.workspace) return latest
      const name = keyOf(key)
      const found = runs.get(name) ?? known.runs.get(name) ?? remembered.run(name)
      if (found) {
        latest = 'stored' in found ? (found as DraftRun) : draftOf(found)
        return latest
      }
      if (!known.runs.has(name)) lack((to) => to.runs.push(key))
      return undefined
    },
    insertRun({ workspace, runId, summary, forkOf }) {
      const scope = scopeOf(workspace, runId, summary.threadId)
      const lease = known.leases.get(keyOf({ workspace, runId })) ?? { epoch: 0, held: false }
      const run: DraftRun = {
        id: tx.nextPosition(),
        workspace,
        runId,
        scope,
        forkOf,
        seq: 0,
        hash: '',
        recordedAt: '',
        summary,
        ...lease,
        revision: 0,
        status: '',
        dueAt: null,
        dueMs: null,
        lastEventId: undefined,
        steps: new Map(),
        stored: null,
      }
      runs.set(keyOf(run), run)
      latest = run
      return run
    },
    findEvent(given, eventId) {
      const run = given as DraftRun
      const name = eventKeyOf(run, eventId)
      const own = byEventId?.get(name)
      if (own) return toStored(own)
      const stored = known.events.get(name)
      if (stored === undefined && run.stored && wasRead(run))
        lack((to) => to.events.push({ workspace: run.workspace, runId: run.runId, eventId }))
      return stored?.event
    },
    eventAt(run, seq) {
      const own = events.find((each) => each.run.id === run.id && each.place.seq === seq)
      if (own) return toStored(own)
      const found = known.places.get(placeKeyOf(run.id, seq))
      if (found === undefined) lack((to) => to.places.push({ run: run.id, seq }))
      return found ?? undefined
    },
    runById(id) {
      for (const own of runs.values()) if (own.id === id) return own
      const found = known.runIds.get(id)
      return found ? draftOf(found) : lack((to) => to.runIds.push(id))
    },
    macOf(position) {
      return position < 0
        ? (events[-position - 1] as DraftEvent).event.mac
        : (known.macs.get(position) ?? null)
    },
    nodeHash(id) {
      return newHashes?.get(id) ?? known.nodeHashes.get(id) ?? lack((to) => to.nodeIds.push(id))
    },
    nextPosition: () => -events.length - 1,
    insertEvent(given: RunDraft, event, place, body) {
      const run = given as DraftRun
      const follows = event.causationId !== null && event.causationId === run.lastEventId
      const own = { run, event, place, body, follows }
      events.push(own)
      run.lastEventId = event.eventId
      if (event.fresh) return
      byEventId ??= new Map()
      byEventId.set(eventKeyOf(run, event.eventId), own)
    },
    findNode(scope, hash) {
      const name = nodeKeyOf(scope, hash)
      const own = nodes.get(name)?.id
      if (own !== undefined) return own
      const found = remembered.node(name) ?? known.nodes.get(name)
      if (found) leanOn(scope)
      if (found !== undefined) return found ?? undefined
      if (wasScopeRead(scope)) lack((to) => to.nodes.push({ workspace: '', runId: '', scope, hash }))
      return undefined
    },
    insertNode(scope, hash, body) {
      const id = nextId()
      nodes.set(nodeKeyOf(scope, hash), { id, scope, hash, body })
      newHashes ??= new Map()
      newHashes.set(id, hash)
      return id
    },
    findStep(given, stepId, attempt) {
      const run = given as DraftRun
      const own = steps.get(knownStepKeyOf(run, stepId, attempt))
      if (own) return own.step
      if (!run.stored) return undefined
      const found =
        run.steps.get(stepKeyOf(stepId, attempt)) ?? known.steps.get(knownStepKeyOf(run, stepId, attempt))
      if (found !== undefined) return found ?? undefined
      if (!wasRead(run) && begins(run, stepId, attempt)) return undefined
      return lack((to) => to.steps.push({ workspace: run.workspace, runId: run.runId, stepId, attempt }))
    },
    putStep(given, step) {
      const run = given as DraftRun
      const name = knownStepKeyOf(run, step.stepId, step.attempt)
      const isStored =
        steps.get(name)?.isStored ??
        (run.steps.has(stepKeyOf(step.stepId, step.attempt)) || Boolean(known.steps.get(name)))
      steps.set(name, { run, step, isStored })
    },
    lease(key) {
      const run = tx.findRun(key) as DraftRun | undefined
      const lease = run ?? known.leases.get(keyOf(key))
      return lease && lease.epoch > 0 ? { epoch: lease.epoch, held: lease.held } : undefined
    },
    touch: (run) => void touched.add(run as DraftRun),
  }

  /** What is remembered or was read before the revision may be gone: then it is looked for again. */
  function leanOn(scope: number): void {
    const revision = remembered.revision(scope)
    if (revision === undefined) {
      for (const key of known.nodes.keys()) if (key.startsWith(`${scope} `)) known.nodes.delete(key)
      lack((to) => to.revisions.push(scope))
    }
    leanedOn.set(scope, revision)
  }

  /** A scope that was found by reading may hold values that are not remembered here. */
  function wasScopeRead(scope: number): boolean {
    readScopes ??= new Set([
      ...[...known.runs.values()].flatMap((run) => (run ? [run.scope] : [])),
      ...[...known.scopes.values()].flatMap((id) => (id === null ? [] : [id])),
    ])
    return readScopes.has(scope)
  }

  // A getter would be made anew with each draft.
  const lacking = (): Needs => (needs ??= noNeeds())

  return (given) => {
    known = given
    needs = byEventId = newScopes = newHashes = readScopes = latest = undefined
    runs = new Map()
    touched = new Set()
    events = []
    steps = new Map()
    scopes = []
    nodes = new Map()
    leanedOn = new Map()
    return {
      tx,
      needs: lacking,
      runs,
      touched,
      events,
      steps,
      scopes,
      leanedOn,
      nodes,
    }
  }
}
