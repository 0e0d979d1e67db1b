import { ClewError, type Ledger } from '@clew/ledger'
import { formatCount } from '../format-count.ts'
import { nearMisses } from '@clew/ledger'
import { resolveRun } from './resolve-run.ts'
import { printable } from './text.ts'

const PAGE = 50
const MAX_EVENTS = 20_000
const UUID_START = /^[0-9a-f-]{4,36}$/i

/** The event that is meant by its id, by how its id begins, or by `run:seq`; beginnings are looked for in the newest runs. */
export async function resolveEvent(ledger: Ledger, given: string): Promise<string> {
  const start = given.replace(/…$/, '')
  const [, run, seq] = /^(.+):(\d{1,15})$/s.exec(start) ?? []
  if (run !== undefined) return `${await resolveRun(ledger, run)}:${seq}`
  if (!UUID_START.test(start) || (start.length === 36 && (await ledger.getEvent(start)))) return start
  const { matches, near } = await findStarts(ledger, start.toLowerCase())
  if (matches.length === 1 && matches[0] !== undefined) return matches[0]
  const shown = printable(start)
  if (matches.length > 1)
    throw new ClewError(
      'ambiguous',
      `Several events begin with ${shown}`,
      `Write more of the id: ${matches.slice(0, 3).join(', ')}, …`,
      { eventId: shown },
    )
  throw new ClewError(
    'not_found',
    `No event that begins with ${shown} is among the newest ${formatCount(MAX_EVENTS)}`,
    near.length > 0
      ? `Did you mean ${near.join(', ')}?`
      : '`clew events <run> --full` shows ids; run:seq works, too.',
    { eventId: shown },
  )
}

async function findStarts(ledger: Ledger, start: string): Promise<{ matches: string[]; near: string[] }> {
  const ids = new Set<string>()
  let cursor: string | undefined
  do {
    const { runs, nextCursor } = await ledger.listRuns({ limit: PAGE, cursor })
    // Events that a fork inherits are found in its source.
    for (const { runId, forkedFrom } of runs)
      for await (const { eventId } of ledger.read(runId, { afterSeq: forkedFrom?.seq }))
        if (ids.add(eventId).size >= MAX_EVENTS) return found(ids, start)
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  return found(ids, start)
}

function found(ids: ReadonlySet<string>, start: string): { matches: string[]; near: string[] } {
  const matches = [...ids].filter((id) => id.startsWith(start))
  // A few hexadecimal digits are near to everything.
  return { matches, near: matches.length === 0 && start.length >= 12 ? nearMisses(start, ids) : [] }
}
