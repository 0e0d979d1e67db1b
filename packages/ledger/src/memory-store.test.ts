import { describe, expect, it } from 'vitest'
import { memoryHarness } from '../test/memory-harness.ts'
import { nodePorts } from '../test/node-ports.ts'
import { describeStore } from './conformance/index.ts'
import { createMemoryStore } from './memory-store.ts'

describeStore('memory', memoryHarness(), { describe, it })

describe('memory', () => {
  it('is gone when it is closed, and says so', async () => {
    const store = createMemoryStore(nodePorts)
    let woken = 0
    store.watch(() => void woken++)
    await store.close()
    expect(woken).toBe(1)
    for (const call of [() => store.stats(), () => store.workspaces(), () => store.write([])])
      await expect(call()).rejects.toMatchObject({ code: 'closed' })
  })

  it('L4 two stores of one process know nothing of each other', async () => {
    const [one, two] = [createMemoryStore(nodePorts), createMemoryStore(nodePorts)]
    await one.leases.acquire({ workspace: 'w', runId: 'r' })
    await expect(two.leases.list()).resolves.toEqual([])
    expect(one.url).toBe('memory:')
  })
})
