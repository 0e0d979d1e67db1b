import { systemRunId, isSystemRun } from '../event/system-run.ts'
import { parseCursor } from '../read/cursor.ts'
import { ClewError } from '../errors.ts'
import { matchesScoresAndTags } from '../fold/scores-and-tags.ts'
import type { Ports } from '../ports.ts'
import type { RunQuery, Store, StoreCore, StoredEvent, StoredRun, StoreInfo } from '../store/store.ts'
import { applyChange } from '../store/apply-change.ts'
import { noDisk } from '../store/disk.ts'
import { dueMsOf } from '../store/due.ts'
import type { RawRows } from '../store/raw-rows.ts'
import type { Values } from '../store/values.ts'
import { withDefaults } from '../store/with-defaults.ts'
import type { VaultData, VaultRow } from '../vault/vault-rows.ts'
import { notifyAll } from '../store/wake.ts'
import { createInProcessLeases } from './leases.ts'
import { createRows, type InProcessRun, ownsEvents, type Rows } from './rows.ts'
import { createInProcessSlots } from './slots.ts'

/** A ledger that lives as long as the process: for tests, trials and the browser. */
export const createInProcessStore = (ports: Ports): Store => withDefaults(createInProcessCore(ports))

function createInProcessCore(ports: Ports): StoreCore {
  const rows: Rows = createRows(() => leases)
  const leases = createInProcessLeases(ports, rows.runs)
  const { runs, events, vault } = rows
  const watchers = new Set<() => void>()
  let closed = false

  function assertOpen(): void {
    if (closed)
      throw new ClewError('closed', 'The ledger memory: is closed', 'Open it again before using it.')
  }

  function toStoredRun(run: InProcessRun, { with: parts = [] }: RunQuery): StoredRun {
    const { summary, workspace, seq, hash, forkOf, recordedAt } = run
    return {
      summary,
      workspace,
      seq,
      hash,
      forkOf: forkOf && { runId: (runs[forkOf.id] as InProcessRun).runId, seq: forkOf.seq },
      recordedAt,
      ...(parts.includes('bytes') && { bytes: sizeOf(run) }),
      ...(parts.includes('pruned') && { pruned: [...run.pruned] }),
    }
  }

  /** Values count for each run of their scope in equal parts. */
  function sizeOf({ events: own, scope }: InProcessRun): number {
    const sharers = runs.filter((run) => run.scope === scope && run.summary.status !== 'deleted').length
    const shared = rows.values.reduce(
      (sum, value) => sum + (value?.scope === scope ? value.body.length : 0),
      0,
    )
    return bodyChars(own) + Math.round(shared / Math.max(1, sharers))
  }

  /** In the order in which they began. */
  const runsWithIds = (workspace: string, ids: readonly string[]): InProcessRun[] =>
    [...new Set(ids)].flatMap((runId) => rows.findRun({ workspace, runId }) ?? []).sort((a, b) => a.id - b.id)

  const facts: { readonly [K in keyof StoreInfo]: () => StoreInfo[K] } = {
    lastPosition: () => events.length,
    newestPosition: () => events.length,
    workspaces: () => [...new Set(runs.map((run) => run.workspace))],
    stats() {
      const [kept, values] = [events.filter(isPresent), rows.values.filter(isPresent)]
      const bytes = bodyChars(kept) + 400 * kept.length + bodyChars(values) + 100 * values.length
      return { events: kept.length, runs: runs.length, values: values.length, bytes }
    },
    storage: () => [{ name: 'events and values', bytes: facts.stats().bytes }],
    prunedEvents: () =>
      runs.flatMap(({ pruned }) => pruned).reduce((sum, { fromSeq, toSeq }) => sum + toSeq - fromSeq + 1, 0),
    vaultKeys: () => [...new Set([...vault.values()].map(({ keyId }) => keyId))].toSorted(),
  }

  return {
    url: 'memory:',
    leases: leases.leases,
    slots: createInProcessSlots(),
    disk: noDisk,
    values: createValues(rows),
    rows: createRawRows(rows),
    async write(change) {
      assertOpen()
      const startedMs = ports.now()
      const applied = applyChange(rows.tx, ports, change)
      notifyAll(watchers)
      return { ...applied, tookMs: ports.now() - startedMs }
    },
    async readRun(key, { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER, limit, types }) {
      assertOpen()
      const run = rows.findRun(key)
      if (!run) return []
      const fits = ({ seq, eventType }: StoredEvent): boolean =>
        seq <= upToSeq && (!types || types.includes(eventType))
      return take(run.events, Math.max(0, afterSeq - (run.forkOf?.seq ?? 0)), limit, fits)
    },
    async readAll({
      workspace,
      afterPosition,
      upToPosition = Number.MAX_SAFE_INTEGER,
      limit,
      types,
      containing,
    }) {
      assertOpen()
      return take(
        events,
        afterPosition,
        limit,
        (event) =>
          event.position <= upToPosition &&
          (workspace === undefined || event.workspace === workspace) &&
          (!types || types.includes(event.eventType)) &&
          (!containing || mayContain(event.body, containing)),
      )
    },
    async countAfter(position) {
      assertOpen()
      return events.slice(position).filter(isPresent).length
    },
    async findEvents(query) {
      assertOpen()
      const { workspace } = query
      if ('positions' in query)
        return [...new Set(query.positions)]
          .sort((a, b) => a - b)
          .flatMap((position) => events[position - 1] ?? [])
          .filter((event) => event.workspace === workspace)
      const [kind, ids] = 'ids' in query ? (['id', query.ids] as const) : (['cause', query.causes] as const)
      return [...new Set(ids)]
        .flatMap((id) => rows.eventsOf(kind, workspace, id))
        .sort((a, b) => a.position - b.position)
    },
    async findRuns(query) {
      assertOpen()
      const { workspace, ids, order = 'newest', cursor, limit = Number.POSITIVE_INFINITY } = query
      const border = cursor === undefined ? undefined : parseCursor(cursor)
      const found = (ids && workspace !== undefined ? runsWithIds(workspace, ids) : runs).filter(
        (run) =>
          matches(run, query) &&
          (border === undefined || (order === 'newest' ? run.id < border : run.id > border)),
      )
      if (order === 'newest') found.reverse()
      const page = found.slice(0, limit)
      return {
        runs: page.map((run) => toStoredRun(run, query)),
        next: found.length > page.length ? String(page.at(-1)?.id) : null,
      }
    },
    async readSteps(
      key,
      {
        afterSeq = 0,
        beforeSeq = Number.MAX_SAFE_INTEGER,
        limit = Number.MAX_SAFE_INTEGER,
        last,
        stepId,
      } = {},
    ) {
      assertOpen()
      const found = [...(rows.findRun(key)?.steps.values() ?? [])]
        .filter(
          (step) =>
            step.startedSeq > afterSeq &&
            step.startedSeq < beforeSeq &&
            (stepId === undefined || step.stepId === stepId),
        )
        .sort((a, b) => a.startedSeq - b.startedSeq)
      return last === true ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
    },
    async readVault(query) {
      assertOpen()
      const toRow = ([position, data]: [number, VaultData]): VaultRow => ({
        position,
        ...data,
        event: toVaultedEvent(events[position - 1]),
      })
      const sorted = [...vault].toSorted(([a], [b]) => a - b)
      if ('positions' in query)
        return sorted.filter(([position]) => query.positions.includes(position)).map(toRow)
      const { afterPosition, limit, keyId: only, exceptKeyId } = query
      return sorted
        .filter(
          ([position, { keyId }]) =>
            position > afterPosition && keyId !== exceptKeyId && (only ?? keyId) === keyId,
        )
        .slice(0, limit)
        .map(toRow)
    },
    async info(...keys) {
      assertOpen()
      return Object.fromEntries(keys.map((key) => [key, facts[key]()])) as never
    },
    watch(wake) {
      watchers.add(wake)
      return () => void watchers.delete(wake)
    },
    async close() {
      closed = true
      notifyAll(watchers)
    },
  }
}

