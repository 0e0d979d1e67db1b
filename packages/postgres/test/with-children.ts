import { afterEach, beforeEach } from 'vitest'
import { createDatabase, type TestDatabase } from '../../../test/postgres/database.ts'
import { type Child, startScript } from '../../sqlite/test/start-child.ts'

const SCRIPT = new URL('child.ts', import.meta.url).pathname

export interface Children {
  readonly database: TestDatabase
  /** Starts another process on the database; it is ended after the test. */
  start(command: string, ...args: readonly (string | number)[]): Child
}

/** A new database for each test of this file, and an end to every process that it started. */
export function withChildren(): Children {
  let database: TestDatabase
  let started: Child[] = []
  beforeEach(async () => {
    database = await createDatabase()
    started = []
  })
  afterEach(async () => {
    for (const child of started) await child.kill()
    await database.drop()
  })
  return {
    get database() {
      return database
    },
    start(command, ...args) {
      const child = startScript(SCRIPT, command, database.url, ...args)
      started.push(child)
      return child
    },
  }
}
