import { align, type Pair } from './align.ts'
import { type Change, differInWords, findChanges, shortText } from './changes.ts'
import { isTalk, type Item, type ItemKind } from './items.ts'
import { stepLabel } from '../event/step-id.ts'

/** In which way two runs part (D2). */
export type DivergenceKind = 'order' | 'name' | 'kind' | 'input' | 'output' | 'decision' | 'missing' | 'extra'

/** One thing that a run did, named so that it can be found: no payload (A1). */
export interface ItemReference {
  readonly index: number
  readonly seq: number
  readonly kind: ItemKind
  readonly name: string
  readonly stepId: string | null
  readonly label: string
}

/**
 * One line of the two runs side by side. `wording`: the same was said in other words; `attempts`: the same came of it, after
 * more attempts or fewer.
 */
export interface DiffRow {
  readonly mark: 'same' | 'attempts' | 'wording' | DivergenceKind
  readonly a: ItemReference | null
  readonly b: ItemReference | null
}

export interface Divergence {
  readonly kind: DivergenceKind
  /** Item of the first run here; for an extra item, its next one. */
  readonly expected: ItemReference | null
  /** Item of the second run here; for a missing item, its next one. */
  readonly received: ItemReference | null
  readonly changes: readonly Change[]
  /** The last thing that both did before. */
  readonly after: ItemReference | null
}

interface Row extends Pair {
  readonly mark: DiffRow['mark']
}

export interface Comparison {
  readonly rows: readonly DiffRow[]
  readonly first: Divergence | null
  /** The first place where words differ, when that is before the first divergence. */
  readonly wording: Divergence | null
  /** First items after the divergence that are the same again. */
  readonly again: { readonly a: ItemReference; readonly b: ItemReference } | null
  readonly counts: Readonly<
    Record<'same' | 'attempts' | 'wording' | 'changed' | 'missing' | 'extra' | 'moved', number>
  >
}

/** The same was done, and the same came of it. */
const isSame = ({ mark }: Row): boolean => mark === 'same' || mark === 'attempts'

export function compareItems(a: readonly Item[], b: readonly Item[]): Comparison {
  const rows = toRows(a, b, align(a, b))
  const actions = rows.findIndex((row) => !isSame(row) && row.mark !== 'wording' && !isTalkOnly(a, b, row))
  const talk = rows.findIndex((row) => !isSame(row))
  const first = actions >= 0 ? actions : talk
  const again = first < 0 ? -1 : rows.findIndex((row, at) => at > first && isSame(row))
  const counts = { same: 0, attempts: 0, wording: 0, changed: 0, missing: 0, extra: 0, moved: 0 }
  for (const { mark } of rows) counts[COUNTED[mark]]++
  const refer = (row: Row): DiffRow => ({
    mark: row.mark,
    a: reference(a, row.a),
    b: reference(b, row.b),
  })
  const match = again < 0 ? undefined : refer(rows[again] as Row)
  return {
    rows: rows.map(refer),
    first: first < 0 ? null : divergence(a, b, rows, first),
    wording: talk >= 0 && talk < first ? divergence(a, b, rows, talk) : null,
    again: match?.a && match.b ? { a: match.a, b: match.b } : null,
    // A thing that moved is missing in one place and extra in another: one thing.
    counts: { ...counts, moved: Math.ceil(counts.moved / 2) },
  }
}

const COUNTED = {
  same: 'same',
  attempts: 'attempts',
  wording: 'wording',
  input: 'changed',
  output: 'changed',
  decision: 'changed',
  name: 'changed',
  kind: 'changed',
  missing: 'missing',
  extra: 'extra',
  order: 'moved',
} as const

/** Messages that only one of the runs has count as talk, unless they are the only difference. */
function isTalkOnly(a: readonly Item[], b: readonly Item[], row: Row): boolean {
  return [a[row.a], b[row.b]].every((item) => item === undefined || isTalk(item))
}

function toRows(a: readonly Item[], b: readonly Item[], pairs: readonly Pair[]): Row[] {
  const loose = looseKeys(a, b, pairs)
  const rows: Row[] = []
  let i = 0
  let j = 0
  for (const pair of [...pairs, { a: a.length, b: b.length }]) {
    const x = a[i]
    const y = b[j]
    // If both runs continue with steps of their own, these count as replaced.
    if (i < pair.a && j < pair.b && x && y && !loose.has(x.keys.mid) && !loose.has(y.keys.mid)) {
      rows.push({ a: i++, b: j++, mark: x.kind === y.kind ? 'name' : 'kind' })
    }
    for (; i < pair.a; i++)
      rows.push({ a: i, b: -1, mark: loose.has(a[i]?.keys.mid ?? '') ? 'order' : 'missing' })
    for (; j < pair.b; j++)
      rows.push({ a: -1, b: j, mark: loose.has(b[j]?.keys.mid ?? '') ? 'order' : 'extra' })
    if (pair.a < a.length) rows.push({ ...pair, mark: markOf(a[i++] as Item, b[j++] as Item) })
  }
  return rows
}

