import { findRun, findSeals } from '../store/find-runs.ts'
import type { ReadOptions } from '../ledger.ts'
import { prunedRun } from '../retention/pruned.ts'
import type { RunQuery, Store, StoredEvent, StoredRun } from '../store/store.ts'

const PAGE = 500

/** Pages of stored events and runs of one workspace, never more than one page in memory. */
export interface RunReader {
  /** A run from its first event: the prefixes it shares with the runs it was forked from, then its own. */
  events(runId: string, options?: RunRange): AsyncGenerator<StoredEvent[]>
  /** The parts of a run's line of forks that have events after a seq, newest first. */
  segments(runId: string, afterSeq?: number): AsyncGenerator<Segment>
  /** All events, by position. */
  allEvents(): AsyncGenerator<StoredEvent[]>
  /** Only what the run itself recorded and still has: in a fork, without the prefix it shares. */
  ownEvents(run: StoredRun, range?: Pick<RunRange, 'upToSeq' | 'types'>): AsyncGenerator<StoredEvent[]>
  /** All runs, newest first. */
  allRuns(filter?: Pick<RunQuery, 'agent' | 'threadIds' | 'deleted'>): AsyncGenerator<StoredRun>
}

export interface RunRange extends ReadOptions {
  readonly upToSeq?: number | undefined
}

/** Events that one run of a line owns: those with a seq over `afterSeq` and up to `upToSeq`. */
export interface Segment {
  readonly run: StoredRun
  readonly afterSeq: number
  readonly upToSeq: number
}

export function createRunReader(store: Store, workspace: string, assertOpen: () => void): RunReader {
  /** A long line of forks is followed back only as far as events are wanted. */
  async function* segments(runId: string, afterSeq = 0): AsyncGenerator<Segment> {
    assertOpen()
    let run = await findRun(store, { workspace, runId })
    let upToSeq = Number.MAX_SAFE_INTEGER
    while (run) {
      const { forkOf } = run
      yield { run, afterSeq: forkOf?.seq ?? 0, upToSeq }
      if (!forkOf || forkOf.seq <= afterSeq) return
      upToSeq = forkOf.seq
      run = await findRun(store, { workspace, runId: forkOf.runId })
    }
  }

  /** Refuses a deleted run with pruned events: the remaining events would give a wrong view. */
  async function assertThere({ run, upToSeq: last }: Segment, after: number, upTo: number): Promise<void> {
    if (run.summary.status !== 'deleted') return
    const { runId } = run.summary
    const seals = await findSeals(store, { workspace, runId })
    const gone = seals.filter(({ fromSeq, toSeq }) => toSeq > after && fromSeq <= Math.min(upTo, last))
    if (gone.length > 0) throw prunedRun(runId, gone)
  }

  return {
    segments,
    async *events(
      runId,
      { afterSeq = 0, upToSeq = Number.MAX_SAFE_INTEGER, limit = Number.POSITIVE_INFINITY, types } = {},
    ) {
      const line: Segment[] = []
      for await (const segment of segments(runId, afterSeq)) {
        await assertThere(segment, afterSeq, upToSeq)
        line.unshift(segment)
      }
      let seq = afterSeq
      let left = limit
      for (const { run, upToSeq: last } of line) {
        const end = Math.min(last, upToSeq)
        while (left > 0 && seq < end) {
          assertOpen()
          const size = Math.min(PAGE, left)
          const range = { afterSeq: seq, upToSeq: end, limit: size, types }
          const page = await store.readRun({ workspace, runId: run.summary.runId }, range)
          if (page.length > 0) yield page
          left -= page.length
          seq = page.at(-1)?.seq ?? seq
          if (page.length < size) break
        }
        seq = Math.max(seq, end)
      }
    },
    async *allEvents() {
      assertOpen()
      // Later commits are excluded, and with them all following events of their run, whose positions are higher.
      const { newestPosition: upToPosition } = await store.info('newestPosition')
      for (let afterPosition = 0; ; ) {
        assertOpen()
        const page = await store.readAll({ workspace, afterPosition, upToPosition, limit: PAGE })
        if (page.length === 0) return
        yield page
        afterPosition = page.at(-1)?.position ?? afterPosition
      }
    },
    async *ownEvents({ summary: { runId }, forkOf }, range = {}) {
      for (let afterSeq = forkOf?.seq ?? 0; ; ) {
        assertOpen()
        const page = await store.readRun({ workspace, runId }, { ...range, afterSeq, limit: PAGE })
        if (page.length > 0) yield page
        if (page.length < PAGE) return
        afterSeq = page.at(-1)?.seq ?? afterSeq
      }
    },
    async *allRuns(filter = {}) {
      let cursor: string | undefined
      do {
        assertOpen()
        const page = await store.findRuns({ ...filter, workspace, limit: PAGE, cursor })
        yield* page.runs
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
    },
  }
}
