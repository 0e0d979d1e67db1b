import { createHeap } from './heap.ts'
import type { Mark, TimelineItem } from './timeline.ts'

/** Makes a tree of marks, which come in the order of their start. Without recursion, since depth is data. */
export function layOut(
  sorted: readonly Mark[],
  owners: ReadonlyMap<string, Mark>,
  originMs: number,
): { items: TimelineItem[]; lanes: number } {
  for (const mark of sorted) {
    mark.below = null
    mark.index = UNPLACED
  }
  const roots = hang(sorted, owners)
  const items: TimelineItem[] = []
  let lanes = 0
  const place = (first: readonly Mark[]): void => {
    const stack = [
      { marks: first, at: 0, depth: 0, parent: null as number | null, lanes: assignLanes(first) },
    ]
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const mark = top.marks[top.at]
      if (!mark) {
        stack.pop()
        continue
      }
      const lane = top.lanes[top.at++] ?? 0
      if (mark.index !== UNPLACED) continue
      lanes = Math.max(lanes, lane + 1)
      mark.index = items.push(toItem(mark, originMs, lane, top.depth, top.parent)) - 1
      const { below, index: parent } = mark
      if (below) stack.push({ marks: below, at: 0, depth: top.depth + 1, parent, lanes: assignLanes(below) })
    }
  }
  place(roots)
  // Steps that name each other as parents hang on no root: the first of each circle becomes one.
  if (items.length < sorted.length) for (const mark of sorted) if (mark.index === UNPLACED) place([mark])
  return { items, lanes }
}

const UNPLACED = -1

/**
 * Hangs each mark below the one it lies in and gives those that lie in none. A step lies in the attempt of its parent
 * that was the latest by then; an instant in its step, else where its cause lies.
 */
function hang(sorted: readonly Mark[], owners: ReadonlyMap<string, Mark>): Mark[] {
  const first = new Map<string, Mark>()
  const exact = new Map<string, Mark>()
  for (const mark of sorted) {
    if (mark.kind !== 'step' || mark.stepId === null) continue
    if (first.has(mark.stepId)) exact.set(`${mark.attempt} ${mark.stepId}`, mark)
    else first.set(mark.stepId, mark)
  }
  const exactOf = (attempt: number, stepId: string): Mark | undefined => {
    const only = first.get(stepId)
    return only?.attempt === attempt ? only : exact.get(`${attempt} ${stepId}`)
  }
  const latest = new Map<string, Mark>()
  const roots: Mark[] = []
  for (const mark of sorted) {
    const parentId = mark.kind === 'step' ? mark.parentStepId : mark.stepId
    let parent: Mark | undefined
    if (parentId !== null) {
      const known =
        mark.kind === 'step' || mark.attempt === null ? undefined : exactOf(mark.attempt, parentId)
      parent = known ?? latest.get(parentId) ?? first.get(parentId)
    } else if (mark.kind !== 'step' && mark.causationId !== null) {
      const owner = owners.get(mark.causationId)
      const open = owner?.kind === 'step' && (owner.endSeq === null || owner.endSeq > mark.seq)
      if (open) parent = owner
    }
    if (!parent || parent === mark) roots.push(mark)
    else if (parent.below) parent.below.push(mark)
    else parent.below = [mark]
    if (mark.kind === 'step' && mark.stepId !== null) latest.set(mark.stepId, mark)
  }
  return roots
}

const FIRST: readonly number[] = [0]

/** The lowest lane that is free at its start, for each of these siblings. */
function assignLanes(marks: readonly Mark[]): readonly number[] {
  if (marks.length < 2) return FIRST
  const lanes: number[] = Array.from({ length: marks.length }, () => 0)
  const byStart = marks.map((mark, at) => ({ mark, at })).filter(({ mark }) => mark.kind !== 'event')
  if (byStart.length < 2) return lanes
  byStart.sort((a, b) => a.mark.startAt - b.mark.startAt || a.at - b.at)
  const busy = createHeap<{ end: number; lane: number }>((a, b) => a.end - b.end)
  const free = createHeap<number>((a, b) => a - b)
  let count = 0
  for (const { mark, at } of byStart) {
    for (let next = busy.peek(); next && next.end <= mark.startAt; next = busy.peek()) {
      free.push(next.lane)
      busy.pop()
    }
    const lane = free.pop() ?? count++
    busy.push({ end: mark.endAt ?? Number.POSITIVE_INFINITY, lane })
    lanes[at] = lane
  }
  return lanes
}

function toItem(
  mark: Mark,
  originMs: number,
  lane: number,
  depth: number,
  parent: number | null,
): TimelineItem {
  // Field by field: a rest of an object costs ten times as much, and runs have 100,000 of them.
  return {
    kind: mark.kind,
    name: mark.name,
    eventId: mark.eventId,
    eventType: mark.eventType,
    causationId: mark.causationId,
    seq: mark.seq,
    endSeq: mark.endSeq,
    stepId: mark.stepId,
    attempt: mark.attempt,
    stepKind: mark.stepKind,
    status: mark.status,
    startMs: mark.startAt - originMs,
    endMs: mark.endAt === null ? null : mark.endAt - originMs,
    durationMs: mark.durationMs,
    lane,
    depth,
    parent,
    childRunId: mark.childRunId,
    error: mark.error,
    started: mark.started,
    erased: mark.erased,
  }
}
