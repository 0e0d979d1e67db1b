import type { StepSkeleton } from '@clew/ledger'

export interface Supersteps {
  /** Every superstep that the run has, in order. */
  readonly all: readonly number[]
  /** The last event of a superstep and those before it. */
  lastSeqAt(superstep: number): number
  before(at: number | undefined): number | undefined
  after(at: number | undefined): number | undefined
}

export function supersteps(steps: readonly StepSkeleton[]): Supersteps {
  const ends = new Map<number, number>()
  for (const { superstep, startedSeq, endedSeq } of steps)
    ends.set(superstep, Math.max(ends.get(superstep) ?? 0, endedSeq ?? startedSeq))
  const all = [...ends.keys()].sort((a, b) => a - b)
  const place = (at: number): number => all.findLastIndex((each) => each <= at)
  let last = 0
  const lastSeqs = all.map((superstep) => (last = Math.max(last, ends.get(superstep) ?? 0)))
  return {
    all,
    lastSeqAt: (superstep) => lastSeqs[place(superstep)] ?? 0,
    before: (at) => (at === undefined ? all.at(-2) : (all[place(at) - 1] ?? all[0])),
    after: (at) => (at === undefined ? undefined : all[place(at) + 1]),
  }
}
