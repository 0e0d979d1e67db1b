export type { Sync } from './open-database.ts'
export { openSqliteStore, type SqliteOptions } from './open-store.ts'
export { openForeignFile } from './foreign-file.ts'
