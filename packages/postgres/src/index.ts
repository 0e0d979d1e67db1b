export { openPostgresStore, type PostgresOptions } from './open-store.ts'
