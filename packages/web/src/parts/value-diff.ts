/** A place where two values differ; undefined on the side that lacks it. */
export interface ValueDiff {
  readonly path: string
  readonly a: unknown
  readonly b: unknown
}

const MAX_PLACES = 100
/** Comparison stops at this depth: hostile data may be deeper than the call stack. */
const MAX_DEPTH = 100

/** The places where two values differ, in order, whole. JSON inside of strings is compared as JSON. */
export function diffValues(a: unknown, b: unknown): ValueDiff[] {
  const found: ValueDiff[] = []
  const visit = (x: unknown, y: unknown, path: readonly (string | number)[]): void => {
    if (found.length >= MAX_PLACES || Object.is(x, y)) return
    const [left, right] = [parsed(x), parsed(y)]
    if (
      path.length >= MAX_DEPTH ||
      !isBranch(left) ||
      !isBranch(right) ||
      Array.isArray(left) !== Array.isArray(right)
    ) {
      if (JSON.stringify(left) !== JSON.stringify(right)) found.push({ path: nameOf(path), a: x, b: y })
      return
    }
    const keys = new Set([...Object.keys(left), ...Object.keys(right)])
    for (const key of keys)
      visit(Reflect.get(left, key), Reflect.get(right, key), [
        ...path,
        Array.isArray(left) ? Number(key) : key,
      ])
  }
  visit(a, b, [])
  return found
}

/** `input.messages[2].content` */
const nameOf = (path: readonly (string | number)[]): string =>
  path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
