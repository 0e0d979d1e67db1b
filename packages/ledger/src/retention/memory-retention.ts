import { isBook } from '../book.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { parseMemoryBook } from '../memory/item.ts'
import type { AppendCall, AppendOutcome, RunKey, StoredEvent, StoredRun } from '../store.ts'
import { type StoredNode } from '../tree.ts'
import { mayGo } from './may-go.ts'
import {
  type AdoptedRun,
  deletedSummary,
  type PruneItem,
  type Seal,
  type StoreRetention,
} from './store-retention.ts'

/** What is asked of a run in memory; its events stand at their seq, counted from its first own one. */
export interface PrunableRun extends RunKey {
  readonly id: number
  readonly scope: number
  readonly forkOf: { readonly id: number; readonly seq: number } | null
  seq: number
  hash: string
  recordedAt: string
  summary: RunSummary
  readonly events: (StoredEvent | undefined)[]
  steps: Map<string, { readonly startedSeq: number }>
}

interface MemoryParts<Run extends PrunableRun> {
  readonly now: () => number
  readonly runs: readonly Run[]
  readonly nodes: (StoredNode | undefined)[]
  readonly findRun: (key: RunKey) => Run | undefined
  readonly isHeld: (key: RunKey, threadId: string | null) => boolean
  readonly append: (call: AppendCall) => AppendOutcome
  readonly insertRun: (key: RunKey, adopted: AdoptedRun) => Run
  readonly dropEvent: (run: Run, event: StoredEvent) => void
  readonly dropPayload: (position: number) => void
  readonly dropNode: (scope: number, id: number) => void
  readonly scopeOfNode: (id: number) => number | undefined
  readonly clearMemory: (run: Run) => Promise<void>
  readonly toStoredRun: (run: Run) => StoredRun
  readonly bytes: () => number
}

