import { describe, expect, it } from 'vitest'
import { createPace, type BatchThrottle } from './pace.ts'

/** A store of which only positions are asked, and a clock that moves with every sleep. */
async function world() {
  const at = { position: 10, ms: 0, slept: [] as number[] }
  const store = {
    info: async () => ({ lastPosition: at.position }),
    disk: { pace: { batchMs: 0.8, rest: 7 } },
  } as unknown as Parameters<typeof createPace>[0]
  const pace: BatchThrottle = await createPace(store, {
    now: () => at.ms,
    sleep: async (ms) => {
      at.slept.push(ms)
      at.ms += ms
    },
    defer: queueMicrotask,
  })
  return { at, pace }
}

describe('pace of retention', () => {
  it('P4 goes slowly at first, and knows of others only when positions show them', async () => {
    const { at, pace } = await world()
    expect([pace.isShared, pace.batchMs]).toEqual([false, 0.8])
    at.position += 1
    await pace.rest(1, 1)
    expect(pace.isShared).toBe(false)
    at.position += 3
    await pace.rest(1, 1)
    expect([pace.isShared, pace.batchMs]).toEqual([true, 0.8])
    expect(at.slept).toEqual([7, 7])
  })

  it('P4 has no rest, and takes longer transactions, once nobody else has appended for a while', async () => {
    const { at, pace } = await world()
    at.position += 5
    await pace.rest(1, 1)
    at.ms += 400
    expect([pace.isShared, pace.batchMs]).toEqual([false, 5])
    at.slept.length = 0
    at.position += 1
    await pace.rest(1, 1)
    expect(at.slept).toEqual([])
  })
})
