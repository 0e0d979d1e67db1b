import type { StepSkeleton } from '@clew/ledger'

/** Steps as a tree in rows, in columns of numbers: 100,000 of them are laid out at once and drawn as far as they are seen. */
export interface TimelineLayout {
  readonly count: number
  /** Row to place in the list of steps. */
  readonly step: Int32Array
  readonly depth: Int32Array
  /** Row after the last one that lies in this one. */
  readonly end: Int32Array
  /** Milliseconds since the first step; an open step ends where the record does. */
  readonly startMs: Float64Array
  readonly endMs: Float64Array
  /** Failed steps in it, itself included. */
  readonly errors: Int32Array
  readonly originMs: number
  readonly spanMs: number
}

export function layOutSteps(steps: readonly StepSkeleton[]): TimelineLayout {
  const count = steps.length
  const places = new Map<string, number>()
  const firstChild = new Int32Array(count).fill(-1)
  const nextSibling = new Int32Array(count).fill(-1)
  const lastChild = new Int32Array(count).fill(-1)
  const starts = new Float64Array(count)
  const ends = new Float64Array(count)
  const roots: number[] = []
  let originMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  for (let index = 0; index < count; index++) {
    const { createdAt, durationMs, stepId, parentStepId } = steps[index] as StepSkeleton
    const start = Date.parse(createdAt) || 0
    starts[index] = start
    ends[index] = durationMs === null ? Number.NaN : start + durationMs
    originMs = Math.min(originMs, start)
    lastMs = Math.max(lastMs, start + (durationMs ?? 0))
    // One whose parent is not here, or comes later, is a root: nothing is left out.
    const parent = parentStepId === null ? undefined : places.get(parentStepId)
    if (parent === undefined) roots.push(index)
    else if (lastChild[parent] === -1) firstChild[parent] = lastChild[parent] = index
    else {
      nextSibling[lastChild[parent] as number] = index
      lastChild[parent] = index
    }
    places.set(stepId, index)
  }
  if (count === 0) originMs = lastMs = 0

  const layout = {
    count,
    step: new Int32Array(count),
    depth: new Int32Array(count),
    end: new Int32Array(count),
    startMs: new Float64Array(count),
    endMs: new Float64Array(count),
    errors: new Int32Array(count),
    originMs,
    spanMs: Math.max(1, lastMs - originMs),
  }
  let row = 0
  const open: number[] = []
  function place(index: number): void {
    layout.step[row] = index
    layout.depth[row] = open.length
    layout.startMs[row] = (starts[index] as number) - originMs
    const end = ends[index] as number
    layout.endMs[row] = (Number.isNaN(end) ? lastMs : end) - originMs
    layout.errors[row] = (steps[index] as StepSkeleton).status === 'failed' ? 1 : 0
    open.push(row)
    row++
  }
  function close(): void {
    const at = open.pop() as number
    layout.end[at] = row
    const above = open.at(-1)
    if (above !== undefined)
      layout.errors[above] = (layout.errors[above] as number) + (layout.errors[at] as number)
  }
  for (const root of roots) {
    place(root)
    // Down to the first child, else to the next sibling, else up: no recursion, however deep it goes.
    for (let at = firstChild[root] as number, from = root; open.length > 0; ) {
      if (at !== -1) {
        place(at)
        from = at
        at = firstChild[from] as number
      } else {
        close()
        at = open.length === 0 ? -1 : (nextSibling[from] as number)
        from = open.length === 0 ? from : (layout.step[open.at(-1) as number] as number)
      }
    }
  }
  return layout
}

/** Rows that are seen when these are folded. */
export function visibleRows(layout: TimelineLayout, folded: ReadonlySet<number>): Int32Array {
  const rows = new Int32Array(layout.count)
  let seen = 0
  for (let row = 0; row < layout.count; ) {
    rows[seen++] = row
    row = folded.has(layout.step[row] as number) ? (layout.end[row] as number) : row + 1
  }
  return rows.subarray(0, seen)
}
