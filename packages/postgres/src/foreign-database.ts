import pg from 'pg'
import { ClewError } from '@clew/ledger'
import { shownUrl } from './errors.ts'

export interface ForeignDatabase {
  /** Rows of a query with the parameters `$1`, `$2`, … */
  query(sql: string, values: readonly string[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** A database of another program, only to read. `?schema=` names the schema; default `public`. */
export async function openForeignDatabase(address: string): Promise<ForeignDatabase> {
  const url = new URL(address)
  const schema = url.searchParams.get('schema') ?? 'public'
  url.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: url.href, application_name: 'clew' })
  client.on('error', () => {})
  const failed = (cause: unknown): ClewError =>
    new ClewError(
      'broken_import',
      `${shownUrl(url.href)} cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`,
      'Name the database that the saver wrote, with ?schema= if it is not in public; nothing was imported.',
      { schema },
      cause,
    )
  try {
    await client.connect()
    await client.query(
      `SELECT set_config('search_path', quote_ident($1), false),
              set_config('default_transaction_read_only', 'on', false)`,
      [schema],
    )
  } catch (error) {
    await client.end().catch(() => undefined)
    throw failed(error)
  }
  return {
    async query(sql, values) {
      try {
        const { rows } = await client.query<Record<string, unknown>>(sql, [...values])
        return rows
      } catch (error) {
        throw failed(error)
      }
    },
    close: () => client.end(),
  }
}