/** Retention over what lies in memory. */
export function createMemoryRetention<Run extends PrunableRun>(
  parts: MemoryParts<Run>,
): StoreRetention & { markScope(scope: number): void } {
  const { runs, nodes, findRun } = parts
  const seals = new Map<Run, Seal[]>()
  const pending = new Map<number, number>()
  let mark = 0

  const firstSeq = (run: Run): number => (run.forkOf?.seq ?? 0) + 1
  const eventsOf = (run: Run, { fromSeq, toSeq }: Seal): StoredEvent[] =>
    run.events
      .slice(Math.max(0, fromSeq - firstSeq(run)), toSeq - firstSeq(run) + 1)
      .filter((event) => event !== undefined)

  function isFree(run: Run | undefined, item: PruneItem): run is Run {
    if (run?.seq !== item.seq || !(mayGo(run.summary) || isBook(run.runId))) return false
    if (parts.isHeld(run, run.summary.threadId)) return false
    const range = eventsOf(run, item)
    if (range.length !== item.toSeq - item.fromSeq + 1 || range.at(-1)?.hash !== item.headHash) return false
    return !runs.some(
      (fork) => fork.forkOf?.id === run.id && fork.forkOf.seq >= item.fromSeq && isNeedy(fork),
    )
  }

  /** Of a deleted run without events nothing is left that could need anything. */
  const isNeedy = ({ summary, events }: Run): boolean =>
    summary.status !== 'deleted' || events.some((event) => event !== undefined)

  function apply(run: Run, item: PruneItem): number {
    const range = eventsOf(run, item)
    addSeal(run, item)
    for (const event of range) {
      run.events[event.seq - firstSeq(run)] = undefined
      parts.dropEvent(run, event)
    }
    for (const [id, { startedSeq }] of run.steps)
      if (startedSeq >= item.fromSeq && startedSeq <= item.toSeq) run.steps.delete(id)
    if (item.deletes || run.summary.status === 'deleted')
      run.summary = deletedSummary(
        run.summary,
        run.events.some((event) => event !== undefined),
      )
    pending.set(run.scope, ++mark)
    return range.length
  }

  function addSeal(run: Run, { fromSeq, toSeq, headHash }: Seal): void {
    const known = seals.get(run) ?? []
    seals.set(
      run,
      [...known, { fromSeq, toSeq, headHash }].sort((a, b) => a.fromSeq - b.fromSeq),
    )
  }

  const scopeEvents = (scope: number): StoredEvent[] =>
    runs
      .filter((run) => run.scope === scope)
      .flatMap((run) => run.events.filter((event) => event !== undefined))
      .filter(({ body }) => body !== null && !body.startsWith('{'))
      .sort((a, b) => a.position - b.position)

  return {
    pace: { batchMs: 2, rest: 1 },
    seals: async (workspace, runIds) =>
      runIds.flatMap((runId) => {
        const run = findRun({ workspace, runId })
        return ((run && seals.get(run)) ?? []).map((seal) => ({ ...seal, runId }))
      }),
    async sealedEvents() {
      return [...seals.values()].flat().reduce((sum, { fromSeq, toSeq }) => sum + toSeq - fromSeq + 1, 0)
    },
    async prune({ workspace, items, call }) {
      const startedMs = parts.now()
      const moved = items.filter((item) => !isFree(findRun({ workspace, runId: item.runId }), item))
      if (moved.length > 0) return { moved: moved.map(({ runId }) => runId) }
      const outcome = parts.append(call)
      if ('error' in outcome) return outcome
      let events = 0
      for (const item of items) {
        const run = findRun({ workspace, runId: item.runId }) as Run
        events += apply(run, item)
        if (parseMemoryBook(run.runId)) await parts.clearMemory(run)
      }
      return { events, tookMs: parts.now() - startedMs }
    },
    async pruneStates({ workspace, items, call }) {
      const startedMs = parts.now()
      const moved = items.filter(({ runId, forks }) => {
        const run = findRun({ workspace, runId })
        return !run || runs.filter(({ forkOf }) => forkOf?.id === run.id).length !== forks
      })
      if (moved.length > 0) return { moved: moved.map(({ runId }) => runId) }
      const outcome = parts.append(call)
      if ('error' in outcome) return outcome
      let events = 0
      for (const { runId, marks, blanks } of items) {
        const run = findRun({ workspace, runId }) as Run
        for (const seq of [...marks, ...blanks]) {
          const event = run.events[seq - firstSeq(run)]
          // In place: the event stands in several lists.
          if (event) (event as { pruned: boolean }).pruned = true
        }
        for (const seq of blanks) {
          const event = run.events[seq - firstSeq(run)]
          if (!event) continue
          parts.dropPayload(event.position)
          events++
        }
        pending.set(run.scope, ++mark)
      }
      return { events, tookMs: parts.now() - startedMs }
    },
    storage: async () => [{ name: 'events and values', bytes: parts.bytes() }],
    async leftovers(workspace, after, limit) {
      const found = runs.filter(
        (run) =>
          run.id >= after &&
          run.workspace === workspace &&
          run.summary.status === 'deleted' &&
          run.events.some((event) => event !== undefined),
      )
      return found.slice(0, limit).map((run) => ({ key: run.id + 1, run: parts.toStoredRun(run) }))
    },
    async sizes(workspace, runIds) {
      const shares = (scope: number): number =>
        runs.filter((run) => run.scope === scope && isNeedy(run)).length
      const shared = (scope: number): number =>
        nodes.reduce(
          (sum, node, id) => sum + (parts.scopeOfNode(id) === scope ? (node?.body.length ?? 0) : 0),
          0,
        )
      const sizeOf = (runId: string): number => {
        const run = findRun({ workspace, runId })
        if (!run) return 0
        const own = run.events.reduce((sum, event) => sum + (event?.body?.length ?? 0), 0)
        return own + Math.round(shared(run.scope) / Math.max(1, shares(run.scope)))
      }
      return new Map(runIds.map((runId) => [runId, sizeOf(runId)]))
    },
    async adopt(key, seal, adopted) {
      const known = findRun(key)
      if (known && known.seq !== seal.fromSeq - 1) return false
      if (!known && (adopted.forkOf?.seq ?? 0) !== seal.fromSeq - 1) return false
      const run = known ?? parts.insertRun(key, adopted)
      addSeal(run, seal)
      for (let seq = seal.fromSeq; seq <= seal.toSeq; seq++) run.events.push(undefined)
      run.seq = seal.toSeq
      run.hash = seal.headHash
      run.recordedAt = adopted.recordedAt
      if (adopted.summary.status === 'deleted') run.summary = deletedSummary(run.summary, isNeedy(run))
      return true
    },
    values: {
      pending: async () => [...pending].map(([scope, at]) => ({ scope, mark: at })),
      bodies: async (scope, afterPosition, limit) =>
        scopeEvents(scope)
          .filter(({ position }) => position > afterPosition)
          .slice(0, limit)
          .map(({ position, body }) => ({ position, body: body as string })),
      async nodes(scope, afterId, limit) {
        const found: { id: number; body: string }[] = []
        for (let id = afterId + 1; id < nodes.length && found.length < limit; id++) {
          const node = nodes[id]
          if (node && parts.scopeOfNode(id) === scope) found.push({ id, body: node.body })
        }
        return found
      },
      async drop(scope, ids, position) {
        if ((scopeEvents(scope).at(-1)?.position ?? 0) > position) return false
        for (const id of ids) parts.dropNode(scope, id)
        return true
      },
      async end(scope, at) {
        if (pending.get(scope) === at) pending.delete(scope)
      },
    },
    writeBack: () => {},
    reclaim: async () => false,
    markScope: (scope) => void pending.set(scope, ++mark),
  }
}
