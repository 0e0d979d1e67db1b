import type { DatabaseSync, StatementSync } from 'node:sqlite'

const MAX_PREPARED = 64

/** Prepared statements by their text, for statements that are put together: preparing one costs more than reading a few rows. */
export function createPrepared(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    let statement = statements.get(sql)
    if (!statement) {
      if (statements.size >= MAX_PREPARED) statements.clear()
      statement = db.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
}
