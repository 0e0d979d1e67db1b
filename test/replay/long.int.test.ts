import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeFolder, openLedger, removeFolder } from '../../packages/sqlite/test/harness.ts'
import { longRun } from './long-run.ts'

const STEPS = 100_000
const SCRIPT = new URL('long-child.ts', import.meta.url).pathname

let folder = ''
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => removeFolder(folder))

it('D6 a run of 100,000 steps is replayed in less than 500 MB', { timeout: 240_000 }, async () => {
  const file = join(folder, 'clew.db')
  const ledger = openLedger(file)
  expect((await longRun(STEPS).start(ledger, null, { runId: 'long' })).status).toBe('completed')
  await ledger.close()
  // With a heap of that size garbage is not left lying about: what is measured is what is needed.
  const flags = ['--max-old-space-size=280']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, SCRIPT, file, `${STEPS}`])
  const { verdict, steps, megabytes } = JSON.parse(stdout) as {
    verdict: string
    steps: number
    megabytes: number
  }
  expect([verdict, steps]).toEqual(['identical', STEPS])
  expect(megabytes).toBeLessThan(500)
})
