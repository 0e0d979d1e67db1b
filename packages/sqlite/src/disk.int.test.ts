import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Disk } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder, removeFolder } from '../test/harness.ts'
import { openDatabase } from './open-database.ts'
import { createDisk } from './disk.ts'

let folder: string
let file: string
const open: DatabaseSync[] = []
beforeEach(() => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
})
afterEach(() => {
  for (const db of open.splice(0)) db.close()
  removeFolder(folder)
})

function connect(): DatabaseSync {
  const db = openDatabase(file, 'sqlite:x', {})
  open.push(db)
  return db
}

const walBytes = (): number => statSync(`${file}-wal`).size
const add = (db: DatabaseSync, name: string): void =>
  db.exec(`INSERT INTO scopes (workspace, name) VALUES ('w', '${name}')`)

/** So many frames that a writer would soon write them back inside its commit. */
function grow(db: DatabaseSync): void {
  db.exec('CREATE TABLE filler (body); INSERT INTO filler VALUES (zeroblob(28 * 1024 * 1024))')
}

const diskOf = (db: DatabaseSync): Disk => {
  const run = async <T>(work: () => T): Promise<T> => work()
  const sleep = async (): Promise<void> => {}
  return createDisk({ db, waitMs: 100, read: run, write: run }, { sleep }, () => undefined)
}

describe('giving space back', () => {
  it('L6 a reader does not write the WAL back', () => {
    const writer = connect()
    grow(writer)
    const reader = new DatabaseSync(file, { readOnly: true })
    const run = async <T>(work: () => T): Promise<T> => work()
    const disk = createDisk(
      { db: reader, waitMs: 100, read: run, write: run },
      { sleep: async () => {} },
      () => undefined,
      true,
    )
    const before = walBytes()
    disk.flush()
    expect(walBytes()).toBe(before)
    reader.close()
  })

  it('P4 a long WAL is written back to its end, also when a reader holds on to an older state at first', () => {
    const [db, writer, reader] = [connect(), connect(), connect()]
    grow(writer)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM scopes').get()
    add(writer, 'after the reader')
    const prepare = db.prepare.bind(db)
    db.prepare = (sql) => {
      const statement = prepare(sql)
      if (!sql.includes('PASSIVE')) return statement
      const get = (): unknown => {
        const row = statement.get()
        if (reader.isTransaction) reader.exec('COMMIT')
        return row
      }
      return { get } as unknown as StatementSync
    }
    const frames = (): number => Number(prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log'])
    diskOf(db).flush()
    add(writer, 'begins the WAL anew')
    expect(frames()).toBeLessThan(100)
  })

  it('P4 the WAL is cut off where nobody else writes, and left to those who do', async () => {
    const db = connect()
    grow(db)
    const { reclaim } = diskOf(db)
    while (await reclaim(true));
    expect(walBytes()).toBeGreaterThan(20e6)
    while (await reclaim(false));
    expect(walBytes()).toBe(0)
  })

  it('P4 free pages go back to the file system although others write', async () => {
    const db = connect()
    grow(db)
    db.exec('DELETE FROM filler')
    const { reclaim } = diskOf(db)
    while (await reclaim(true));
    expect(db.prepare('PRAGMA freelist_count').get()).toEqual({ freelist_count: 0 })
    expect(statSync(file).size).toBeLessThan(2e6)
  })
})
