import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { enqueueWaiter, wakeNext } from './lease-queue.ts'

const LONG_MS = 1_000_000
const RUN = { runId: 'r', threadId: 't' }

describe('R9 lease queue', () => {
  it('R9 passes a notification on when the first has left', async () => {
    const ledger = createMemoryWorld().open()
    const [one, two] = [enqueueWaiter(ledger, RUN), enqueueWaiter(ledger, { ...RUN, runId: 'q' })]
    const waits = two.wait(LONG_MS, undefined)
    wakeNext(ledger, RUN)
    await one.wait(LONG_MS, undefined)
    expect([one.isFirst(), two.isFirst()]).toEqual([true, false])
    one.leave()
    await waits
    expect(two.isFirst()).toBe(true)
    two.leave()
  })

  it('R9 does not lose a notification that came before the wait', async () => {
    const ledger = createMemoryWorld().open()
    const place = enqueueWaiter(ledger, { runId: 'r', threadId: null })
    wakeNext(ledger, { runId: 'r', threadId: null })
    await place.wait(LONG_MS, undefined)
    place.leave()
  })

  it('R9 is one per thread and workspace', async () => {
    const world = createMemoryWorld()
    const places = [
      enqueueWaiter(world.open(), RUN),
      enqueueWaiter(world.open(), { ...RUN, threadId: 'u' }),
      enqueueWaiter(world.open(), { ...RUN, threadId: null }),
      enqueueWaiter(world.open('elsewhere'), RUN),
    ]
    expect(places.map((place) => place.isFirst())).toEqual([true, true, true, true])
    for (const place of places) place.leave()
  })
})
