import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { joinLine, ringLine } from './waiting-line.ts'

const LONG_MS = 1_000_000
const RUN = { runId: 'r', threadId: 't' }

describe('R9 the waiting line', () => {
  it('R9 passes a ring on when the first has left', async () => {
    const ledger = createMemoryWorld().open()
    const [one, two] = [joinLine(ledger, RUN), joinLine(ledger, { ...RUN, runId: 'q' })]
    const waits = two.wait(LONG_MS, undefined)
    ringLine(ledger, RUN)
    await one.wait(LONG_MS, undefined)
    expect([one.isFirst(), two.isFirst()]).toEqual([true, false])
    one.leave()
    await waits
    expect(two.isFirst()).toBe(true)
    two.leave()
  })

  it('R9 does not lose a ring that came before the wait', async () => {
    const ledger = createMemoryWorld().open()
    const place = joinLine(ledger, { runId: 'r', threadId: null })
    ringLine(ledger, { runId: 'r', threadId: null })
    await place.wait(LONG_MS, undefined)
    place.leave()
  })

  it('R9 is one per thread and workspace', async () => {
    const world = createMemoryWorld()
    const places = [
      joinLine(world.open(), RUN),
      joinLine(world.open(), { ...RUN, threadId: 'u' }),
      joinLine(world.open(), { ...RUN, threadId: null }),
      joinLine(world.open('elsewhere'), RUN),
    ]
    expect(places.map((place) => place.isFirst())).toEqual([true, true, true, true])
    for (const place of places) place.leave()
  })
})
