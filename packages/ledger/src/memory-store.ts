import { commitCalls } from './commit.ts'
import { bookId, isBook } from './book.ts'
import { ClewError } from './errors.ts'
import type { RunSummary } from './fold/run-summary.ts'
import { matchesScoresAndTags } from './fold/scores-and-tags.ts'
import { storedEvent } from './stored-event.ts'
import type { StepSkeleton } from './fold/steps.ts'
import { createMemoryCursors } from './memory-cursors.ts'
import { createMemoryLeases } from './memory-leases.ts'
import { createMemoryProgress } from './memory-progress.ts'
import type { Ports } from './ports.ts'
import { parseCursor } from './cursor.ts'
import { PROJECTION_VERSION } from './projection-version.ts'
import { createMemoryErasing } from './erasure/memory-erasing.ts'
import { createMemoryRetention } from './retention/memory-retention.ts'
import { MEMORY_BOOK } from './memory/item.ts'
import { createMemoryRows } from './memory/memory-rows.ts'
import { createMemoryIndex } from './search/memory-index.ts'
import { createMemoryVault } from './vault/memory-vault.ts'
import { wakeAll } from './wake.ts'
import type {
  AppendOutcome,
  ListRunsOptions,
  ProjectionState,
  Projections,
  RunKey,
  Store,
  StoredEvent,
  StoredRun,
} from './store.ts'
import type { RunDraft, Transaction } from './transaction.ts'
import type { StoredNode } from './tree.ts'

interface MemoryRun extends RunDraft {
  /** By seq, from the first own one on; what was pruned is a hole. */
  readonly events: (StoredEvent | undefined)[]
  readonly byEventId: Map<string, StoredEvent>
  steps: Map<string, StepSkeleton>
}

const keyOf = (key: RunKey): string => `${key.workspace}\n${key.runId}`

