import type { Ledger, Problem, SignedHeads } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { type Dialect, MANIPULATIONS, type Verdict } from './manipulations.ts'
import { readWorld } from './world.ts'

/** A copy of the ledger for one manipulation. */
export interface TamperedCopy {
  /** Plain SQL of somebody who has the database; rejects what the database refuses. */
  execute(sql: string): Promise<void>
  dropTriggers(): Promise<void>
  open(): Promise<Ledger>
  dispose(): Promise<void>
}

export interface TamperWorld {
  readonly dialect: Dialect
  copy(): Promise<TamperedCopy>
  heads(): SignedHeads
  /** What the ledger answers when nobody has changed it. */
  answers(): string
}

const run = (runId: string): string =>
  `(SELECT id FROM runs WHERE run_id = '${runId}' AND workspace = 'default')`

/** One test for each manipulation: it must get its verdict. */
export function describeManipulations(world: TamperWorld): void {
  const { dialect } = world
  describe('L6 a ledger that was changed by plain SQL', () => {
    for (const { title, sql, verdict, unguarded, only } of MANIPULATIONS) {
      if (only !== undefined && only !== dialect.name) continue
      const expected = typeof verdict === 'function' ? verdict(dialect) : verdict
      it(`${nameOf(expected)}: ${unguarded ? 'without triggers, ' : ''}${title.replaceAll(/\s+/g, ' ')}`, async () => {
        const copy = await world.copy()
        try {
          if (unguarded) await copy.dropTriggers()
          const refusal = await copy.execute(sql(dialect)).then(
            () => undefined,
            (error: unknown) => (error as Error).message,
          )
          if (expected === 'refused')
            expect(refusal).toMatch(/append-only|stay with their event|duplicate key|UNIQUE/)
          else expect(refusal).toBeUndefined()
          const ledger = await copy.open()
          await check(world, ledger, expected)
          await ledger.close()
        } finally {
          await copy.dispose()
        }
      })
    }
  })

  it('L1 a rebuild repairs columns, subjects and steps that were changed', async () => {
    const copy = await world.copy()
    await copy.execute(
      `UPDATE runs SET status = 'failed', agent = 'fox', thread_id = NULL, started_ms = 1 WHERE run_id = 'plain';
       UPDATE runs SET parent_run_id = NULL WHERE run_id = 'child';
       DELETE FROM subjects WHERE run = ${run('plain')}; DELETE FROM steps WHERE run = ${run('plain')}`,
    )
    const ledger = await copy.open()
    expect((await ledger.rebuild()).changed).toBe(2)
    expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
    expect(await readWorld(ledger)).toBe(world.answers())
    await ledger.close()
    await copy.dispose()
  })

  it('P5 an erasure reaches what a subject said although every index lost the way to it', async () => {
    const copy = await world.copy()
    await copy.execute(
      `DELETE FROM subjects WHERE run = ${run('plain')};
       UPDATE runs SET parent_run_id = NULL WHERE run_id = 'child'; UPDATE runs SET fork_of = NULL WHERE run_id = 'fork'`,
    )
    const ledger = await copy.open()
    expect((await ledger.erase({ subject: 'ann' })).certificate?.runs.map(({ runId }) => runId)).toEqual(
      expect.arrayContaining(['plain', 'child', 'fork']),
    )
    for (const runId of ['plain', 'child'])
      for await (const event of ledger.read(runId)) expect(event.payload).toEqual({})
    await ledger.close()
    await copy.dispose()
  })
}

async function check(world: TamperWorld, ledger: Ledger, expected: Verdict): Promise<void> {
  const plain = (await ledger.verify()).problems
  if (typeof expected === 'object' && 'verify' in expected) {
    expect(plain).toContainEqual(problemOf(expected.verify, expected.seq, expected.says))
    return
  }
  expect(plain).toEqual([])
  const whole = (await ledger.verify(undefined, { projections: true })).problems
  if (typeof expected === 'object' && 'projections' in expected) {
    expect(whole).toContainEqual(problemOf(expected.projections, undefined, expected.says))
    return
  }
  if (typeof expected === 'object' && 'heads' in expected) {
    const { problems } = await ledger.verify(undefined, { heads: world.heads() })
    expect(problems).toContainEqual(problemOf(expected.heads, undefined, 'signed heads'))
    return
  }
  expect(whole).toEqual([])
  if (typeof expected === 'string') expect(await readWorld(ledger)).toBe(world.answers())
}

const problemOf = (runId: string, seq?: number, says?: string): Partial<Problem> =>
  expect.objectContaining({
    runId,
    ...(seq !== undefined && { seq }),
    ...(says !== undefined && { detail: expect.stringContaining(says) }),
  })

function nameOf(verdict: Verdict): string {
  if (typeof verdict === 'string') return verdict
  if ('verify' in verdict) return `verify names ${verdict.verify || 'it'}`
  if ('projections' in verdict) return `verify --projections names ${verdict.says}`
  return 'heads' in verdict ? 'signed heads show it' : `nothing shows it, because ${verdict.unseen}`
}
