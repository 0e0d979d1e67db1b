import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTerminal, type RunStatus } from '../fold/run-summary.ts'
import type { EventPlace, RetentionFacts, RunFacts } from './facts.ts'
import { LEFT_OVER, planRetention, type RetentionPlan } from './plan.ts'
import { parsePolicy } from './policy.ts'

const NOW = 1_000_000_000_000
const DAY = 86_400_000

interface Drawn {
  readonly status: RunStatus
  readonly thread: number
  readonly parent: number | undefined
  readonly fork: { readonly of: number; readonly share: number } | undefined
  readonly from: { readonly of: number; readonly share: number } | undefined
  readonly length: number
  readonly agent: string
  readonly old: boolean
  /** Deleted before, but for its beginning. */
  readonly left: boolean
}

const drawnRun: fc.Arbitrary<Drawn> = fc.record({
  status: fc.constantFrom<RunStatus>(
    'completed',
    'failed',
    'stopped',
    'running',
    'paused',
    'pending',
    'interrupted',
  ),
  thread: fc.integer({ min: 0, max: 4 }),
  parent: fc.option(fc.nat(), { nil: undefined, freq: 4 }),
  fork: fc.option(fc.record({ of: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) }), {
    nil: undefined,
    freq: 3,
  }),
  from: fc.option(fc.record({ of: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) }), {
    nil: undefined,
    freq: 2,
  }),
  length: fc.integer({ min: 1, max: 9 }),
  agent: fc.constantFrom('a', 'b'),
  old: fc.boolean(),
  left: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
})

const world = fc.record({
  runs: fc.array(drawnRun, { minLength: 1, maxLength: 14 }),
  leased: fc.option(fc.nat(), { nil: undefined }),
  held: fc.option(fc.nat(), { nil: undefined }),
  unseen: fc.option(fc.nat(), { nil: undefined }),
  rule: fc.constantFrom(
    { olderThan: '1d' },
    { newest: 2 },
    { newest: 0 },
    { match: { agent: 'a' }, newest: 1 },
    { match: { status: ['failed', 'stopped'] }, olderThan: '1d' },
    { maxBytes: 30 },
  ),
  keep: fc.constantFrom([], [{ match: { agent: 'b' } }]),
})

/** Runs refer only to those before them; a thread 0 is none. */
function toFacts({
  runs: drawn,
  leased,
  held,
  unseen,
}: typeof world extends fc.Arbitrary<infer T> ? T : never) {
  const runs: RunFacts[] = []
  const standsOn = new Map<string, EventPlace[]>()
  for (const [at, each] of drawn.entries()) {
    const source = each.fork && runs[each.fork.of % Math.max(1, at)]
    const owner = source && each.fork ? ownerOf(runs, source, seqIn(source, each.fork.share)) : null
    const base = each.from && runs[each.from.of % Math.max(1, at)]
    const runId = `r${at}`
    runs.push({
      runId,
      status: each.left ? 'deleted' : each.status,
      agent: each.agent,
      threadId: each.thread === 0 ? null : `t${each.thread}`,
      parentRunId: each.parent === undefined || at === 0 ? null : `r${each.parent % at}`,
      subjects: [],
      forkOf: owner,
      seq: (owner?.seq ?? 0) + each.length,
      hash: '',
      recordedMs: each.old ? NOW - 2 * DAY : NOW,
      ...(each.left && { left: [{ fromSeq: (owner?.seq ?? 0) + 1, toSeq: (owner?.seq ?? 0) + 1 }] }),
    })
    const isMate = base && base.threadId === runs[at]?.threadId && base.threadId !== null
    standsOn.set(runId, isMate && each.from ? [{ runId: base.runId, seq: seqIn(base, each.from.share) }] : [])
  }
  const nth = (n: number | undefined): RunFacts | undefined =>
    n === undefined ? undefined : runs[n % runs.length]
  const facts: RetentionFacts = {
    workspace: 'w',
    nowMs: NOW,
    runs,
    leases: [nth(leased)].flatMap((run) => (run ? [{ runId: run.runId, threadId: run.threadId }] : [])),
    holds: [nth(held)].flatMap((run) =>
      run ? [{ holdId: 'h', target: { runId: run.runId }, reason: null, by: null, since: '' }] : [],
    ),
    heldWithin: new Map(),
    behind: unseen === undefined ? null : { name: 'c', runIds: new Set([nth(unseen)?.runId ?? '']) },
    bytes: new Map(runs.map(({ runId, seq }) => [runId, seq])),
    standsOn: new Map(),
    parts: new Map(),
  }
  return { facts, standsOn }
}

const seqIn = ({ seq, left }: RunFacts, share: number): number =>
  left?.[0]?.fromSeq ?? 1 + Math.floor(share * (seq - 1))

function ownerOf(runs: readonly RunFacts[], source: RunFacts, seq: number): EventPlace {
  let owner = source
  while (owner.forkOf && seq <= owner.forkOf.seq)
    owner = runs.find(({ runId }) => runId === owner.forkOf?.runId) as RunFacts
  return { runId: owner.runId, seq }
}

/** As whoever gathers facts does it: asked for what is lacking only. */
function planAll(
  policy: ReturnType<typeof parsePolicy>,
  facts: RetentionFacts,
  standsOn: ReadonlyMap<string, EventPlace[]>,
): RetentionPlan {
  const known = new Map<string, EventPlace[]>()
  for (;;) {
    const plan = planRetention(policy, { ...facts, standsOn: known })
    if (plan.lacking.length === 0) return plan
    for (const runId of plan.lacking) known.set(runId, standsOn.get(runId) ?? [])
  }
}

