import type { StepSkeleton } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSupersteps, supersteps } from './supersteps.ts'

const step = fc
  .tuple(fc.nat(400), fc.boolean(), fc.nat(90), fc.boolean())
  .map(([superstep, failed, durationMs, isOpen]) => ({ superstep, failed, durationMs, isOpen }))

const toStep = (
  {
    superstep,
    failed,
    durationMs,
    isOpen,
  }: { superstep: number; failed: boolean; durationMs: number; isOpen: boolean },
  index: number,
): StepSkeleton =>
  ({
    superstep,
    startedSeq: index * 2 + 1,
    endedSeq: isOpen ? null : index * 2 + 2,
    durationMs: isOpen ? null : durationMs,
    status: isOpen ? 'running' : failed ? 'failed' : 'completed',
  }) as StepSkeleton

describe('supersteps', () => {
  it('U1 of a list that grew and changed are those of the list at once', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.nat(60), { maxLength: 8 }),
        (drawn, cuts) => {
          const steps = drawn.map(toStep)
          const take = createSupersteps()
          let seen: StepSkeleton[] = []
          for (const cut of [...cuts, steps.length]) {
            seen = steps
              .slice(0, cut)
              .map((each, at) =>
                at % 3 === cut % 3 ? { ...each, status: 'running', durationMs: 3 } : (seen[at] ?? each),
              )
            const grown = take(seen)
            const whole = supersteps(seen)
            expect(grown.all).toEqual(whole.all)
            expect(grown.bars).toEqual(whole.bars)
            for (const at of [...whole.all, -1, 1000]) expect(grown.placeOf(at)).toBe(whole.placeOf(at))
          }
          const { all, bars, lastSeqAt } = take(steps)
          expect(all).toEqual([...new Set(steps.map(({ superstep }) => superstep))].sort((a, b) => a - b))
          expect(bars.reduce((sum, bar) => sum + bar.steps, 0)).toBe(steps.length)
          for (const at of all)
            expect(lastSeqAt(at)).toBeGreaterThanOrEqual(
              Math.max(
                ...steps.flatMap((each) => (each.superstep <= at ? [each.endedSeq ?? each.startedSeq] : [])),
              ),
            )
        },
      ),
      { numRuns: 120 },
    )
  })

  it('U1 stands at the end without a place, and goes from one to the next', () => {
    const rounds = supersteps(
      [2, 5, 9].map((superstep, at) =>
        toStep({ superstep, failed: at === 1, durationMs: 4, isOpen: false }, at),
      ),
    )
    expect([rounds.before(undefined), rounds.before(5), rounds.before(2)]).toEqual([5, 2, 2])
    expect([rounds.after(undefined), rounds.after(5), rounds.after(9)]).toEqual([undefined, 9, undefined])
    expect([rounds.lastSeqAt(1), rounds.lastSeqAt(5), rounds.lastSeqAt(7)]).toEqual([0, 4, 4])
    expect(rounds.bars.map(({ failed }) => failed)).toEqual([false, true, false])
  })
})
