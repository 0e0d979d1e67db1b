/** A statement; with a name it is prepared once per connection. */
export interface Statement {
  readonly name?: string
  readonly text: string
  readonly values?: unknown[]
}

export type Row = Record<string, unknown>

/** Runs statements: a pool, or one connection inside a transaction. */
export interface Sql {
  query(statement: Statement): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>
}

/** How the parts of the store reach the database. Both answer with errors that say what to do (`storeError`). */
export interface Database extends Sql {
  /** Runs `work` inside one transaction on one connection; done again when it collides with another. */
  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}

/** Runs a named statement whose parameters are arrays, unless all of them are empty. */
export async function readRows(sql: Sql, name: string, text: string, values: unknown[]): Promise<Row[]> {
  if (values.every((value) => Array.isArray(value) && value.length === 0)) return []
  return (await sql.query({ name, text, values })).rows
}
