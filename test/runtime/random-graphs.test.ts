import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numRuns } from '../num-runs.ts'
import { FAULTS, findFlaws, scenarios } from './graph-lives.ts'

describe('R5 random graphs, killed anywhere', () => {
  it('R5 come to the same state, versions, steps and next as when nobody kills them', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect(await findFlaws(scenario)).toEqual([])
      }),
      { numRuns: numRuns(25) },
    )
  })
})

describe('the comparison goes red when a resume', () => {
  it.each(FAULTS)('%s', async (fault) => {
    const flaws: string[] = []
    for (const scenario of fc.sample(scenarios, { numRuns: 40, seed: 11 }))
      if (flaws.length === 0) flaws.push(...(await findFlaws(scenario, fault)))
    expect(flaws).not.toEqual([])
  })
})
