import type { StepStatus, Timeline, TimelineItem } from '@clew/ledger'
import { formatCount } from '../format-count.ts'
import type { Colours, Style } from './colour.ts'
import { statusMark } from './marks.ts'
import { cut, pad, printable, textWidth } from './text.ts'
import { formatDuration } from './time.ts'

/** More siblings of one name than this become one row. */
const ALIKE = 8
const DEEPEST = 12
const TOOK = 11

interface Row {
  readonly depth: number
  readonly items: readonly TimelineItem[]
}

export interface ChartOptions {
  readonly colour: Colours
  readonly width: number
  readonly rows: number
  readonly events: boolean
}

/** Bars over time, one row a step or call, equal siblings gathered when they are many. */
export function timelineChart(
  timeline: Timeline,
  { colour, width, rows: most, events }: ChartOptions,
): { lines: string[]; left: number } {
  const all = gatherRows(timeline.items, events || !timeline.items.some((item) => item.kind !== 'event'))
  const rows = all.slice(0, most)
  const names = rows.map(nameOf)
  const widest = rows.reduce(
    (wide, { depth }, at) => Math.max(wide, textWidth(names[at] ?? '') + Math.min(depth, DEEPEST) + 2),
    8,
  )
  const column = Math.min(widest, Math.max(16, Math.floor(width * 0.4)))
  const room = Math.max(8, width - column - TOOK - 4)
  const scale = createScale(timeline, room)
  const axis = `${' '.repeat(column + 2)}${pad(scale.from, room - 14)}${scale.to.padStart(14)}`
  return {
    lines: [
      colour.dim(axis),
      ...rows.map((row, at) => {
        const status = worst(row.items)
        const mark = status === null ? colour.dim('·') : statusMark(colour, status)
        const indent = ' '.repeat(Math.min(row.depth, DEEPEST))
        const own = column - indent.length - 2
        const name = pad(cut(names[at] ?? '', own), own)
        const bar = drawBar(row.items, scale, colour, status)
        return `${indent}${mark} ${name}  ${bar}  ${colour.dim(took(row.items))}`.trimEnd()
      }),
    ],
    left: all.length - rows.length,
  }
}

function nameOf({ items }: Row): string {
  const [item] = items as readonly [TimelineItem]
  const many = items.length > 1 ? ` ×${formatCount(items.length)}` : ''
  const attempt = items.length === 1 && (item.attempt ?? 1) > 1 ? ` (attempt ${item.attempt})` : ''
  const failed = items.length > 1 ? items.filter((each) => each.status === 'failed').length : 0
  return `${cut(printable(item.name), 40)}${many}${attempt}${failed > 0 ? `, ${failed} failed` : ''}`
}

/** Depth first without recursion; what lies inside gathered rows is not shown. */
function gatherRows(items: readonly TimelineItem[], events: boolean): Row[] {
  const children = Map.groupBy(items.keys(), (at) => items[at]?.parent ?? -1)
  const rows: Row[] = []
  const stack: (readonly number[])[] = []
  const push = (parent: number): void => {
    const groups = new Map<string, number[]>()
    const inOrder: number[][] = []
    const isShown = (at: number): boolean => {
      const item = items[at] as TimelineItem
      // A step made for one call has the name of its tool; one bar is enough.
      return item.kind === 'call' ? item.name !== items[parent]?.name : item.kind === 'step'
    }
    const shown = (children.get(parent) ?? []).filter((at) => events || isShown(at))
    const counts = new Map<string, number>()
    const keyOf = (at: number): string => `${items[at]?.kind} ${items[at]?.name}`
    for (const at of shown) counts.set(keyOf(at), (counts.get(keyOf(at)) ?? 0) + 1)
    for (const at of shown) {
      const key = keyOf(at)
      const group = (counts.get(key) ?? 0) > ALIKE ? groups.get(key) : undefined
      if (group) {
        group.push(at)
        continue
      }
      const fresh = [at]
      groups.set(key, fresh)
      inOrder.push(fresh)
    }
    for (const group of inOrder.toReversed()) stack.push(group)
  }
  push(-1)
  for (let group = stack.pop(); group; group = stack.pop()) {
    const [first = 0] = group
    rows.push({
      depth: items[first]?.depth ?? 0,
      items: group.map((at) => items[at]).filter((item) => item !== undefined),
    })
    if (group.length === 1) push(first)
  }
  return rows
}

const WORST: readonly StepStatus[] = ['failed', 'interrupted', 'paused', 'running', 'stopped', 'completed']
const STYLES: Readonly<Record<StepStatus, Style>> = {
  failed: 'red',
  interrupted: 'yellow',
  paused: 'yellow',
  running: 'cyan',
  stopped: 'yellow',
  completed: 'green',
}

const worst = (items: readonly TimelineItem[]): StepStatus | null =>
  WORST.find((status) => items.some((item) => item.status === status)) ?? null

interface Scale {
  readonly from: string
  readonly to: string
  readonly cells: number
  /** First and last cell of an item's bar. */
  place(item: TimelineItem): readonly [number, number]
}

/** Orders by time; a record without times, such as an imported chat, by seq. */
function createScale({ items, durationMs }: Timeline, cells: number): Scale {
  let [first, last, lastSeq] = [0, durationMs, 1]
  for (const { startMs, endMs, seq, endSeq } of items) {
    first = Math.min(first, startMs)
    last = Math.max(last, endMs ?? startMs)
    lastSeq = Math.max(lastSeq, endSeq ?? seq)
  }
  const bySeq = last - first < 1
  const [from, to] = bySeq ? [1, lastSeq] : [first, last]
  const cell = (at: number): number =>
    Math.min(cells - 1, Math.max(0, Math.floor(((at - from) / Math.max(1, to - from)) * cells)))
  const name = (at: number): string => (bySeq ? `seq ${formatCount(at)}` : formatDuration(at))
  return {
    from: name(from),
    to: name(to),
    cells,
    place({ startMs, endMs, seq, endSeq }) {
      const [begin, end] = bySeq ? [seq, endSeq ?? seq] : [startMs, endMs]
      return [cell(begin), end === null ? cells - 1 : cell(end)]
    },
  }
}

function drawBar(
  items: readonly TimelineItem[],
  scale: Scale,
  colour: Colours,
  status: StepStatus | null,
): string {
  const cells: string[] = Array.from({ length: scale.cells }, () => ' ')
  for (const item of items) {
    const [from, to] = scale.place(item)
    const { endMs } = item
    if (item.kind === 'event') {
      if (cells[from] === ' ') cells[from] = '·'
      continue
    }
    // A filled cell needs no second look, which keeps a hundred thousand bars cheap.
    for (let at = from; at <= to; at++) if (cells[at] !== '━') cells[at] = endMs === null ? '╌' : '━'
    if (endMs === null && cells[from] !== '━') cells[from] = '╾'
  }
  const text = cells.join('')
  return status === null ? colour.dim(text) : colour[STYLES[status]](text)
}

function took(items: readonly TimelineItem[]): string {
  const [item] = items
  if (items.length === 1 && item?.kind === 'event') return ''
  const longest = items.reduce((most, each) => Math.max(most, each.durationMs ?? 0), 0)
  if (items.length > 1) return `≤ ${formatDuration(longest)}`.padStart(TOOK)
  return (item?.durationMs === null ? (item.status ?? '') : formatDuration(longest)).padStart(TOOK)
}
