import { createHeap } from './heap.ts'
import type { Mark, TimelineItem } from './timeline.ts'

/** A tree out of marks: without recursion, since depth is data, and whatever their parents say. */
export function layOut(
  marks: readonly Mark[],
  owners: ReadonlyMap<string, Mark>,
  originMs: number,
): { items: TimelineItem[]; lanes: number } {
  const sorted = marks.toSorted((a, b) => a.seq - b.seq)
  const parents = findParents(sorted, owners)
  const children = new Map<Mark | null, Mark[]>()
  for (const mark of sorted) {
    const parent = parents.get(mark) ?? null
    const list = children.get(parent)
    if (list) list.push(mark)
    else children.set(parent, [mark])
  }
  const items: TimelineItem[] = []
  const placed = new Set<Mark>()
  let lanes = 0
  const place = (roots: readonly Mark[]): void => {
    const stack = [{ marks: roots, at: 0, depth: 0, parent: null as number | null, lanes: assignLanes(roots) }]
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const mark = top.marks[top.at]
      if (!mark) {
        stack.pop()
        continue
      }
      const lane = top.lanes[top.at++] ?? 0
      if (placed.has(mark)) continue
      placed.add(mark)
      lanes = Math.max(lanes, lane + 1)
      const index = items.push(toItem(mark, originMs, lane, top.depth, top.parent)) - 1
      const below = children.get(mark)
      if (below)
        stack.push({ marks: below, at: 0, depth: top.depth + 1, parent: index, lanes: assignLanes(below) })
    }
  }
  place(children.get(null) ?? [])
  // Steps that name each other as parents hang on no root: the first of each circle becomes one.
  if (placed.size < sorted.length) for (const mark of sorted) if (!placed.has(mark)) place([mark])
  return { items, lanes }
}

/** A step lies in the attempt of its parent that was the latest by then; an instant in its step, else where its cause lies. */
function findParents(sorted: readonly Mark[], owners: ReadonlyMap<string, Mark>): Map<Mark, Mark> {
  const first = new Map<string, Mark>()
  const exact = new Map<string, Mark>()
  for (const mark of sorted) {
    if (mark.kind !== 'step' || mark.stepId === null) continue
    if (!first.has(mark.stepId)) first.set(mark.stepId, mark)
    exact.set(`${mark.attempt} ${mark.stepId}`, mark)
  }
  const latest = new Map<string, Mark>()
  const parents = new Map<Mark, Mark>()
  for (const mark of sorted) {
    const parentId = mark.kind === 'step' ? mark.parentStepId : mark.stepId
    let parent: Mark | undefined
    if (parentId !== null) {
      const known = mark.kind === 'step' || mark.attempt === null ? undefined : exact.get(`${mark.attempt} ${parentId}`)
      parent = known ?? latest.get(parentId) ?? first.get(parentId)
    } else if (mark.kind !== 'step' && mark.causationId !== null) {
      const owner = owners.get(mark.causationId)
      const open = owner?.kind === 'step' && (owner.endSeq === null || owner.endSeq > mark.seq)
      if (open) parent = owner
    }
    if (parent && parent !== mark) parents.set(mark, parent)
    if (mark.kind === 'step' && mark.stepId !== null) latest.set(mark.stepId, mark)
  }
  return parents
}

/** The lowest lane that is free at its start, for each of these siblings. */
function assignLanes(marks: readonly Mark[]): number[] {
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
