import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalText } from '@clew/ledger'
import { openLedger } from 'clew'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bench, driveAll, findFlaws, scenarios } from './property.ts'
import { createOutside, isRacy } from './random-programs.ts'

let folder = ''
let bench: Bench
let inMemory: Bench

async function openBench(url: string): Promise<Bench> {
  const ledger = await openLedger(url)
  let runs = 0
  return { ledger, nextId: () => `run-${++runs}` }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-catalogue-'))
  bench = await openBench(`sqlite:${join(folder, 'ledger.db')}`)
  inMemory = await openBench('memory:')
})

afterAll(async () => {
  await bench.ledger.close()
  await inMemory.ledger.close()
  rmSync(folder, { recursive: true, force: true })
})

test('R5 D1 L10 on SQLite, too, running through, killing and replaying are the same, with the same results', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      expect(await findFlaws(scenario, bench)).toEqual([])
      const { program } = scenario
      if (isRacy(program)) return
      const [here, there] = [
        await driveAll(program, createOutside(), bench, [], 'dice'),
        await driveAll(program, createOutside(), inMemory, [], 'dice'),
      ]
      expect(`${here.status} ${canonicalText(here.result)}`).toBe(
        `${there.status} ${canonicalText(there.result)}`,
      )
    }),
    { numRuns: 40 },
  )
})

test('L11 what SQLite recorded of them is the same ledger in memory, hash by hash', async () => {
  const copy = await openLedger('memory:')
  await copy.import(bench.ledger.export())
  expect(await copy.verify(undefined, { projections: true })).toMatchObject({ ok: true, problems: [] })
  const heads = async ({ ledger }: { ledger: Bench['ledger'] }): Promise<string[]> => {
    const signed = await ledger.signHeads({ publicKey: '', sign: async () => '' })
    return signed.heads.map(({ runId, seq, hash }) => `${runId} ${seq} ${hash}`).toSorted()
  }
  expect(await heads({ ledger: copy })).toEqual(await heads(bench))
  await copy.close()
})
