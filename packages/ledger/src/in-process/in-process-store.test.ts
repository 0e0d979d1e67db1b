import { describe, expect, it } from 'vitest'
import { memoryHarness } from '../../test/memory-harness.ts'
import { nodePorts } from '../../test/node-ports.ts'
import { describeStore } from '../conformance/index.ts'
import { createInProcessStore } from './in-process-store.ts'

describeStore('in-process', memoryHarness(), { describe, it })

describe('in-process', () => {
  it('is gone when it is closed, and says so', async () => {
    const store = createInProcessStore(nodePorts)
    let woken = 0
    store.watch(() => void woken++)
    await store.close()
    expect(woken).toBe(1)
    for (const call of [
      () => store.info('stats'),
      () => store.findRuns({}),
      () => store.write({ calls: [] }),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'closed' })
  })

  it('L4 two stores of one process know nothing of each other', async () => {
    const [one, two] = [createInProcessStore(nodePorts), createInProcessStore(nodePorts)]
    await one.leases.acquire({ workspace: 'w', runId: 'r' })
    await expect(two.leases.list()).resolves.toEqual([])
    expect(one.url).toBe('memory:')
  })
})
