import type { Ledger, RunSummary } from '@clew/ledger'

const PAGE = 50

/** The newest run of a thread that has a state: runs of functions, and maps, may lie on the same thread. */
export async function findThreadHead(ledger: Ledger, threadId: string): Promise<RunSummary | null> {
  let limit = 1
  for (let cursor: string | undefined; ; limit = PAGE) {
    const { runs, nextCursor } = await ledger.listRuns({ threadId, limit, cursor })
    const head = runs.find((run) => run.checkpoint !== null)
    if (head) return head
    if (nextCursor === null) return null
    cursor = nextCursor
  }
}
