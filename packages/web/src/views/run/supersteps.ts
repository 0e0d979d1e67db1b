import type { StepSkeleton } from '@clew/ledger'

/** A stretch of the scrubber: what was done in one superstep, or in some that share it. */
export interface Bar {
  readonly ms: number
  readonly failed: boolean
  readonly steps: number
}

export interface Supersteps {
  /** Every superstep that the run has, in order. */
  readonly all: readonly number[]
  readonly bars: readonly Bar[]
  /** Place in `all` of the last superstep up to this one; -1 before the first. */
  placeOf(at: number): number
  /** The last event of a superstep and those before it. */
  lastSeqAt(superstep: number): number
  before(at: number | undefined): number | undefined
  after(at: number | undefined): number | undefined
}

/** Bars that fit on a screen; longer runs share them. */
const MAX_BARS = 240

/** Columns of numbers, one entry per superstep in order: a long run has as many supersteps as steps. */
interface Columns {
  readonly all: number[]
  readonly lastSeq: number[]
  readonly ms: number[]
  readonly failed: number[]
  readonly steps: number[]
}

const noColumns = (): Columns => ({ all: [], lastSeq: [], ms: [], failed: [], steps: [] })

/** The supersteps of a list that grows: only steps that are new or changed are looked at again. */
export function createSupersteps(): (steps: readonly StepSkeleton[]) => Supersteps {
  let known: readonly StepSkeleton[] = []
  let columns = noColumns()

  function count({ superstep, startedSeq, endedSeq, durationMs, status }: StepSkeleton, by: 1 | -1): void {
    const { all, lastSeq, ms, failed, steps } = columns
    let place = placeIn(all, superstep)
    if (all[place] !== superstep) {
      place++
      for (const [column, begin] of [
        [all, superstep],
        [lastSeq, 0],
        [ms, 0],
        [failed, 0],
        [steps, 0],
      ] as const)
        if (place === column.length) column.push(begin)
        else column.splice(place, 0, begin)
    }
    lastSeq[place] = Math.max(lastSeq[place] as number, endedSeq ?? startedSeq)
    ms[place] = (ms[place] as number) + by * (durationMs ?? 0)
    failed[place] = (failed[place] as number) + (status === 'failed' ? by : 0)
    steps[place] = (steps[place] as number) + by
  }
  const isOther = (step: StepSkeleton, index: number): boolean => step.superstep !== known[index]?.superstep

  return (steps) => {
    if (steps.length < known.length || steps.slice(0, known.length).some(isOther)) {
      known = []
      columns = noColumns()
    }
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as StepSkeleton
      const old = known[index]
      if (step === old) continue
      if (old) count(old, -1)
      count(step, 1)
    }
    known = steps
    return view(columns)
  }
}

export const supersteps = (steps: readonly StepSkeleton[]): Supersteps => createSupersteps()(steps)

function view(columns: Columns): Supersteps {
  const all = columns.all.slice()
  const seqs = columns.lastSeq.slice()
  let lastSeqs: number[] | undefined
  const placeOf = (at: number): number => placeIn(all, at)
  function lastSeqAt(superstep: number): number {
    let last = 0
    lastSeqs ??= seqs.map((seq) => (last = Math.max(last, seq)))
    return lastSeqs[placeOf(superstep)] ?? 0
  }
  return {
    all,
    bars: toBars(columns),
    placeOf,
    lastSeqAt,
    before: (at) => (at === undefined ? all.at(-2) : (all[placeOf(at) - 1] ?? all[0])),
    after: (at) => (at === undefined ? undefined : all[placeOf(at) + 1]),
  }
}

/** Place of the last one up to `at`; -1 when all are beyond it. */
function placeIn(sorted: readonly number[], at: number): number {
  // Most steps belong to the last superstep so far, or to the next.
  if (at >= (sorted.at(-1) ?? Number.POSITIVE_INFINITY)) return sorted.length - 1
  let low = 0
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

function toBars({ all, ms, failed, steps }: Columns): Bar[] {
  const count = Math.min(MAX_BARS, all.length)
  const bars = Array.from({ length: count }, () => ({ ms: 0, failed: false, steps: 0 }))
  for (let index = 0; index < all.length; index++) {
    const bar = bars[Math.floor((index / all.length) * count)]
    if (!bar) continue
    bar.ms += ms[index] as number
    bar.failed ||= (failed[index] as number) > 0
    bar.steps += steps[index] as number
  }
  return bars
}
