import { ClewError } from '@clew/ledger'

export type ValueType = 'null' | 'boolean' | 'number' | 'text' | 'list' | 'object' | 'nothing'

export function typeOf(value: unknown): ValueType {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean'
  return Array.isArray(value) ? 'list' : 'object'
}

const PART = /\.([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y

/** The value at a path as errors, comparisons and redaction rules write it: `$.messages[3].content`. */
export function atPath(value: unknown, given: string): { readonly at: unknown; readonly path: string } {
  const text = given.startsWith('$') ? given : given.startsWith('[') ? `$${given}` : `$.${given}`
  let at = value
  let end = 1
  while (end < text.length) {
    PART.lastIndex = end
    const found = PART.exec(text)
    if (!found) throw bad(text.slice(0, end), 'is followed by something that is no part of a path')
    const [, name, index, quoted] = found
    const key = name ?? index ?? keyOf(quoted ?? '')
    if (key === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      throw bad(text.slice(0, PART.lastIndex), 'is not there', at)
    at = Reflect.get(at, key)
    end = PART.lastIndex
  }
  return { at, path: text }
}

function keyOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

function bad(path: string, what: string, at?: unknown): ClewError {
  const keys =
    typeof at === 'object' && at !== null && !Array.isArray(at) ? Object.keys(at).slice(0, 10).join(', ') : ''
  const hint =
    keys === '' ? 'Leave out the path to see what the value consists of.' : `There are ${keys.slice(0, 300)}.`
  return new ClewError('not_found', `The path ${path.slice(0, 200)} ${what}`, hint, {
    option: 'path',
    path: path.slice(0, 200),
  })
}