/** All columns repeat the summary, since there is no second copy of it. */
function createRawRows({ events, findRun, scopeName }: Rows): RawRows {
  return {
    async marks({ afterPosition, limit }) {
      const marked = take(events, afterPosition, limit, ({ erased, pruned }) => erased || pruned)
      return marked.map(({ position, workspace, correlationId: runId, seq, erased, pruned }) => ({
        position,
        isErased: erased && !pruned,
        isPruned: pruned,
        event: { workspace, runId, seq },
      }))
    },
    async ofRun(key) {
      const run = findRun(key)
      if (!run) return null
      const { status, threadId, agent, agentVersion, parentRunId, startedAt, subjects, tags, scores } =
        run.summary
      const startedMs = Date.parse(startedAt)
      const dueMs = dueMsOf(run.summary, run.recordedAt)
      return {
        columns: { status, threadId, agent, agentVersion, parentRunId, startedMs, dueMs },
        subjects,
        tags: Object.entries(tags),
        scores: scores.map(({ seq, name, value }) => ({
          seq,
          name,
          value: JSON.stringify(value),
          number: typeof value === 'number' ? value : null,
        })),
        scope: { id: run.scope, name: scopeName(run) },
        copies: [],
        memorySeq: null,
      }
    },
    strays: async () => [],
  }
}

