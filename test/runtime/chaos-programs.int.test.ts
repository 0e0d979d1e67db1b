/** Proves R5 and R10 on random programs whose processes are killed with SIGKILL; `npm run chaos -- --runtime` does more of it. */
import { describe, expect, it } from 'vitest'
import { type ActKind, createProgram, kindsOf } from './chaos-program.ts'
import { PLANTS } from './chaos-rounds.ts'
import { CHAOS_STORES, runChaosPrograms } from './chaos-runtime.ts'

describe('R5 R10 a random program', () => {
  it('is the same for the same seed, and has everything that agents do', () => {
    expect(createProgram(7)).toEqual(createProgram(7))
    const kinds = new Set<ActKind>()
    for (let seed = 0; seed < 100; seed++) for (const kind of kindsOf(createProgram(seed))) kinds.add(kind)
    expect([...kinds].toSorted()).toEqual(
      ['all', 'allSettled', 'body', 'child', 'effect', 'graph', 'pause', 'race', 'say', 'sleep'].toSorted(),
    )
  })

  it.each(CHAOS_STORES)('comes to its end however often its process is killed, on %s', async (store) => {
    const { violations, kills } = await runChaosPrograms({ kills: 4, seed: 1, stores: [store] })
    expect([kills >= 4, violations]).toEqual([true, []])
  })

  it.each(PLANTS)('and the oracle goes red when a mistake is planted: %s', async (plant) => {
    const { violations } = await runChaosPrograms({ kills: 12, seed: 1, stores: ['sqlite'], plant })
    expect(violations.length).toBeGreaterThan(0)
  })
})
