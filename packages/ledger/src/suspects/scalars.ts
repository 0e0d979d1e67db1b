import { isObject } from '../json.ts'

export type Scalar = string | number | boolean | null

const MAX_SCALARS = 400
const MAX_DEPTH = 24

/** Every scalar of a value with its path without indexes: `items[].price`. */
export function scalarsOf(value: unknown): { readonly path: string; readonly value: Scalar }[] {
  const found: { path: string; value: Scalar }[] = []
  const work: { readonly path: string; readonly value: unknown; readonly depth: number }[] = [
    { path: '', value: parsed(value), depth: 0 },
  ]
  for (let at = work.pop(); at && found.length < MAX_SCALARS; at = work.pop()) {
    const { path, depth } = at
    if (at.value === undefined) continue
    if (depth < MAX_DEPTH && Array.isArray(at.value))
      for (const each of at.value.slice(0, MAX_SCALARS).toReversed() as unknown[])
        work.push({ path: `${path}[]`, value: each, depth: depth + 1 })
    else if (depth < MAX_DEPTH && isObject(at.value))
      for (const [key, each] of Object.entries(at.value).toReversed())
        work.push({ path: path === '' ? key : `${path}.${key}`, value: each, depth: depth + 1 })
    else if (typeof at.value !== 'object' || at.value === null)
      found.push({ path, value: at.value as Scalar })
  }
  return found
}

/** Tools often give JSON as text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** Says something: found again elsewhere, it came from there. */
export const isTelling = (value: Scalar): boolean =>
  typeof value === 'number'
    ? Math.abs(value) >= 10 || !Number.isInteger(value)
    : typeof value === 'string' && value.length >= 4

const VOLATILE_VALUE =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)|[0-9a-f]{24,})$/i
const VOLATILE_PATH =
  /(?:^|[._])(?:\w*(?:request|trace|span|call|message|session|correlation)_?id|created(?:_?at)?|updated_?at|at|timestamp|time|date|took\w*|latency\w*|duration\w*|elapsed\w*|nonce|etag)$/i

/** Ids of requests, times and durations differ between any two runs. */
export const isVolatile = (path: string, value: unknown): boolean =>
  VOLATILE_PATH.test(path) || (typeof value === 'string' && VOLATILE_VALUE.test(value))

export const keysOf = (scalars: readonly { readonly path: string }[]): ReadonlySet<string> =>
  new Set(scalars.map(({ path }) => path.split('.').at(-1) ?? '').filter((key) => key !== ''))
