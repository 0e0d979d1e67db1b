import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder, openLedger, removeFolder } from '../../packages/sqlite/test/harness.ts'
import { startScript } from '../../packages/sqlite/test/start-child.ts'
import { flawsOf } from './worlds.ts'

const SCRIPT = new URL('graph-child.ts', import.meta.url).pathname
const KILLS = Number(process.env['CLEW_KILLS'] ?? 10)
const ROUNDS = 25

let folder = ''
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => removeFolder(folder))

/** Steps that are completed in the record, with the seq of their end. */
async function completedOf(ledger: Ledger): Promise<Map<string, number | null>> {
  const done = new Map<string, number | null>()
  for (const { runId } of (await ledger.listRuns({ limit: 100 })).runs)
    for (const { stepId, status, endedSeq } of await ledger.getSteps(runId))
      if (status === 'completed') done.set(`${runId} ${stepId}`, endedSeq)
  return done
}

describe('R5 a graph on SQLite, killed with SIGKILL at random moments', () => {
  it('R5 no completed node runs twice, none is lost, and it comes to its end', {
    timeout: 110_000,
  }, async () => {
    const file = join(folder, 'clew.db')
    const log = join(folder, 'log')
    writeFileSync(log, '')
    let known = new Map<string, number | null>()
    let kills = 0
    for (let life = 0; life < 4 * KILLS; life++) {
      const child = startScript(SCRIPT, file, log)
      await child.next()
      const answer = child.next().then(
        (said) => said as { status: string; error: string | null },
        (error: unknown) => ({ status: 'died', error: String(error) }),
      )
      const isLate =
        kills < KILLS && (await Promise.race([answer.then(() => false), sleep(Math.random() * 40, true)]))
      if (isLate) kills++
      else expect(await answer).toMatchObject({ status: 'completed', error: null })
      await child.kill()
      const ledger = openLedger(file)
      try {
        const now = await completedOf(ledger)
        for (const [step, seq] of known) expect([step, now.get(step)]).toEqual([step, seq])
        known = now
        const run = await ledger.getRun('run')
        if (run && isTerminal(run.status)) break
      } finally {
        await ledger.close()
      }
    }
    const ledger = openLedger(file)
    const state = (await ledger.getState('run'))?.state as { n: number; out: string[] }
    const expected = Array.from({ length: ROUNDS }, (_, n) => [
      `a ${n}`,
      `b ${n}`,
      `c ${n}`,
      ...(n > 0 && n % 5 === 0 ? [`in ${n}`] : []),
    ]).flat()
    expect([state.n, state.out]).toEqual([ROUNDS, expected])
    const { runs } = await ledger.listRuns({ limit: 100 })
    for (const { runId } of runs) expect([runId, await flawsOf(ledger, runId)]).toEqual([runId, []])
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    await ledger.close()
    // A read that was in flight at a death is repeated under its next attempt, never under the one that is recorded.
    const effects = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('body'))
    const extra = effects.length - expected.filter((text) => !text.startsWith('c ')).length
    expect(extra).toBeGreaterThanOrEqual(0)
    expect(extra).toBeLessThanOrEqual(3 * KILLS)
    expect(kills).toBeGreaterThan(KILLS / 3)
  })
})
