import { ClewError, type Ledger } from '@clew/ledger'
import { importWithPeers } from '../assert-peers.ts'
import { LANGGRAPH_PEERS } from '../langgraph-peers.ts'
import type { ForeignReport } from '../operations/import.ts'

export interface LangGraphImport {
  readonly format: 'langgraph-sqlite' | 'langgraph-postgres'
  /** File or URL of the database. */
  readonly address: string
  readonly agent?: string | undefined
  readonly dryRun?: boolean | undefined
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** Threads in the database of one of the framework's own savers as runs. */
export async function importLangGraph(
  ledger: Ledger,
  { format, address, agent, dryRun = false, onProgress }: LangGraphImport,
): Promise<ForeignReport> {
  const { importCheckpoints, readSaverDatabase } = await importWithPeers(
    `clew import --format ${format}`,
    LANGGRAPH_PEERS,
    () => import('@clew/adapters/langgraph'),
  )
  const database = await openDatabase(format, address)
  try {
    const { threads, checkpoints, runs, events, passed, refused } = await importCheckpoints(
      ledger,
      readSaverDatabase(format, database.query),
      { agent, dryRun, onProgress },
    )
    return {
      files: 1,
      runs,
      events,
      passed: 0,
      threads,
      checkpoints,
      known: passed,
      dryRun,
      refused: refused.slice(0, 100).map(({ thread, error }) => ({
        file: `thread ${thread}`,
        line: null,
        field: null,
        reason: error.message,
      })),
      refusedTotal: refused.length,
    }
  } finally {
    await database.close()
  }
}

async function openDatabase(format: LangGraphImport['format'], address: string) {
  const isUrl = /^postgres(?:ql)?:\/\//.test(address)
  if (format === 'langgraph-sqlite') {
    if (isUrl) throw mixedUp('a PostgreSQL URL', 'langgraph-postgres')
    const { openForeignFile } = await import('@clew/sqlite')
    return openForeignFile(address.replace(/^sqlite:/, ''))
  }
  if (!isUrl) throw mixedUp('no PostgreSQL URL', 'langgraph-sqlite')
  const { openForeignDatabase } = await import('@clew/postgres')
  return openForeignDatabase(address)
}

const mixedUp = (what: string, other: string): ClewError =>
  new ClewError('bad_option', `The database to import is ${what}`, `Did you mean --format ${other}?`, {
    option: '--format',
  })
