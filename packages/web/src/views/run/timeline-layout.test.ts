import type { StepSkeleton } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layOutSteps, visibleRows } from './timeline-layout.ts'

const step = (
  stepId: string,
  parentStepId: string | null,
  status: StepSkeleton['status'] = 'completed',
): StepSkeleton =>
  ({ stepId, parentStepId, status, createdAt: '2026-11-15T10:00:00.000Z', durationMs: 5 }) as StepSkeleton

/** Each step lies in an earlier one, or in none. */
const forest = fc
  .array(fc.tuple(fc.nat(), fc.boolean(), fc.boolean()), { maxLength: 40 })
  .map((draws) =>
    draws.map(([draw, isRoot, failed], index) =>
      step(`s${index}`, isRoot || index === 0 ? null : `s${draw % index}`, failed ? 'failed' : 'completed'),
    ),
  )

describe('the layout of a timeline', () => {
  it('U3 every step has one row, below the one it lies in and one deeper', () => {
    fc.assert(
      fc.property(forest, (steps) => {
        const layout = layOutSteps(steps)
        expect([...layout.step].sort((a, b) => a - b)).toEqual(steps.map((_, index) => index))
        const rowOf = new Map([...layout.step].map((index, row) => [steps[index]?.stepId, row]))
        for (const [row, index] of layout.step.entries()) {
          const parent = rowOf.get(steps[index]?.parentStepId ?? '')
          expect(layout.depth[row]).toBe(parent === undefined ? 0 : (layout.depth[parent] ?? 0) + 1)
          if (parent !== undefined) {
            expect(row).toBeGreaterThan(parent)
            expect(row).toBeLessThan(layout.end[parent] ?? 0)
          }
          const inside = [...layout.step].slice(row, layout.end[row])
          expect(layout.errors[row]).toBe(inside.filter((each) => steps[each]?.status === 'failed').length)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('U3 siblings keep the order in which they began', () => {
    const layout = layOutSteps([
      step('a', null),
      step('b', null),
      step('a1', 'a'),
      step('b1', 'b'),
      step('a2', 'a'),
    ])
    expect([...layout.step]).toEqual([0, 2, 4, 1, 3])
  })

  it('U3 a folded row hides all that lies in it and nothing else', () => {
    fc.assert(
      fc.property(forest, fc.nat(), (steps, draw) => {
        fc.pre(steps.length > 0)
        const layout = layOutSteps(steps)
        const row = draw % steps.length
        const seen = [...visibleRows(layout, new Set([layout.step[row] ?? -1]))]
        const hidden = new Set(
          Array.from({ length: (layout.end[row] ?? 0) - row - 1 }, (_, index) => row + 1 + index),
        )
        expect(seen).toEqual([...layout.step.keys()].filter((each) => !hidden.has(each)))
      }),
      { numRuns: 100 },
    )
  })

  it('U3 lays out steps 20,000 deep', () => {
    const steps = Array.from({ length: 20_000 }, (_, index) =>
      step(`s${index}`, index === 0 ? null : `s${index - 1}`),
    )
    const layout = layOutSteps(steps)
    expect(layout.depth.at(-1)).toBe(19_999)
    expect(layout.end[0]).toBe(20_000)
  })
})
