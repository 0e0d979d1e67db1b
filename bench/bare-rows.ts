import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { MIGRATIONS } from '../packages/sqlite/src/migrations.ts'

export interface BareRows {
  readonly events: SQLInputValue[][]
  readonly payloads: SQLInputValue[][]
}

/** The very rows that the ledger wrote, to be written again with nothing around them. */
export function readRows(path: string, limit: number): BareRows {
  const db = new DatabaseSync(path, { readOnly: true })
  const all = (table: string): SQLInputValue[][] =>
    db
      .prepare(`SELECT * FROM ${table} ORDER BY position LIMIT ?`)
      .all(limit)
      .map((row) => Object.values(row) as SQLInputValue[])
  const rows = { events: all('events'), payloads: all('payloads') }
  db.close()
  return rows
}

/** The same tables and indexes, the same settings, but no triggers. */
export function openBare(path: string, sync: 'NORMAL' | 'FULL' = 'NORMAL'): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
  db.exec(
    `PRAGMA synchronous = ${sync}; PRAGMA secure_delete = ON; PRAGMA cache_size = -32000; PRAGMA foreign_keys = OFF`,
  )
  db.exec(MIGRATIONS.join('\n').replace(/CREATE TRIGGER[\s\S]*?END;/g, ''))
  return db
}

export function insertBare(db: DatabaseSync, { events, payloads }: BareRows, group: number): void {
  const event = db.prepare(`INSERT INTO events VALUES (${Array(14).fill('?').join(', ')})`)
  const payload = db.prepare('INSERT INTO payloads VALUES (?, ?, ?, ?)')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  for (let start = 0; start < events.length; start += group) {
    begin.run()
    for (let i = start; i < Math.min(start + group, events.length); i++) {
      event.run(...(events[i] as SQLInputValue[]))
      payload.run(...(payloads[i] as SQLInputValue[]))
    }
    commit.run()
  }
}