/** Items that occur once on each side, unaligned: the same item moved. */
function looseKeys(a: readonly Item[], b: readonly Item[], pairs: readonly Pair[]): Set<string> {
  const loose = (items: readonly Item[], paired: ReadonlySet<number>): Set<string> => {
    const counts = new Map<string, number>()
    for (const { keys } of items) counts.set(keys.mid, (counts.get(keys.mid) ?? 0) + 1)
    const alone = items.filter(
      (item, at) => !paired.has(at) && !isTalk(item) && counts.get(item.keys.mid) === 1,
    )
    return new Set(alone.map((item) => item.keys.mid))
  }
  const ofA = loose(a, new Set(pairs.map((pair) => pair.a)))
  return ofA.intersection(loose(b, new Set(pairs.map((pair) => pair.b))))
}

function markOf(x: Item, y: Item): Row['mark'] {
  if (x.keys.strong === y.keys.strong) return x.attempts === y.attempts ? 'same' : 'attempts'
  const isMessage = x.prose === 'message'
  if (x.keys.mid !== y.keys.mid)
    return isMessage || (x.prose && differInWords(x.input, y.input)) ? 'wording' : 'input'
  if (findChanges(x.decision, y.decision, 1).length > 0) return 'decision'
  const isWording =
    isMessage || (x.prose === 'output' && x.status === y.status && saysAlike(x.output, y.output))
  return isWording ? 'wording' : 'output'
}

/** Other words, or none, where a model said something beside what it decided. */
function saysAlike(x: unknown, y: unknown): boolean {
  const isSilent = (said: unknown): boolean => said === null || said === ''
  if (isSilent(x) || isSilent(y)) return [x, y].every((said) => isSilent(said) || typeof said === 'string')
  return differInWords(x, y)
}

function divergence(a: readonly Item[], b: readonly Item[], rows: readonly Row[], at: number): Divergence {
  const { mark, a: i, b: j } = rows[at] as Row
  const x = a[i]
  const y = b[j]
  const before = rows.slice(0, at).findLast((row) => isSame(row) || row.mark === 'wording')
  const next = (side: 'a' | 'b'): number => rows.slice(at).find((row) => row[side] >= 0)?.[side] ?? -1
  const kind =
    mark === 'wording' || mark === 'same' || mark === 'attempts'
      ? x?.output == null
        ? 'input'
        : 'output'
      : mark
  return {
    kind,
    expected: reference(a, next('a')),
    received: reference(b, next('b')),
    changes: x && y ? changesOf(x, y, kind) : [],
    after: before ? reference(a, before.a) : null,
  }
}

function changesOf(x: Item, y: Item, kind: DivergenceKind): Change[] {
  switch (kind) {
    case 'input':
      return findChanges(x.input, y.input)
    case 'decision':
      return findChanges(x.decision, y.decision)
    case 'output':
      return x.status === y.status
        ? findChanges(x.output, y.output)
        : [{ path: 'status', expected: x.status, received: y.status }, ...findChanges(x.output, y.output, 3)]
    default:
      return []
  }
}

const reference = (items: readonly Item[], index: number): ItemReference | null => {
  const item = items[index]
  if (!item) return null
  const { seq, kind, name, stepId } = item
  return { index, seq, kind, name, stepId, label: labelOf(item) }
}

/** Short label of the item. */
function labelOf(item: Item): string {
  const { kind, name, stepId, attempts, input, output, decision } = item
  if (kind === 'step') {
    const which = `${stepId === null ? name : stepLabel(stepId, name)}${attempts > 1 ? ` (${attempts} attempts)` : ''}`
    if (isTalk(item)) return `${which}: ${String(output).slice(0, 160)}`
    const given = input === null ? '' : ` ${shortText(input, 100) ?? ''}`
    const decided = (Array.isArray(decision) ? decision : [decision])
      .filter((to) => typeof to === 'string')
      .join(', ')
    return `${which}${given}${decided === '' ? '' : ` → ${decided.slice(0, 100)}`}`
  }
  if (kind === 'tool') return `${name}(${shortText(input ?? {}, 100) ?? ''})`
  if (kind === 'handoff') return `hand-off to ${name}`
  const said = input ?? output
  return `${name}: ${typeof said === 'string' ? said.slice(0, 160) : (shortText(said, 120) ?? '')}`
}
