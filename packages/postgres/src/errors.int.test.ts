import { ClewError, type ForeignType, foreignType, type RecordInput } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type PostgresServer, query, startServer, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'

const PASSWORD = 'hunter2-hunter2'
const note: RecordInput<ForeignType> = {
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload: { text: 'a secret of theirs' },
}

let server: PostgresServer
let database: TestDatabase
/** As a user without any right, whose password is known here. */
let asAnn = ''

beforeAll(async () => {
  server = await startServer()
  database = await createDatabase({ server: server.url })
  await database.query(`CREATE ROLE ann LOGIN PASSWORD '${PASSWORD}'`)
  asAnn = asUser(database.url, 'ann', PASSWORD)
})
afterAll(() => server.close())

function asUser(url: string, user: string, password: string): string {
  const changed = new URL(url)
  changed.username = user
  changed.password = password
  return changed.href
}

/** What opening it and appending one event meets; 'ok' when both succeed. */
async function meet(url: string, options: { readOnly?: boolean; waitMs?: number } = {}): Promise<unknown> {
  try {
    const ledger = await openLedger(url, { waitMs: 500, ...options })
    try {
      await ledger.record(note)
      return 'ok'
    } finally {
      await ledger.close()
    }
  } catch (error) {
    expect(error).toBeInstanceOf(ClewError)
    const { message, fields, hint, cause, stack } = error as ClewError
    const all = [message, hint, stack, JSON.stringify(fields), JSON.stringify(error), String(cause)].join(
      '\n',
    )
    for (const secret of [PASSWORD, new URL(server.url).password, 'a secret of theirs'])
      expect(all).not.toContain(secret)
    expect(message.split('\n')).toHaveLength(1)
    return [(error as ClewError).code, message]
  }
}

describe('L10 one clear sentence for a PostgreSQL server that cannot be used', () => {
  it('P3 a host that is down, or not there', async () => {
    const port = new URL(asAnn)
    port.port = '1'
    expect(await meet(port.href)).toEqual(['store_unreachable', expect.stringContaining('cannot be reached')])
    const host = new URL(asAnn)
    host.hostname = 'nowhere.invalid'
    expect(await meet(host.href)).toEqual(['store_unreachable', expect.stringContaining('nowhere.invalid')])
  })

  it('P3 a wrong password, an unknown user, no password', async () => {
    for (const [user, password] of [
      ['ann', 'wrong-wrong-wrong'],
      ['nobody', PASSWORD],
      ['ann', ''],
    ] as const)
      expect(await meet(asUser(database.url, user, password))).toEqual([
        'store_refused',
        expect.stringContaining('does not let this user in'),
      ])
  })

  it('P3 a database that does not exist', async () => {
    const url = new URL(asAnn)
    url.pathname = '/nothing'
    expect(await meet(url.href)).toEqual([
      'store_missing',
      expect.stringContaining('/nothing is not on this server'),
    ])
  })

  it('L10 rights that are missing', async () => {
    expect(await meet(asAnn)).toEqual(['store_readonly', expect.stringContaining('docs/guide/operations.md')])
    expect(await meet(asAnn, { readOnly: true })).toEqual([
      'store_missing',
      expect.stringContaining('no ledger'),
    ])
  })

  it('L10 a database in another encoding', async () => {
    const create = "TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'"
    const latin = await createDatabase({ server: server.url, create })
    expect(await meet(latin.url)).toEqual(['not_a_store', expect.stringContaining('keeps text as LATIN1')])
  })

  it('L10 a server that only reads, and a disk that is full', async () => {
    const other = await createDatabase({ server: server.url })
    expect(await meet(other.url)).toBe('ok')
    await other.query(`CREATE FUNCTION clew.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`)
    await other.query('CREATE TRIGGER full_disk BEFORE INSERT ON clew.payloads EXECUTE FUNCTION clew.full()')
    expect(await meet(other.url)).toEqual(['store_full', expect.stringContaining('no room left')])
    await other.query('DROP TRIGGER full_disk ON clew.payloads')
    await query(server.url, `ALTER DATABASE ${other.name} SET default_transaction_read_only = on`)
    expect(await meet(other.url)).toEqual(['store_readonly', expect.stringContaining('can only be read')])
    await query(server.url, `ALTER DATABASE ${other.name} SET default_transaction_read_only = off`)
    expect(await meet(other.url)).toBe('ok')
    const ledger = await openLedger(other.url)
    expect((await ledger.stats()).events).toBe(2)
    await ledger.close()
  })

  it('L10 a statement that takes too long', async () => {
    const other = await createDatabase({ server: server.url })
    expect(await meet(other.url)).toBe('ok')
    await query(server.url, `ALTER DATABASE ${other.name} SET statement_timeout = '300ms'`)
    await other.query(`CREATE FUNCTION clew.slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$`)
    await other.query('CREATE TRIGGER slow AFTER INSERT ON clew.payloads EXECUTE FUNCTION clew.slow()')
    expect(await meet(other.url)).toEqual(['store_failed', expect.stringContaining('statement_timeout')])
  })

  it('L10 no connection left', async () => {
    await query(server.url, `CREATE ROLE few LOGIN SUPERUSER PASSWORD '${PASSWORD}' CONNECTION LIMIT 0`)
    await query(server.url, 'ALTER ROLE few NOSUPERUSER')
    expect(await meet(asUser(database.url, 'few', PASSWORD))).toEqual([
      'store_unreachable',
      expect.stringContaining('no connection left'),
    ])
  })
})
