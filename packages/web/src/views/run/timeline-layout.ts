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

/** A timeline that grows with its list: only what is new or changed is looked at again. */
export interface Timeline {
  /** Takes the list as it is now, so that laying it out has little left to do. */
  take(steps: readonly StepSkeleton[]): void
  layOut(): TimelineLayout
}

export const layOutSteps = (steps: readonly StepSkeleton[]): TimelineLayout => {
  const timeline = createTimeline()
  timeline.take(steps)
  return timeline.layOut()
}

export function createTimeline(): Timeline {
  let known: readonly StepSkeleton[] = []
  let tree = emptyTree()
  let laidOut: TimelineLayout | null = null

  function take(steps: readonly StepSkeleton[]): void {
    if (steps === known) return
    const before = known
    known = steps
    laidOut = null
    if (steps.length < before.length) tree = emptyTree()
    for (let index = 0; index < tree.count; index++) {
      const step = steps[index] as StepSkeleton
      const old = before[index] as StepSkeleton
      if (step === old) continue
      if (step.stepId === old.stepId && step.parentStepId === old.parentStepId) setTimes(tree, index, step)
      else tree = emptyTree()
    }
    makeRoom(tree, steps.length)
    for (let index = tree.count; index < steps.length; index++)
      addStep(tree, index, steps[index] as StepSkeleton)
    tree.count = steps.length
  }

  return { take, layOut: () => (laidOut ??= layOutTree(tree)) }
}

/** Nesting and times of steps: the part of the layout that needs text. */
interface Tree {
  count: number
  readonly places: Map<string, number>
  readonly roots: number[]
  firstChild: Int32Array
  lastChild: Int32Array
  nextSibling: Int32Array
  starts: Float64Array
  /** Not a number while the step is open. */
  ends: Float64Array
  failed: Uint8Array
}

const emptyTree = (): Tree => ({
  count: 0,
  places: new Map(),
  roots: [],
  firstChild: new Int32Array(0),
  lastChild: new Int32Array(0),
  nextSibling: new Int32Array(0),
  starts: new Float64Array(0),
  ends: new Float64Array(0),
  failed: new Uint8Array(0),
})

function makeRoom(tree: Tree, count: number): void {
  if (count <= tree.starts.length) return
  const room = Math.max(count, tree.starts.length * 2)
  const wider = <Column extends Int32Array | Float64Array | Uint8Array>(
    next: Column,
    old: Column,
  ): Column => {
    next.set(old)
    return next
  }
  tree.firstChild = wider(new Int32Array(room), tree.firstChild)
  tree.lastChild = wider(new Int32Array(room), tree.lastChild)
  tree.nextSibling = wider(new Int32Array(room), tree.nextSibling)
  tree.starts = wider(new Float64Array(room), tree.starts)
  tree.ends = wider(new Float64Array(room), tree.ends)
  tree.failed = wider(new Uint8Array(room), tree.failed)
}

function setTimes({ starts, ends, failed }: Tree, index: number, step: StepSkeleton): void {
  const start = Date.parse(step.createdAt) || 0
  starts[index] = start
  // One that was interrupted or waited worked for less time than it took: what lies in it must not stick out of it.
  const end = Date.parse(step.completedAt ?? '') || 0
  ends[index] = step.durationMs === null ? Number.NaN : Math.max(start + step.durationMs, end)
  failed[index] = step.status === 'failed' ? 1 : 0
}

function addStep(tree: Tree, index: number, step: StepSkeleton): void {
  const { places, roots, firstChild, lastChild, nextSibling } = tree
  setTimes(tree, index, step)
  firstChild[index] = lastChild[index] = nextSibling[index] = -1
  // One whose parent is not here, or comes later, is a root: nothing is left out.
  const parent = step.parentStepId === null ? undefined : places.get(step.parentStepId)
  if (parent === undefined) roots.push(index)
  else if (lastChild[parent] === -1) firstChild[parent] = lastChild[parent] = index
  else {
    nextSibling[lastChild[parent] as number] = index
    lastChild[parent] = index
  }
  places.set(step.stepId, index)
}

function layOutTree({ count, roots, firstChild, nextSibling, starts, ends, failed }: Tree): TimelineLayout {
  let originMs = count === 0 ? 0 : Number.POSITIVE_INFINITY
  let lastMs = count === 0 ? 0 : Number.NEGATIVE_INFINITY
  for (let index = 0; index < count; index++) {
    const start = starts[index] as number
    originMs = Math.min(originMs, start)
    lastMs = Math.max(lastMs, Number.isNaN(ends[index]) ? start : (ends[index] as number))
  }
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
    layout.errors[row] = failed[index] as number
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
