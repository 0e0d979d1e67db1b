export { openPostgresStore, type PostgresOptions } from './open-store.ts'
export { openForeignDatabase } from './foreign-database.ts'
