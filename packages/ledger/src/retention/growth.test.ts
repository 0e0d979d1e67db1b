import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoredEvent, StoredRun } from '../store/store.ts'
import { DAY_MS, foldGrowth, GROWTH_DAYS, type GrowthFacts, type GrowthMark } from './growth.ts'
import { readGrowth } from './read-growth.ts'

const NOW = Date.parse('2026-11-16T12:00:00.000Z')
const facts = (ageDays: number | null, rest: Partial<GrowthFacts> = {}): GrowthFacts => ({
  nowMs: NOW,
  oldestMs: ageDays === null ? null : NOW - ageDays * DAY_MS,
  bytes: 1000,
  bytesPerEvent: 10,
  isExact: true,
  ...rest,
})
const mark = (days: number, events: number, runs = 0): GrowthMark => ({
  atMs: NOW - days * DAY_MS,
  events,
  runs,
})

describe('R10 growth', () => {
  it('R10 of an empty ledger there is none', () => {
    expect(foldGrowth(facts(null), [])).toEqual({
      days: [],
      week: null,
      month: null,
      bytesIn30Days: null,
      isExact: true,
    })
  })

  it('R10 a record that is younger than a day has no pace, whatever is in it', () => {
    const { week, month, bytesIn30Days, days } = foldGrowth(facts(0.9), [mark(0.5, 10_000, 5)])
    expect([week, month, bytesIn30Days]).toEqual([null, null, null])
    expect(days).toEqual([{ from: '2026-11-15T12:00:00.000Z', events: 10_000, runs: 5 }])
  })

  it('R10 the pace is taken over the days that there are, up to 7 and up to 30', () => {
    const { week, month, bytesIn30Days } = foldGrowth(facts(2), [mark(0.5, 30, 1), mark(1.5, 10, 1)])
    expect(week).toEqual({ days: 2, eventsPerDay: 20, runsPerDay: 1, bytesPerDay: 200 })
    expect(month).toEqual(week)
    expect(bytesIn30Days).toBe(1000 + 30 * 200)
    const old = foldGrowth(facts(400), [mark(3, 70), mark(20, 230), mark(31, 9999)])
    expect([old.week?.eventsPerDay, old.month?.eventsPerDay, old.days.length]).toEqual([10, 10, GROWTH_DAYS])
  })

  it('R10 a clock that went back makes the future today, and nothing negative', () => {
    const { days, week } = foldGrowth(facts(-3), [mark(-3, 5), mark(-0.1, 2)])
    expect([days.map(({ events }) => events), week]).toEqual([[7], null])
    const later = foldGrowth(facts(5), [mark(-3, 5), mark(4.5, 2)])
    expect(later.days.map(({ events }) => events)).toEqual([2, 0, 0, 0, 5])
  })

  it('R10 loses and invents no event: days hold all that is young enough', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.array(fc.record({ at: fc.double({ min: -5, max: 1, noNaN: true }), events: fc.nat(1000) })),
        (age, drawn) => {
          const marks = drawn.map(({ at, events }) => mark(at <= 0 ? at : at * Math.min(age, 29.9), events))
          const { days } = foldGrowth(facts(age), marks)
          expect(days.reduce((sum, { events }) => sum + events, 0)).toBe(
            marks.reduce((sum, { events }) => sum + events, 0),
          )
        },
      ),
    )
  })
})

/** Runs with times that never go back, as stores give them, and how often single events were asked for. */
function world(runs: readonly (readonly number[])[]) {
  let asked = 0
  const at = (days: number): string => new Date(NOW - days * DAY_MS).toISOString()
  const stored = runs.map(
    (times, n) =>
      ({
        summary: { runId: `run ${n}`, status: 'completed', startedAt: at(times[0] ?? 0) },
        seq: times.length,
        forkOf: null,
        recordedAt: at(times.at(-1) ?? 0),
      }) as unknown as StoredRun,
  )
  const store = {
    async readRun({ runId }: { runId: string }, { afterSeq }: { afterSeq: number }): Promise<StoredEvent[]> {
      asked++
      const times = runs[Number(runId.slice(4))] ?? []
      const time = times[afterSeq]
      return time === undefined ? [] : [{ recordedAt: at(time) } as unknown as StoredEvent]
    },
  }
  return { stored, parts: { store, workspace: 'w', nowMs: NOW }, asked: () => asked }
}

describe('R10 growth from runs', () => {
  it('R10 counts each event on its day, also of runs that went on for weeks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.double({ min: 0, max: 40, noNaN: true }), { minLength: 1, maxLength: 60 }), {
          maxLength: 6,
        }),
        async (drawn) => {
          const runs = drawn.map((times) => times.toSorted((a, b) => b - a))
          const { stored, parts } = world(runs)
          const { marks, isExact } = await readGrowth(parts, stored)
          const plain = runs.flatMap((times) => times.map((days) => mark(days, 1)))
          const eventsOf = (all: Iterable<GrowthMark>) =>
            foldGrowth(facts(50), all).days.map(({ events }) => events)
          expect([isExact, eventsOf(marks)]).toEqual([true, eventsOf(plain)])
        },
      ),
    )
  })

  it('R10 asks for a few events of a long run, and for none of a short one', async () => {
    const long = Array.from({ length: 100_000 }, (_, n) => 40 - n / 2500)
    const { stored, parts, asked } = world([long, [0.2, 0.1]])
    await readGrowth(parts, stored)
    expect(asked()).toBeLessThan(31 * 18)
  })

  it('R10 where look-ups run out, it says so and loses nothing', async () => {
    const { stored, parts } = world([
      [9, 8, 7, 6, 5],
      [4, 3, 2, 1],
    ])
    const { marks, isExact } = await readGrowth(parts, stored, 1)
    expect([isExact, marks.reduce((sum, { events }) => sum + events, 0)]).toEqual([false, 9])
  })
})
