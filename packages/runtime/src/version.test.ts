import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createMemoryWorld } from '../test/memory-ledger.ts'
import { agent } from './run/agent.ts'
import { CLEW_VERSION } from './version.ts'

it('D7 a run tells the version of Clew that recorded it', async () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(CLEW_VERSION).toBe((JSON.parse(manifest) as { version: string }).version)
  const ledger = createMemoryWorld().open()
  const { runId } = await agent('greet', () => 'hello').start(ledger, null)
  const [first] = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
  expect(first?.payload['clewVersion']).toBe(CLEW_VERSION)
})
