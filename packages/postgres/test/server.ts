/** What the tests of this package take from beyond it. */
export { createDatabase, createSchema, query, type TestDatabase } from '../../../test/postgres/database.ts'
export { type PostgresServer, startServer } from '../../../test/postgres/start-server.ts'
export { nodePorts } from '../../ledger/test/node-ports.ts'
export { type Child, startScript } from '../../sqlite/test/start-child.ts'