/** The invariants, told without the plan's own way of finding them. */
function findFlaws(
  facts: RetentionFacts,
  standsOn: ReadonlyMap<string, EventPlace[]>,
  plan: RetentionPlan,
): string[] {
  const flaws: string[] = []
  const goneFrom = new Map(plan.ranges.map(({ runId, fromSeq }) => [runId, fromSeq]))
  const isThere = ({ runId, seq }: EventPlace): boolean =>
    (goneFrom.get(runId) ?? Number.POSITIVE_INFINITY) > seq
  for (const run of facts.runs) {
    const { runId, status, threadId, forkOf } = run
    const isGoing = goneFrom.has(runId)
    const firstSeq = (forkOf?.seq ?? 0) + 1
    if (isGoing && !isTerminal(status) && status !== 'deleted') flaws.push(`${runId} lives and goes`)
    if (
      isGoing &&
      facts.leases.some(
        (lease) => lease.runId === runId || (threadId !== null && lease.threadId === threadId),
      )
    )
      flaws.push(`${runId} is leased and goes`)
    if (isGoing && facts.holds.some(({ target }) => 'runId' in target && target.runId === runId))
      flaws.push(`${runId} is held and goes`)
    if (isGoing && facts.behind?.runIds.has(runId)) flaws.push(`${runId} was not seen and goes`)
    const hasEvents = (goneFrom.get(runId) ?? Number.POSITIVE_INFINITY) > firstSeq
    if (hasEvents && forkOf && !isThere(forkOf)) flaws.push(`${runId} has lost what it shares`)
    if (isGoing || status === 'deleted') continue
    for (const place of standsOn.get(runId) ?? [])
      if (!isThere(place)) flaws.push(`${runId} has lost its base`)
    for (const child of facts.runs)
      if (
        child.parentRunId === runId &&
        child.status !== 'deleted' &&
        !isThere({ runId: child.runId, seq: child.seq })
      )
        flaws.push(`${runId} has lost its child ${child.runId}`)
    const newest = facts.runs.findLast(
      (mate) => threadId !== null && mate.threadId === threadId && mate.status !== 'deleted',
    )
    if (newest && goneFrom.has(newest.runId)) flaws.push(`thread ${threadId} has lost its newest run`)
  }
  for (const { fromSeq, toSeq, seq } of plan.ranges)
    if (fromSeq > toSeq || toSeq > seq) flaws.push('a range that is none')
  return flaws
}

describe('P4 the plan', () => {
  it('P4 R7 never takes what a live run, a lease, a hold, a consumer, a fork, a parent or the next turn needs', () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { facts, standsOn } = toFacts(drawn)
        const plan = planAll(parsePolicy({ rules: [drawn.rule], keep: drawn.keep }), facts, standsOn)
        expect(findFlaws(facts, standsOn, plan)).toEqual([])
        const gone = facts.runs.filter((run) =>
          plan.ranges.some(({ runId, rule }) => runId === run.runId && rule !== LEFT_OVER),
        )
        if (drawn.keep.length > 0) expect(gone.filter((run) => run.agent === 'b')).toEqual([])
      }),
      { numRuns: 600 },
    )
  })

  it('P4 takes all that a rule names when nobody needs it', () => {
    fc.assert(
      fc.property(fc.array(drawnRun, { maxLength: 10 }), (drawn) => {
        const ended = drawn.map((run) => ({ ...run, status: 'completed' as const, left: false }))
        const { facts, standsOn } = toFacts({
          runs: ended,
          leased: undefined,
          held: undefined,
          unseen: undefined,
          rule: { newest: 0 },
          keep: [],
        })
        const { ranges, kept } = planAll(parsePolicy({ rules: [{ newest: 0 }] }), facts, standsOn)
        expect(ranges.map(({ runId }) => runId)).toEqual(facts.runs.map(({ runId }) => runId))
        expect(kept).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('M3 memory of a run or thread that is not over is not idle', () => {
    const run = (runId: string, status: RunStatus, threadId: string | null = null): RunFacts => ({
      runId,
      status,
      threadId,
      agent: null,
      parentRunId: null,
      subjects: [],
      forkOf: null,
      seq: 3,
      hash: '',
      recordedMs: NOW - 9 * DAY,
    })
    const facts: RetentionFacts = {
      workspace: 'w',
      nowMs: NOW,
      leases: [],
      holds: [],
      heldWithin: new Map(),
      behind: null,
      bytes: new Map(),
      standsOn: new Map(),
      parts: new Map(),
      runs: [
        run('over', 'completed'),
        run('asleep', 'pending', 't'),
        run('clew:memory/short/over', 'pending'),
        run('clew:memory/short/asleep', 'pending'),
        run('clew:memory/session/t', 'pending'),
        run('clew:memory/session/gone', 'pending'),
        run('clew:memory/long/workspace', 'pending'),
      ],
    }
    const policy = parsePolicy({
      rules: [
        { match: { layer: 'short' }, olderThan: '1d' },
        { match: { layer: 'session' }, olderThan: '1d' },
      ],
    })
    expect(planRetention(policy, facts).ranges.map(({ runId, deletes }) => [runId, deletes])).toEqual([
      ['clew:memory/short/over', false],
      ['clew:memory/session/gone', false],
    ])
  })
})
