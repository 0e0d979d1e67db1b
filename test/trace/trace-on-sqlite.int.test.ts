import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '@clew/sqlite'
import { expect, it } from 'vitest'
import { describeTrace } from '../../packages/trace/test/describe-trace.ts'
import { createWorld, type World } from '../../packages/trace/test/world.ts'

describeTrace('SQLite', (): World => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-trace-'))
  const world = createWorld((ports) => () => openSqliteStore(join(folder, 'clew.db'), ports))
  return {
    ...world,
    async close() {
      await world.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

it('T1 Hold no database connection while a model thinks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-trace-'))
  const path = join(folder, 'clew.db')
  const world = createWorld((ports) => () => openSqliteStore(path, ports))
  const ledger = world.open()
  const session = await world.emitter(ledger).forSession({ streamId: 'general', sessionId: 's1' })
  const step = await session.startStep({ stepType: 'thinking' })
  const other = new DatabaseSync(path, { timeout: 0 })
  // Nobody reads or writes: the file can be had alone.
  other.exec('BEGIN EXCLUSIVE; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  expect(other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 })
  other.close()
  await step.complete({ content: 'thought' })
  await session.notifyCompleted()
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})
