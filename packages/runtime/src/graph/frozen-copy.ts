import { ClewError } from '@clew/ledger'

const MAX_DEPTH = 512
/** Lists and objects that were made here: frozen all the way down, so neither copied nor walked again. */
const owned = new WeakSet<object>()

/**
 * The value as state holds it: a frozen copy, so that neither who wrote it nor who reads it can change it afterwards.
 * Costs what is new; parts that are owned already are taken as they are. Instances of classes stay as they
 * are: storing them is the codecs' business.
 */
export function frozenCopy<T>(value: T, where: string): T {
  return own(value, where, [], 0) as T
}

/** The same for a value that was made for the state, as merge rules do: frozen where it is, if all it holds is owned. */
export function freezeInPlace<T>(value: T, where: string): T {
  const isMade = (Array.isArray(value) || isPlain(value)) && Object.values(value).every(isHeld)
  return isMade ? freezeOwned(value) : frozenCopy(value, where)
}

function isHeld(value: unknown): boolean {
  const type = typeof value
  if (type === 'object') return value === null || owned.has(value as object)
  return type === 'string' || type === 'number' || type === 'boolean'
}

/** Freezes a list or object whose parts are owned already. */
export function freezeOwned<T extends object>(value: T): T {
  owned.add(Object.freeze(value))
  return value
}

function own(value: unknown, where: string, path: (string | number)[], depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    refuse(where, path, `is a ${typeof value}, which cannot be stored`)
  if (typeof value !== 'object' || value === null || owned.has(value)) return value
  if (depth > MAX_DEPTH) refuse(where, path, `lies deeper than ${MAX_DEPTH} levels, or refers to itself`)
  if (Array.isArray(value)) {
    const list: unknown[] = value
    return freezeOwned(list.map((item, i) => own(item, where, at(path, depth, i), depth + 1)))
  }
  if (!isPlain(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    // As in JSON, a property that is undefined is absent.
    if (item !== undefined) setOwn(copy, key, own(item, where, at(path, depth, key), depth + 1))
  }
  return freezeOwned(copy)
}

export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Assigns also the key `__proto__`, which plain assignment swallows. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

/** The same array all the way down: only a refusal needs the path. */
function at(path: (string | number)[], depth: number, part: string | number): (string | number)[] {
  path.length = depth
  path.push(part)
  return path
}

function refuse(where: string, path: readonly (string | number)[], what: string): never {
  const shown = path.length > 20 ? [...path.slice(0, 12), '…', ...path.slice(-4)] : path
  const place = shown.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
  throw new ClewError(
    'bad_value',
    `The value at ${where}${place} ${what}`,
    'Write plain data, or open the ledger with a codec for it.',
    { path: `${where}${place}` },
  )
}
