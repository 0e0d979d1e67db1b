import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localTimeOf } from './local-time.ts'
import { nextTimes, occurrencesBetween, parseTiming, type Timing } from './occurrences.ts'

const times = (timing: Timing, after: string, count: number): string[] =>
  nextTimes(timing, { after: new Date(after), count }).map((time) => time.toISOString().slice(5, 16))

describe('W5 a cron expression in a time zone', () => {
  const berlin = 'Europe/Berlin'
  const newYork = 'America/New_York'

  it.each<[string, string, string, string[]]>([
    // Clocks go from 2:00 to 3:00 on 29 March in Berlin, and on 8 March in New York.
    ['30 2 * * *', berlin, '2026-03-28T00:00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['15,45 2 * * *', berlin, '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:15', '03-30T00:45']],
    ['0 2,3 * * *', berlin, '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:00', '03-30T01:00']],
    ['30 2 * * *', newYork, '2026-03-07T00:00:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    ['30 2 8 3 *', newYork, '2026-03-07T00:00:00Z', ['03-08T07:00', '03-08T07:30']],
    // They go back from 3:00 to 2:00 on 25 October in Berlin, and from 2:00 to 1:00 on 1 November in New York.
    ['30 2 * * *', berlin, '2026-10-24T00:00:00Z', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
    [
      '*/30 * * * *',
      berlin,
      '2026-10-24T23:45:00Z',
      ['10-25T00:00', '10-25T00:30', '10-25T02:00', '10-25T02:30'],
    ],
    ['30 1 * * *', newYork, '2026-10-31T00:00:00Z', ['10-31T05:30', '11-01T05:30', '11-02T06:30']],
    ['30 1 * * *', newYork, '2026-11-01T05:45:00Z', ['11-02T06:30']],
    ['0 9 * * 1-5', berlin, '2026-10-23T12:00:00Z', ['10-26T08:00', '10-27T08:00']],
    ['@daily', 'UTC', '2026-12-31T00:00:00Z', ['01-01T00:00']],
  ])('%s in %s after %s', (cron, timeZone, after, expected) => {
    expect(times({ cron, timeZone }, after, expected.length)).toEqual(expected)
  })

  it('fires each local time once, in order, whatever the zone and the day', () => {
    const zones = [berlin, newYork, 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC']
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2011, 0), max: Date.UTC(2027, 0) }),
        fc.constantFrom('*/15 * * * *', '30 2 * * *', '0 */3 * * *', '59 23 * * 0'),
        (timeZone, afterMs, cron) => {
          const found = nextTimes({ cron, timeZone }, { after: new Date(afterMs), count: 12 }).map(Number)
          expect(found.toSorted((a, b) => a - b)).toEqual(found)
          expect(new Set(found).size).toBe(12)
          const local = localTimeOf(timeZone)
          expect(new Set(found.map((at) => local?.toLocal(at))).size).toBe(12)
          // Whoever begins in the middle comes to the same times.
          const rest = nextTimes({ cron, timeZone }, { after: new Date(found[5] as number), count: 6 }).map(
            Number,
          )
          expect(rest).toEqual(found.slice(6))
        },
      ),
      { numRuns: 40 },
    )
  })

  it.each<[Timing, string]>([
    [{ cron: '0 0 30 2 *' }, 'never due'],
    [{ cron: '0 0 31 4,6,9,11 *' }, 'never due'],
    [{ cron: 'soon' }, 'cannot be read'],
    [{ cron: '60 * * * *' }, 'cannot be read'],
    [{ cron: '0 0 0 * * *' }, 'cannot be read'],
    [{ cron: '2026-12-01T08:00:00Z' }, 'cron'],
    [{ cron: '@daily', timeZone: 'Mars/Olympus' }, 'There is no time zone "Mars/Olympus"'],
    [{ everyMs: 1000, timeZone: 'UTC' }, 'belongs to a cron expression'],
    [{ everyMs: 10 }, 'out of range'],
    [{ everyMs: Number.NaN }, 'out of range'],
    [{ at: 'tomorrow' }, 'cannot be read'],
    [{}, 'one of cron, every and at'],
    [{ cron: '@daily', everyMs: 1000 }, 'one of cron, every and at'],
  ])('refuses %j', (timing, why) => {
    const read = () => parseTiming(timing, Date.UTC(2026, 0))
    expect(read).toThrow(expect.objectContaining({ code: 'bad_option' }))
    expect(read).toThrow(why)
  })
})

describe('W5 other timings', () => {
  it('an interval is due at whole multiples since 1970', () => {
    expect(times({ everyMs: 900_000 }, '2026-01-01T00:10:00Z', 2)).toEqual(['01-01T00:15', '01-01T00:30'])
  })

  it('a time is due once', () => {
    expect(times({ at: '2026-01-02T00:00:00Z' }, '2026-01-01T00:00:00Z', 5)).toEqual(['01-02T00:00'])
    expect(times({ at: '2026-01-02T00:00:00Z' }, '2026-01-02T00:00:00Z', 5)).toEqual([])
  })
})

describe('W5 missed occurrences', () => {
  const next = parseTiming({ everyMs: 60_000 }, 0)
  it('the newest are given, the others are counted', () => {
    expect(occurrencesBetween(next, 0, 180_000, 5)).toEqual({
      times: [60_000, 120_000, 180_000],
      dropped: null,
    })
    expect(occurrencesBetween(next, 0, 300_000, 2)).toEqual({
      times: [240_000, 300_000],
      dropped: { count: 3, first: 60_000, last: 180_000 },
    })
  })

  it('very many are not gone through one by one', () => {
    const upTo = Date.UTC(2026, 0)
    const { times: newest, dropped } = occurrencesBetween(parseTiming({ everyMs: 1000 }, 0), 0, upTo, 100)
    expect([newest.length, newest.at(-1)]).toEqual([100, upTo])
    expect(dropped).toEqual({ count: null, first: 1000, last: upTo - 100_000 })
  })
})
