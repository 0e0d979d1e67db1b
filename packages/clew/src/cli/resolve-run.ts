import { ClewError, type Ledger } from '@clew/ledger'
import { nearMisses } from '@clew/ledger'
import { printable } from './text.ts'

const PAGE = 1000
const PAGES = 20

/** The run that is meant by an id or by how its id begins, looked for among the newest 20,000. */
export async function resolveRun(ledger: Ledger, given: string): Promise<string> {
  // Listings cut long ids with an ellipsis, and people copy it along.
  const start = given.replace(/…$/, '')
  if (await ledger.getRun(start)) return start
  const ids = await newestIds(ledger)
  const matches = ids.filter((id) => id.startsWith(start))
  if (matches.length === 1 && matches[0] !== undefined) return matches[0]
  const shown = printable(given.slice(0, 80))
  if (matches.length > 1)
    throw new ClewError(
      'ambiguous',
      `${matches.length} runs begin with ${shown}`,
      `Write more of the id: ${list(matches.slice(0, 4))}${matches.length > 4 ? ', …' : ''}.`,
      { runId: shown, matches: matches.length },
    )
  const near = nearMisses(start, ids)
  const hint = near.length > 0 ? `Did you mean ${list(near)}?` : 'List the runs with `clew runs`.'
  throw new ClewError('not_found', `There is no run ${shown} in workspace ${ledger.workspace}`, hint, {
    runId: shown,
  })
}

const list = (ids: readonly string[]): string => ids.map((id) => printable(id.slice(0, 80))).join(', ')

async function newestIds(ledger: Ledger): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const { runs, nextCursor } = await ledger.listRuns({ limit: PAGE, cursor })
    ids.push(...runs.map((run) => run.runId))
    if (nextCursor === null) break
    cursor = nextCursor
  }
  return ids
}

/** How much of each id a listing must show so that they stay apart; at least 8 characters, all of a short id. */
export function shortIds(ids: readonly string[]): string[] {
  const sorted = ids.toSorted()
  let length = 8
  for (const [at, id] of sorted.entries()) {
    const next = sorted[at + 1]
    if (next === undefined || next === id) continue
    let same = 0
    while (same < id.length && id[same] === next[same]) same++
    length = Math.max(length, same + 1)
  }
  return ids.map((id) => (id.length <= Math.max(length, 24) ? id : id.slice(0, length)))
}
