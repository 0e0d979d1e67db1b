import type { Ledger } from '@clew/ledger'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openLedger } from '../../packages/postgres/test/harness.ts'
import { numRuns } from '../num-runs.ts'
import { findFlaws, findForkFlaws, scenarios } from '../runtime/lives.ts'
import { savedLives } from '../runtime/saved-lives.ts'
import { createSchema } from './database.ts'

const ends: (() => Promise<void>)[] = []

/** A ledger of its own for each life that is compared. */
async function open(): Promise<Ledger> {
  const place = await createSchema()
  const ledger = await openLedger(place.url)
  ends.push(async () => {
    await ledger.close()
    await place.drop()
  })
  return ledger
}
async function endAll(): Promise<void> {
  for (const end of ends.splice(0)) await end()
}
afterEach(endAll)

describe('R5 R7 random agents on PostgreSQL', () => {
  it.each([
    ['killed anywhere', findFlaws],
    ['forked anywhere', findForkFlaws],
  ])('R5 R7 R10 come to the same end, %s', async (_, find) => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect(await find(scenario, open)).toEqual([])
        await endAll()
      }),
      { numRuns: numRuns(5) },
    )
  })

  it.each(savedLives)('%s', async (_, scenario) => {
    expect(await findFlaws(scenario, open)).toEqual([])
    expect(await findForkFlaws(scenario, open)).toEqual([])
  })
})
