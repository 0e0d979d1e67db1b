import { spellBidi } from '../theme/spell-bidi.ts'

/** Short description of a value: how many items or keys it has, or its type. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? '1 item' : `${value.length.toLocaleString('en')} items`
  if (typeof value === 'object' && value !== null) {
    const count = Object.keys(value).length
    return count === 1 ? '1 key' : `${count.toLocaleString('en')} keys`
  }
  return typeof value
}

export interface JsonRow {
  /** Keys from the root on, as text; what remembers that it is open. */
  readonly path: string
  readonly label: string | null
  readonly value: unknown
  readonly depth: number
  readonly kind: 'leaf' | 'open' | 'closed' | 'more'
  /** For `more`: how many are not shown yet. */
  readonly left: number
}

/** Children that are shown before the user asks for the rest. */
export const CHILDREN_AT_ONCE = 100

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null
const isEmpty = (value: object): boolean =>
  (Array.isArray(value) ? value.length : Object.keys(value).length) === 0

/**
 * The rows of a value of which only some parts are open. A loop, not a recursion, and no step into what is closed: so
 * neither a value 10,000 deep nor one with a million keys takes more than what is seen of it.
 */
export function jsonRows(root: unknown, open: ReadonlyMap<string, number>): JsonRow[] {
  const rows: JsonRow[] = []
  type Work =
    | JsonRow
    | {
        readonly path: string
        readonly label: string | null
        readonly value: unknown
        readonly depth: number
      }
  const work: Work[] = [{ path: '$', label: null, value: root, depth: 0 }]
  for (let at = work.pop(); at; at = work.pop()) {
    if ('kind' in at) {
      rows.push(at)
      continue
    }
    const { path, value, depth } = at
    if (!isBranch(value) || isEmpty(value)) {
      rows.push({ ...at, kind: 'leaf', left: 0 })
      continue
    }
    const shown = open.get(path)
    rows.push({ ...at, kind: shown === undefined ? 'closed' : 'open', left: 0 })
    if (shown === undefined) continue
    const isList = Array.isArray(value)
    const keys = isList ? undefined : Object.keys(value)
    const count = keys?.length ?? (value as readonly unknown[]).length
    const most = Math.min(count, shown)
    if (most < count)
      work.push({ path, label: null, value: null, depth: depth + 1, kind: 'more', left: count - most })
    for (let index = most - 1; index >= 0; index--) {
      const label = keys?.[index] ?? String(index)
      work.push({
        path: `${path}/${label.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        label,
        value: Reflect.get(value, label) as unknown,
        depth: depth + 1,
      })
    }
  }
  return rows
}

/** A value in one line, cut off early without visiting all of it. */
export function previewValue(value: unknown, most = 80): string {
  let text = ''
  const work: { readonly value?: unknown; readonly text?: string }[] = [{ value }]
  for (let at = work.pop(); at && text.length <= most; at = work.pop()) {
    if (at.text !== undefined) text += at.text
    else if (typeof at.value === 'string') text += JSON.stringify(at.value.slice(0, most))
    else if (!isBranch(at.value)) text += String(at.value)
    else {
      const isList = Array.isArray(at.value)
      text += isList ? '[' : '{ '
      const entries = firstEntries(at.value, 12)
      work.push({ text: isList ? ']' : ' }' })
      for (const [index, [key, each]] of entries.toReversed().entries()) {
        work.push({ value: each })
        if (!isList) work.push({ text: `${key}: ` })
        if (index < entries.length - 1) work.push({ text: ', ' })
      }
    }
  }
  return spellBidi(text.length > most ? `${text.slice(0, most)}…` : text)
}

function firstEntries(value: object, most: number): [string, unknown][] {
  if (Array.isArray(value)) return value.slice(0, most).map((each, index) => [String(index), each as unknown])
  return Object.keys(value)
    .slice(0, most)
    .map((key) => [key, Reflect.get(value, key) as unknown])
}
