import type { ReadOptions } from './ledger.ts'
import type { ListRunsOptions, Store, StoredEvent, StoredRun } from './store.ts'

const PAGE = 500

/** Pages of stored events and runs of one workspace, never more than one page in memory. */
export interface RunReader {
  /** A run from its first event: the prefixes it shares with the runs it was forked from, then its own. */
  events(runId: string, options?: ReadOptions): AsyncGenerator<StoredEvent[]>
  /** All events, by position. */
  allEvents(): AsyncGenerator<StoredEvent[]>
  /** Only what the run itself recorded: in a fork, without the prefix it shares. */
  ownEvents(run: StoredRun): AsyncGenerator<StoredEvent[]>
  /** All runs, newest first. */
  allRuns(filter?: Pick<ListRunsOptions, 'agent' | 'threadId'>): AsyncGenerator<StoredRun>
}

interface Segment {
  readonly runId: string
  readonly upToSeq: number | undefined
}

export function createRunReader(store: Store, workspace: string, assertOpen: () => void): RunReader {
  async function segmentsOf(run: StoredRun): Promise<Segment[]> {
    const segments: Segment[] = [{ runId: run.summary.runId, upToSeq: undefined }]
    for (let at: StoredRun | null = run; at?.forkOf; ) {
      segments.unshift({ runId: at.forkOf.runId, upToSeq: at.forkOf.seq })
      at = await store.findRun({ workspace, runId: at.forkOf.runId })
    }
    return segments
  }

  return {
    async *events(runId, { afterSeq = 0, limit = Number.POSITIVE_INFINITY, types } = {}) {
      assertOpen()
      const run = await store.findRun({ workspace, runId })
      if (!run) return
      let seq = afterSeq
      let left = limit
      for (const segment of await segmentsOf(run)) {
        while (left > 0) {
          assertOpen()
          const size = Math.min(PAGE, left)
          const range = { afterSeq: seq, upToSeq: segment.upToSeq, limit: size, types }
          const page = await store.readRun({ workspace, runId: segment.runId }, range)
          if (page.length > 0) yield page
          left -= page.length
          seq = page.at(-1)?.seq ?? seq
          if (page.length < size) break
        }
        seq = Math.max(seq, segment.upToSeq ?? 0)
      }
    },
    async *allEvents() {
      for (let afterPosition = 0; ; ) {
        assertOpen()
        const page = await store.readAll({ workspace, afterPosition, limit: PAGE })
        if (page.length === 0) return
        yield page
        afterPosition = page.at(-1)?.position ?? afterPosition
      }
    },
    async *ownEvents({ summary: { runId }, forkOf }) {
      for (let afterSeq = forkOf?.seq ?? 0; ; ) {
        assertOpen()
        const page = await store.readRun({ workspace, runId }, { afterSeq, limit: PAGE })
        if (page.length > 0) yield page
        if (page.length < PAGE) return
        afterSeq = page.at(-1)?.seq ?? afterSeq
      }
    },
    async *allRuns(filter = {}) {
      let cursor: string | undefined
      do {
        assertOpen()
        const page = await store.listRuns({ ...filter, workspace, limit: PAGE, cursor })
        yield* page.runs
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
    },
  }
}
