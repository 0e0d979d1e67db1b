import { afterAll, afterEach, beforeEach } from 'vitest'
import { openPostgresStore } from '../../packages/postgres/src/index.ts'
import { makeWorldsOver } from '../../packages/runtime/test/memory-ledger.ts'
import { nodePorts } from '../../packages/ledger/test/node-ports.ts'
import { createSchema } from './database.ts'
import { createLazyStore } from './lazy-store.ts'

/** For a project of vitest: worlds that tests make in memory are made in a schema of a PostgreSQL server. */
type End = () => Promise<void>
const ofFile: End[] = []
const ofTest: End[] = []
let ends = ofFile

makeWorldsOver((ports) => {
  // One that is made outside of a test is for all tests of the file.
  const own = ends
  return createLazyStore(async () => {
    const place = await createSchema()
    const aheadMs = (): number => ports.now() - nodePorts.now()
    const store = await openPostgresStore(place.url, ports, { aheadMs })
    own.push(async () => {
      await store.close()
      await place.drop()
    })
    return store
  })
})

beforeEach(() => {
  ends = ofTest
})
afterEach(async () => {
  ends = ofFile
  for (const end of ofTest.splice(0)) await end()
})
afterAll(async () => {
  for (const end of ofFile.splice(0)) await end()
})
