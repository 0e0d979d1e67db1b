import type { StepSkeleton } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTimeline, layOutSteps, visibleRows } from './timeline-layout.ts'

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

const open = (given: StepSkeleton): StepSkeleton => ({ ...given, status: 'running', durationMs: null })

function changed(given: StepSkeleton, what: string, place: number): StepSkeleton {
  if (what === 'moves') return { ...given, parentStepId: null }
  return { ...given, status: what === 'fails' ? 'failed' : 'completed', durationMs: 7 + place }
}

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

  it('U1 a step that waited reaches to where it ended, around what lies in it', () => {
    const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 15, 10, 0, seconds)).toISOString()
    const outer = { ...step('act', null), createdAt: at(0), completedAt: at(9), durationMs: 400 }
    const inner = { ...step('publish', 'act'), createdAt: at(8), completedAt: at(9), durationMs: 1000 }
    expect([...layOutSteps([outer, inner]).endMs]).toEqual([9000, 9000])
  })

  it('U3 a timeline that grew and changed is laid out as if it had come at once', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom('ends', 'fails', 'moves'))
    fc.assert(
      fc.property(
        forest,
        fc.array(fc.tuple(fc.nat(), fc.array(change, { maxLength: 4 })), { maxLength: 6 }),
        (steps, turns) => {
          const timeline = createTimeline()
          let seen: StepSkeleton[] = []
          for (const [draw, changes] of [...turns, [steps.length, []] as const]) {
            // Also less than before: a list that was given up for another.
            const count = draw % (steps.length + 1)
            seen = Array.from({ length: count }, (_, at) => seen[at] ?? open(steps[at] as StepSkeleton))
            for (const [at, what] of changes) {
              const place = at % Math.max(1, count)
              const old = seen[place]
              if (old) seen[place] = changed(old, what, place)
            }
            timeline.take([...seen])
            expect(timeline.layOut()).toEqual(layOutSteps(seen))
          }
        },
      ),
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
