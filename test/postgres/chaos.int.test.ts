import { beforeAll, describe, expect, it } from 'vitest'
import { type ChaosReport, formatReport, judge } from './chaos/report.ts'
import { runChaos } from './chaos/run-chaos.ts'
import { type Check, type Evidence, findViolations } from './chaos/tally.ts'

const MINUTES = 60_000

/** The short form of `npm run chaos -- --seconds 120`: every kind of fault at least once. */
let report: ChaosReport
beforeAll(async () => {
  report = await runChaos({ seconds: 10, seed: 7, writers: 4, workers: 2, restartMs: [3000, 5000] })
}, 8 * MINUTES)

it('L3 L5 L7 R5 R9 under faults of server, network and processes nothing acknowledged is lost, nothing is there twice, no follower has a gap and dead owners are replaced', () => {
  expect(report.verdict, formatReport(report)).toBe('held')
  expect(report.evidence.acknowledged.length).toBeGreaterThan(100)
  expect(report.evidence.errands.length).toBeGreaterThan(5)
  expect(report.takeovers.length).toBeGreaterThan(0)
})

describe('the verdict is', () => {
  const again = (changed: Partial<ChaosReport>): ChaosReport =>
    judge({ ...report, sweepMs: 1000, ...changed })

  it('void when a fault did not fire', () => {
    for (const kind of report.fired.keys()) {
      const { verdict } = again({ fired: new Map(report.fired).set(kind, 0) })
      expect(verdict).toBe('void')
    }
  })

  it('R9 violated when a dead owner was not replaced, or late', () => {
    const [first] = report.takeovers
    if (!first) throw new Error('no owner was killed')
    for (const ms of [undefined, 200_000])
      expect(
        again({ takeovers: [{ runId: first.runId, epoch: 1, isProvable: true, ...(ms && { ms }) }] }),
      ).toMatchObject({
        verdict: 'violated',
        late: [{ runId: first.runId }],
      })
  })
})

describe('the checks go red when', () => {
  const planted = (changed: (evidence: Evidence) => Partial<Evidence>): Check[] => {
    const violations = findViolations({ ...report.evidence, ...changed(report.evidence) })
    return (Object.keys(violations) as Check[]).filter((check) => violations[check].length > 0)
  }
  /** Somewhere in the middle. */
  const without = <T>(items: readonly T[]): T[] => items.toSpliced(Math.floor(items.length / 2), 1)
  const place = ({ found, acknowledged }: Evidence): number =>
    found.findIndex(({ eventId }) => eventId === acknowledged[Math.floor(acknowledged.length / 2)]?.eventId)

  it('nothing is planted: not', () => {
    expect(planted(() => ({}))).toEqual([])
  })

  it('L5 an acknowledged event is gone', () => {
    expect(planted((evidence) => ({ found: evidence.found.toSpliced(place(evidence), 1) }))).toEqual(
      expect.arrayContaining(['lost']),
    )
  })

  it('L4 an event is there twice, under its own id or under another', () => {
    const twice = (eventId?: string) =>
      planted((evidence) => {
        const own = evidence.found[place(evidence)]
        if (!own) throw new Error('nothing was acknowledged')
        return {
          found: [
            ...evidence.found,
            { ...own, position: Number.MAX_SAFE_INTEGER, ...(eventId && { eventId }) },
          ],
        }
      })
    expect(twice()).toContain('doubled')
    expect(twice('other')).toContain('doubled')
  })

  it('L6 an event is not what was acknowledged', () => {
    const changed = ({ found, ...evidence }: Evidence) => ({
      found: found.with(place({ found, ...evidence }), {
        ...found[place({ found, ...evidence })]!,
        hash: 'other',
      }),
    })
    expect(planted(changed)).toEqual(['moved'])
    expect(planted(() => ({ problems: ['changed: run r seq 1'] }))).toEqual(['broken'])
  })

  it('L3 L7 a follower skips a position, gets one twice, or stops before the end', () => {
    for (const change of [
      (positions: readonly number[]) => without(positions),
      (positions: readonly number[]) =>
        positions.flatMap((position, n) => (n === 9 ? [position, position] : [position])),
      (positions: readonly number[]) => positions.slice(0, -1),
    ])
      expect(
        planted(({ followed }) => ({ followed: [followed[0] ?? [], change(followed[1] ?? [])] })),
      ).toEqual(['follower gap'])
  })

  it('R9 an owner writes that had lost its run', () => {
    expect(
      planted(({ found }) => {
        const last = found.findLast(({ epoch }) => epoch !== null)
        if (!last) throw new Error('nothing was written under a lease')
        const late = {
          ...last,
          eventId: 'late',
          key: 'late',
          epoch: 0,
          seq: last.seq + 1,
          position: last.position + 1,
        }
        return { found: [...found, late], followed: [] }
      }),
    ).toEqual(['stale owner'])
  })

  it('R5 a completed effect is carried out again, or a run does not end once', () => {
    const [errand] = report.evidence.errands
    if (!errand) throw new Error('there was no run')
    const again = { outside: `${errand.runId} 0`, attempt: 1 + (errand.completed.get('0') ?? 0) }
    expect(planted(({ outside }) => ({ outside: [...outside, again] }))).toEqual(['errand'])
    for (const wrong of [
      { status: 'failed' },
      { ends: 2 },
      { ends: 0 },
      { flaws: ['a step completed twice'] },
    ])
      expect(planted(({ errands }) => ({ errands: errands.with(0, { ...errand, ...wrong }) }))).toEqual([
        'errand',
      ])
  })

  it('a process ends by itself', () => {
    expect(planted(() => ({ failures: ['TypeError: x is undefined'] }))).toEqual(['failure'])
  })
})