/** A ledger that lives as long as the process: for tests, trials and the browser. */
export function createMemoryStore(ports: Ports): Store {
  const runs: MemoryRun[] = []
  const byKey = new Map<string, MemoryRun>()
  const events: (StoredEvent | undefined)[] = []
  const macs: (string | null)[] = []
  const nodes: (StoredNode | undefined)[] = []
  const nodeScopes: number[] = []
  const nodeIds = new Map<string, number>()
  const scopes = new Map<string, number>()
  const byEventId = new Map<string, StoredEvent[]>()
  const byCause = new Map<string, StoredEvent[]>()
  const watchers = new Set<() => void>()
  const leases = createMemoryLeases(ports, runs)
  const vault = createMemoryVault((position) => events[position - 1])
  const search = createMemoryIndex((workspace, runId) => byKey.get(keyOf({ workspace, runId }))?.summary)
  let projected: ProjectionState = { version: PROJECTION_VERSION, rebuilding: null }
  let bytes = 0
  let kept = 0
  let keptNodes = 0
  let closed = false

  const tx: Transaction = {
    findRun: (key) => byKey.get(keyOf(key)),
    insertRun({ workspace, runId, summary, forkOf }) {
      const shared = `${workspace}\n${summary.threadId === null ? `run ${runId}` : `thread ${summary.threadId}`}`
      const scope = scopes.get(shared) ?? scopes.size
      scopes.set(shared, scope)
      const run: MemoryRun = {
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
        byEventId: new Map(),
        steps: new Map(),
      }
      runs.push(run)
      byKey.set(keyOf(run), run)
      return run
    },
    findEvent: (run, eventId) => own(run).byEventId.get(eventId),
    eventAt: (run, seq) => own(run).events[seq - 1 - (run.forkOf?.seq ?? 0)],
    runById: (id) => runs[id] as MemoryRun,
    macOf: (position) => macs[position - 1] ?? null,
    nodeHash: (id) => (nodes[id] as StoredNode).hash,
    nextPosition: () => events.length + 1,
    insertEvent(run, event, place, body) {
      const stored = storedEvent(run, event, place, body)
      events.push(stored)
      kept++
      macs.push(event.mac)
      if (event.vault) vault.put(place.position, event.vault)
      own(run).events.push(stored)
      own(run).byEventId.set(event.eventId, stored)
      push(byEventId, `${run.workspace}\n${event.eventId}`, stored)
      if (event.causationId !== null) push(byCause, `${run.workspace}\n${event.causationId}`, stored)
      bytes += (body?.length ?? 0) + 400
    },
    findNode: (scope, hash) => nodeIds.get(`${scope} ${hash}`),
    insertNode(scope, hash, body) {
      nodes.push({ hash, body })
      nodeScopes.push(scope)
      keptNodes++
      nodeIds.set(`${scope} ${hash}`, nodes.length - 1)
      bytes += body.length + 100
      return nodes.length - 1
    },
    findStep: (run, stepId, attempt) => own(run).steps.get(`${attempt} ${stepId}`),
    putStep: (run, step) => void own(run).steps.set(`${step.attempt} ${step.stepId}`, step),
    lease: (key) => leases.current(key),
    touch() {},
  }

  const own = (run: RunDraft): MemoryRun => runs[run.id] as MemoryRun

  function assertOpen(): void {
    if (closed)
      throw new ClewError('closed', 'The ledger memory: is closed', 'Open it again before using it.')
  }

  function toStoredRun(run: MemoryRun): StoredRun {
    const { summary, workspace, seq, hash, forkOf, recordedAt } = run
    return {
      summary,
      workspace,
      seq,
      hash,
      forkOf: forkOf && { runId: (runs[forkOf.id] as MemoryRun).runId, seq: forkOf.seq },
      recordedAt,
    }
  }

  function matches(run: MemoryRun, options: ListRunsOptions): boolean {
    const { summary } = run
    return (
      run.workspace === options.workspace &&
      (options.book === undefined || isListed(summary.runId, options.book)) &&
      (options.status === undefined
        ? options.deleted === true || summary.status !== 'deleted'
        : summary.status === options.status) &&
      (options.agent === undefined || summary.agent === options.agent) &&
      (options.threadId === undefined ||
        (summary.threadId !== null && [options.threadId].flat().includes(summary.threadId))) &&
      (options.since === undefined || Date.parse(summary.startedAt) >= Date.parse(options.since)) &&
      matchesScoresAndTags(summary, options)
    )
  }

  const projections: Projections = {
    state: async () => projected,
    async mark(state) {
      projected = state
    },
    async runs(after, limit) {
      assertOpen()
      return runs.slice(after, after + limit).map((run) => ({ key: run.id + 1, run: toStoredRun(run) }))
    },
    async replace(key, { seq, summary, steps, gone }) {
      assertOpen()
      const run = byKey.get(keyOf(key))
      if (run?.seq !== seq) return false
      const idOf = ({ stepId, attempt }: { stepId: string; attempt: number }): string =>
        `${attempt} ${stepId}`
      for (const step of gone) run.steps.delete(idOf(step))
      for (const step of steps) run.steps.set(idOf(step), step)
      run.steps = new Map([...run.steps].sort(([, a], [, b]) => a.startedSeq - b.startedSeq))
      if (summary) run.summary = summary
      return true
    },
  }

  const memory = createMemoryRows({
    *heads(workspace, books) {
      if (books)
        for (const runId of books) {
          const run = byKey.get(keyOf({ workspace, runId }))
          if (run) yield [runId, run.seq]
        }
      else
        for (const run of runs)
          if (run.workspace === workspace && isListed(run.runId, MEMORY_BOOK)) yield [run.runId, run.seq]
    },
    eventAt: (position) => events[position - 1],
  })

  function dropPayload(position: number): void {
    const event = events[position - 1] as { body: string | null; salt: string | null; erased: boolean }
    bytes -= event.body?.length ?? 0
    // In place: the event stands in several lists.
    event.body = null
    event.salt = null
    event.erased = true
    macs[position - 1] = null
    vault.drop(position)
    void memory.remove((events[position - 1] as StoredEvent).workspace, [position])
  }

  const retention = createMemoryRetention<MemoryRun>({
    now: ports.now,
    dropPayload,
    runs,
    nodes,
    findRun: (key) => byKey.get(keyOf(key)),
    isHeld: (key, threadId) => leases.isHeld(key, threadId),
    append: (call) => commitCalls(tx, ports, [call])[0] as AppendOutcome,
    insertRun(key, { summary, forkOf }) {
      const source = forkOf && byKey.get(keyOf({ workspace: key.workspace, runId: forkOf.runId }))
      const place = forkOf && source ? { id: source.id, seq: forkOf.seq } : null
      return own(tx.insertRun({ ...key, summary, forkOf: place }))
    },
    dropEvent(run, event) {
      events[event.position - 1] = undefined
      macs[event.position - 1] = null
      vault.drop(event.position)
      kept--
      bytes -= (event.body?.length ?? 0) + 400
      run.byEventId.delete(event.eventId)
      without(byEventId, `${run.workspace}\n${event.eventId}`, event)
      if (event.causationId !== null) without(byCause, `${run.workspace}\n${event.causationId}`, event)
    },
    dropNode(scope, id) {
      const node = nodes[id]
      if (!node) return
      nodes[id] = undefined
      nodeIds.delete(`${scope} ${node.hash}`)
      keptNodes--
      bytes -= node.body.length + 100
    },
    scopeOfNode: (id) => nodeScopes[id],
    clearMemory: (run) => memory.clear(run.workspace, run.runId),
    toStoredRun,
    bytes: () => bytes,
  })

  return {
    url: 'memory:',
    leases: leases.api,
    cursors: createMemoryCursors(),
    projections,
    search,
    memory,
    retention,
    erasure: createMemoryErasing<MemoryRun>({
      runs,
      findRun: (key) => byKey.get(keyOf(key)),
      toStoredRun,
      events,
      append: (call) => commitCalls(tx, ports, [call])[0] as AppendOutcome,
      dropPayload,
      markScope: retention.markScope,
      ring: () => wakeAll(watchers),
    }),
    vault: vault.rows,
    progress: createMemoryProgress(),
    async write(calls) {
      assertOpen()
      const outcomes = commitCalls(tx, ports, calls)
      wakeAll(watchers)
      return outcomes
    },
    async findRun(key) {
      assertOpen()
      const run = byKey.get(keyOf(key))
      return run ? toStoredRun(run) : null
    },
    async listRuns(options) {
      assertOpen()
      const before = options.cursor === undefined ? runs.length : parseCursor(options.cursor)
      const found = runs
        .slice(0, before)
        .filter((run) => matches(run, options))
        .toReversed()
      const page = found.slice(0, options.limit)
      const last = page.at(-1)
      return {
        runs: page.map(toStoredRun),
        nextCursor: last && found.length > page.length ? String(last.id) : null,
      }
    },
    async findBelow(workspace, runIds) {
      assertOpen()
      const isBelow = ({ parentRunId, forkedFrom }: RunSummary): boolean =>
        (parentRunId !== null && runIds.includes(parentRunId)) ||
        (forkedFrom !== null && runIds.includes(forkedFrom.runId))
      return runs.filter((run) => run.workspace === workspace && isBelow(run.summary)).map(toStoredRun)
    },
    async readRun(key, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER, limit, types }) {
      assertOpen()
      const run = byKey.get(keyOf(key))
      if (!run) return []
      const first = Math.max(0, afterSeq - (run.forkOf?.seq ?? 0))
      return take(
        run.events,
        first,
        limit,
        (event) => event.seq <= upToSeq && (!types || types.includes(event.eventType)),
      )
    },
    async readAll({ workspace, afterPosition, upToPosition = Number.POSITIVE_INFINITY, limit, types }) {
      assertOpen()
      return take(
        events,
        afterPosition,
        limit,
        (event) =>
          event.position <= upToPosition &&
          (workspace === undefined || event.workspace === workspace) &&
          (!types || types.includes(event.eventType)),
      )
    },
    async findEvents(workspace, eventId) {
      assertOpen()
      return byEventId.get(`${workspace}\n${eventId}`) ?? []
    },
    async findCaused(workspace, eventIds) {
      assertOpen()
      const found = eventIds.flatMap((id) => byCause.get(`${workspace}\n${id}`) ?? [])
      return found.sort((a, b) => a.position - b.position)
    },
    async readNodes(ids) {
      assertOpen()
      return new Map(ids.flatMap((id) => (nodes[id] ? [[id, nodes[id]]] : [])))
    },
    async readSkeleton(
      key,
      {
        afterSeq = 0,
        beforeSeq = Number.POSITIVE_INFINITY,
        limit = Number.POSITIVE_INFINITY,
        last,
        stepId,
      } = {},
    ) {
      assertOpen()
      const found = [...(byKey.get(keyOf(key))?.steps.values() ?? [])].filter(
        (step) =>
          step.startedSeq > afterSeq &&
          step.startedSeq < beforeSeq &&
          (stepId === undefined || step.stepId === stepId),
      )
      return last === true ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
    },
    async workspaces() {
      assertOpen()
      return [...new Set(runs.map((run) => run.workspace))]
    },
    async stats() {
      assertOpen()
      return {
        events: kept,
        runs: runs.length,
        values: keptNodes,
        bytes,
      }
    },
    async lastPosition() {
      assertOpen()
      return events.length
    },
    async newestPosition() {
      assertOpen()
      return events.length
    },
    async countAfter(position) {
      assertOpen()
      return events.slice(position).filter((event) => event !== undefined).length
    },
    watch(wake) {
      watchers.add(wake)
      return () => void watchers.delete(wake)
    },
    async close() {
      closed = true
      wakeAll(watchers)
    },
  }
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key)
  if (list) list.push(item)
  else map.set(key, [item])
}

function without<T>(map: Map<string, T[]>, key: string, item: T): void {
  const rest = (map.get(key) ?? []).filter((each) => each !== item)
  if (rest.length > 0) map.set(key, rest)
  else map.delete(key)
}

function take<T>(
  list: readonly (T | undefined)[],
  first: number,
  limit: number,
  keep: (item: T) => boolean,
): T[] {
  const found: T[] = []
  for (let i = first; i < list.length && found.length < limit; i++) {
    const item = list[i]
    if (item !== undefined && keep(item)) found.push(item)
  }
  return found
}

const isListed = (runId: string, book: string | null): boolean =>
  book === null ? !isBook(runId) : runId.startsWith(bookId(book, ''))
