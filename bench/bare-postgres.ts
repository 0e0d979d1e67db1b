import pg from 'pg'

/** Names and types of the columns that an append fills. */
const COLUMNS = {
  events: {
    position: 'bigint',
    run: 'bigint',
    seq: 'bigint',
    schema_version: 'integer',
    follows: 'boolean',
    event_id: 'text',
    event_type: 'text',
    timestamp: 'text',
    origin: 'text',
    runtime: 'text',
    causation_id: 'text',
    recorded_at: 'text',
    payload_hash: 'bytea',
    hash: 'bytea',
  },
  payloads: { position: 'bigint', salt: 'bytea', mac: 'bytea', body: 'text' },
} as const
type Table = keyof typeof COLUMNS

/** The very rows that the ledger wrote: one array per column. */
export type BareRows = Readonly<Record<Table, readonly unknown[][]>>

const namesOf = (table: Table): string[] => Object.keys(COLUMNS[table])

export async function connect(url: string): Promise<{ client: pg.Client; schema: string }> {
  const address = new URL(url)
  const schema = address.searchParams.get('schema') ?? 'clew'
  address.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: address.href })
  await client.connect()
  await client.query(`SET search_path = ${schema}`)
  return { client, schema }
}

/** `who` makes keys of one's own for whoever writes them beside others. */
export async function readRows(url: string, limit: number, who = 0): Promise<BareRows> {
  const { client } = await connect(url)
  const read = async (table: Table): Promise<unknown[][]> => {
    const names = namesOf(table)
    const { rows } = await client.query({
      text: `SELECT ${names.join(', ')} FROM ${table} ORDER BY position LIMIT ${limit}`,
      rowMode: 'array',
    })
    return names.map((name, column) =>
      rows.map((row: unknown[]) =>
        name === 'position' || name === 'run' ? Number(row[column]) + who * 1e12 : row[column],
      ),
    )
  }
  const rows = { events: await read('events'), payloads: await read('payloads') }
  await client.end()
  return rows
}

const insertInto = (table: Table, first: number): string => {
  const types = Object.values<string>(COLUMNS[table])
  return `INSERT INTO ${table} (${namesOf(table).join(', ')})
    SELECT * FROM unnest(${types.map((type, i) => `$${first + i}::${type}[]`).join(', ')})`
}
const INSERT = `WITH written AS (${insertInto('events', 1)}) ${insertInto('payloads', 1 + namesOf('events').length)}`

/** The same tables and indexes without triggers, in groups that are one statement and one commit each. */
export async function insertBare(
  client: pg.Client,
  { events, payloads }: BareRows,
  group: number,
  from = 0,
  to = events[0]?.length ?? 0,
): Promise<void> {
  const all = [...events, ...payloads]
  for (let start = from; start < to; start += group)
    await client.query({
      name: 'bare',
      text: INSERT,
      values: all.map((column) => column.slice(start, Math.min(start + group, to))),
    })
}

export const dropTriggers = async (client: pg.Client): Promise<void> => {
  for (const table of ['events', 'payloads']) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
}