function createValues({ runs, values, pending, dropValue }: Rows): Values {
  const references = (scope: number): { position: number; body: string }[] =>
    runs
      .filter((run) => run.scope === scope)
      .flatMap((run) => run.events)
      .flatMap((event) =>
        event && event.body !== null && !event.body.startsWith('{')
          ? [{ position: event.position, body: event.body }]
          : [],
      )
      .sort((a, b) => a.position - b.position)
  return {
    read: async (ids) => new Map(ids.flatMap((id) => (values[id] ? [[id, values[id]]] : []))),
    pending: async () => [...pending].map(([scope, mark]) => ({ scope, mark })),
    references: async (scope, afterPosition, limit) =>
      references(scope)
        .filter(({ position }) => position > afterPosition)
        .slice(0, limit),
    list: async (scope, afterId, limit) =>
      values
        .flatMap((value, id) => (value?.scope === scope && id > afterId ? [{ id, body: value.body }] : []))
        .slice(0, limit),
    async drop({ scope, ids, upToPosition, mark }) {
      if ((references(scope).at(-1)?.position ?? 0) > upToPosition) return false
      for (const id of ids) dropValue(id)
      if (pending.get(scope) === mark) pending.delete(scope)
      return true
    },
  }
}

function matches(run: InProcessRun, query: RunQuery): boolean {
  const { summary } = run
  const { ids, below, subjects, systemRun, status, threadIds } = query
  return (
    (query.workspace === undefined || run.workspace === query.workspace) &&
    (!ids || ids.includes(run.runId)) &&
    (!below ||
      below.includes(summary.parentRunId ?? '') ||
      below.includes(summary.forkedFrom?.runId ?? '')) &&
    (!subjects || summary.subjects.some((subject) => subjects.includes(subject))) &&
    (systemRun === undefined ||
      (systemRun === null ? !isSystemRun(run.runId) : run.runId.startsWith(systemRunId(systemRun, '')))) &&
    (status === undefined
      ? query.deleted === true || summary.status !== 'deleted'
      : summary.status === status) &&
    (query.hasEvents !== true || ownsEvents(run)) &&
    (query.agent === undefined || summary.agent === query.agent) &&
    (!threadIds || threadIds.includes(summary.threadId ?? '')) &&
    (query.since === undefined || Date.parse(summary.startedAt) >= Date.parse(query.since)) &&
    matchesScoresAndTags(summary, query)
  )
}

const isPresent = <T>(item: T | undefined): item is T => item !== undefined

const bodyChars = (items: readonly ({ readonly body: string | null } | undefined)[]): number =>
  items.reduce((sum, item) => sum + (item?.body?.length ?? 0), 0)

const mayContain = (body: string | null, texts: readonly string[]): boolean =>
  body !== null && (!body.startsWith('{') || texts.some((text) => body.includes(text)))

const toVaultedEvent = (event: StoredEvent | undefined): VaultRow['event'] =>
  event
    ? {
        workspace: event.workspace,
        runId: event.correlationId,
        seq: event.seq,
        eventId: event.eventId,
        payloadHash: event.payloadHash,
        hasPayload: event.body !== null,
      }
    : null

function take<T>(
  list: readonly (T | undefined)[],
  first: number,
  limit: number,
  fits: (item: T) => boolean,
): T[] {
  const found: T[] = []
  for (let at = first; at < list.length && found.length < limit; at++) {
    const item = list[at]
    if (item !== undefined && fits(item)) found.push(item)
  }
  return found
}
