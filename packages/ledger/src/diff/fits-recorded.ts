import { isPlaceholder, splitAtPlaceholders, withoutKinds } from '../redact/placeholder.ts'

type Path = readonly (string | number)[]

export interface FitOptions {
  /** Paths at which any value fits. */
  readonly isVolatile?: ((path: Path) => boolean) | undefined
  /** A placeholder on both sides is the same only with the same fingerprint; default: it fits any text. */
  readonly bySecret?: boolean | undefined
  /** Path of the value itself; default empty. */
  readonly path?: Path | undefined
  /** Compares what is neither JSON nor text, such as dates; default: no two of them are the same. */
  readonly isSame?: ((recorded: unknown, received: unknown) => boolean) | undefined
}

/**
 * D2: whether a value can be the recorded one. A recorded placeholder fits any text in its place, so the rules in
 * force at recording need not be known. A property that is undefined counts as absent.
 */
export function fitsRecorded(recorded: unknown, received: unknown, options: FitOptions = {}): boolean {
  const { isVolatile, isSame = () => false, bySecret = false } = options
  const fitsText = (was: string, now: string): boolean =>
    bySecret && hasPlaceholder(now) ? withoutKinds(was) === withoutKinds(now) : fitsAround(was, now)
  /** Paths are made for those who ask for them only. */
  const below = (path: Path, key: string | number): Path => (isVolatile ? [...path, key] : path)

  function fits(was: unknown, now: unknown, path: Path): boolean {
    if (was === now || isVolatile?.(path)) return true
    if (typeof was === 'string')
      return typeof now === 'string' ? fitsText(was, now) : isPlaceholder(was) && isTold(now)
    if (typeof was !== 'object' || typeof now !== 'object') return Object.is(was ?? null, now ?? null)
    if (was === null || now === null) return false
    if (Array.isArray(was)) return Array.isArray(now) && fitsList(was, now, path)
    if (was instanceof Map && now instanceof Map) return fitsList([...was], [...now], path)
    if (was instanceof Set && now instanceof Set) return fitsList([...was], [...now], path)
    if (was instanceof URL && now instanceof URL) return fitsText(was.href, now.href)
    if (was instanceof Error && now instanceof Error)
      return was.name === now.name && fitsText(was.message, now.message)
    if (Array.isArray(now) || !isPlain(was) || !isPlain(now)) return isSame(was, now)
    return fitsObject(was, now, path)
  }

  function fitsList(was: readonly unknown[], now: readonly unknown[], path: Path): boolean {
    const isAsLong = was.length === now.length || isVolatile?.(below(path, Math.min(was.length, now.length)))
    return isAsLong === true && was.every((item, at) => fits(item, now[at], below(path, at)))
  }

  function fitsObject(
    was: Readonly<Record<string, unknown>>,
    now: Readonly<Record<string, unknown>>,
    path: Path,
  ): boolean {
    const [kept, gone] = [keysOf(was), keysOf(now)]
    const fitting = (key: string): boolean =>
      fits(
        Object.hasOwn(was, key) ? was[key] : undefined,
        Object.hasOwn(now, key) ? now[key] : undefined,
        below(path, key),
      )
    const open = kept.filter((key) => !Object.hasOwn(now, key) && hasPlaceholder(key))
    if (open.length === 0) return [...new Set([...kept, ...gone])].every(fitting)
    // Redaction takes secrets out of keys, too, and leaves their order.
    return (
      kept.length === gone.length &&
      kept.every(
        (key, at) =>
          fitsText(key, gone[at] as string) && fits(was[key], now[gone[at] as string], below(path, key)),
      )
    )
  }

  return fits(recorded, received, options.path ?? [])
}

const keysOf = (value: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(value).filter((key) => value[key] !== undefined)

/** Rules by key name take out numbers, too. */
const isTold = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean'

const hasPlaceholder = (text: string): boolean => splitAtPlaceholders(text).length > 1

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A text with placeholders in it fits whatever has the same text around them. */
function fitsAround(recorded: string, received: string): boolean {
  if (recorded === received || isPlaceholder(recorded)) return true
  const parts = splitAtPlaceholders(recorded)
  if (parts.length === 1) return false
  let at = 0
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? received.lastIndexOf(part) : received.indexOf(part, at)
    if (found < at || (index === 0 && found !== 0)) return false
    at = found + part.length
  }
  return at === received.length
}
