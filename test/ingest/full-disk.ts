import { existsSync, writeFileSync } from 'node:fs'
import { DatabaseSync, type StatementResultingChanges, StatementSync } from 'node:sqlite'

/**
 * Loaded into `clew serve` and its threads: while `<database>.full` stands, that database cannot grow. To SQLite it is a
 * full disk (the same SQLITE_FULL), made without a mount and without root. Whoever meets it leaves `<database>.met`.
 */
const BEGINS = /^BEGIN(?: IMMEDIATE)?$/
const FULL = 13
const databases = new WeakMap<StatementSync, DatabaseSync>()
const { exec, prepare } = DatabaseSync.prototype
const { run } = StatementSync.prototype

function limited<T>(db: DatabaseSync, sql: string, work: () => T): T {
  if (BEGINS.test(sql)) {
    const isFull = existsSync(`${db.location()}.full`)
    // Fewer pages than there are means: no more than there are.
    prepare.call(db, `PRAGMA max_page_count = ${isFull ? 1 : 4_294_967_294}`).get()
  }
  try {
    return work()
  } catch (error) {
    if (Reflect.get(error as Error, 'errcode') === FULL) writeFileSync(`${db.location()}.met`, '')
    throw error
  }
}

DatabaseSync.prototype.exec = function (sql) {
  limited(this, sql, () => exec.call(this, sql))
}
DatabaseSync.prototype.prepare = function (...given) {
  const statement = prepare.apply(this, given)
  databases.set(statement, this)
  return statement
}
StatementSync.prototype.run = function (this: StatementSync, ...given: never[]) {
  const work = () => Reflect.apply(run, this, given) as StatementResultingChanges
  const db = databases.get(this)
  return db ? limited(db, this.sourceSQL, work) : work()
}
