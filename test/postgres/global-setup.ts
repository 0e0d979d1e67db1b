import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DOOR, dropAll, RUN } from './database.ts'
import { type PostgresServer, startServer } from './start-server.ts'

/**
 * One PostgreSQL server for a whole vitest run, started when the first test asks for it at the door. Runs beside each
 * other have a server each, so none can take away another's.
 */
const run = `${randomBytes(4).toString('hex')}_`
let starting: Promise<PostgresServer> | undefined

const door = createServer((_, response) => {
  starting ??= startServer()
  starting.then(
    ({ url }) => response.end(JSON.stringify({ url })),
    (error: unknown) => response.end(JSON.stringify({ error: (error as Error).message })),
  )
})

export async function setup(): Promise<void> {
  // Several projects of one run share it.
  if (door.listening) return
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  process.env[RUN] = run
  process.env[DOOR] = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
}

export async function teardown(): Promise<void> {
  // A server of one's own stays.
  if (process.env['CLEW_TEST_POSTGRES']) await dropAll(run)
  door.closeAllConnections()
  await new Promise((resolve) => door.close(resolve))
  const server = await starting?.catch(() => undefined)
  await server?.close()
}
