import { ClewError, compilePath, isPlaceholder, type JsonValue, type Ledger } from '@clew/ledger'

/**
 * What may differ without being a divergence: paths that begin with `input` or `output`, as `input.requestId` or
 * `output.items[*].at` (`*` is one step, `**` any number of them). A list counts for all steps and for the run itself; by
 * name, for the steps of that name (`*` for all of them).
 */
export type Volatile = readonly string[] | Readonly<Record<string, readonly string[]>>

type Path = readonly (string | number)[]
type IsVolatile = (path: Path) => boolean

/** Compares what the record has with what the code gives now. */
export interface Comparison {
  /** `alike`: they differ in nothing but what was declared volatile. */
  compare(recorded: unknown, received: unknown, where: Where): 'same' | 'alike' | 'different'
  /** As it may be shown: without what today's rules take out (P3). */
  shown(value: unknown): unknown
}

export interface Where {
  readonly part: 'input' | 'output'
  /** Null for the run itself. */
  readonly step: string | null
}

export function createComparison(ledger: Ledger, volatile: Volatile = []): Comparison {
  const rules = compile(volatile)

  function shown(value: unknown): unknown {
    if (value === undefined || value === null) return value
    try {
      return ledger.redactor.value(value as JsonValue).value
    } catch {
      // It has no text: it could not be stored either.
      return `a ${typeof value} that cannot be stored`
    }
  }

  function compare(
    recorded: unknown,
    received: unknown,
    { part, step }: Where,
  ): ReturnType<Comparison['compare']> {
    if (isEqual(recorded, received)) return 'same'
    if (digestOf(ledger, recorded) === digestOf(ledger, received)) return 'same'
    // Both sides: the vault may have given the recorded one its secrets back.
    const [was, now] = [shown(recorded), shown(received)]
    if (fits(was, now, [part], NEVER)) return 'same'
    return fits(was, now, [part], rules(step)) ? 'alike' : 'different'
  }

  return { compare, shown }
}

const NEVER: IsVolatile = () => false

/** Two values that cannot be stored are different, too. */
function digestOf(ledger: Ledger, value: unknown): string | symbol {
  try {
    return ledger.digest(value ?? null)
  } catch {
    return Symbol('no digest')
  }
}

function compile(volatile: Volatile): (step: string | null) => IsVolatile {
  const byName = isList(volatile) ? { '*': volatile } : volatile
  const paths = new Map(
    Object.entries(byName).map(([name, texts]) => [name, texts.map((text) => compileOne(text))]),
  )
  const all = paths.get('*') ?? []
  if (paths.size === 0) return () => NEVER
  return (step) => {
    const own = step === null || step === '*' ? [] : (paths.get(step) ?? [])
    return (path) => all.some((fitsPath) => fitsPath(path)) || own.some((fitsPath) => fitsPath(path))
  }
}

const isList = (volatile: Volatile): volatile is readonly string[] => Array.isArray(volatile)

function compileOne(text: string): IsVolatile {
  if (/^(?:input|output)(?:$|[.[])/.test(text)) return compilePath(`$.${text}`)
  throw new ClewError(
    'bad_option',
    `The volatile path ${JSON.stringify(text.slice(0, 80))} does not begin with input or output`,
    'Write it like input.requestId or output.items[*].at.',
  )
}

/** Equal as JSON: a property that is undefined is not there. The quick way, for what is plain data. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object') return (a ?? null) === (b ?? null)
  if (a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let at = 0; at < a.length; at++) if (!isEqual(a[at], b[at])) return false
    return true
  }
  if (!isPlain(a) || !isPlain(b)) return false
  let left = 0
  for (const key in a) {
    const own = a[key]
    if (own === undefined) continue
    left++
    if (!Object.hasOwn(b, key) || !isEqual(own, b[key])) return false
  }
  for (const key in b) if (b[key] !== undefined) left--
  return left === 0
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** D2: a recorded placeholder fits any text in its place; what is volatile fits anything. */
function fits(recorded: unknown, received: unknown, path: Path, isVolatile: IsVolatile): boolean {
  if (isVolatile(path)) return true
  if (typeof recorded === 'string') return typeof received === 'string' && fitsText(recorded, received)
  if (Array.isArray(recorded))
    return (
      Array.isArray(received) &&
      lengthsFit(recorded, received, path, isVolatile) &&
      recorded.every((item, at) => fits(item, received[at], [...path, at], isVolatile))
    )
  if (typeof recorded !== 'object' || recorded === null || typeof received !== 'object' || received === null)
    return isEqual(recorded, received)
  if (Array.isArray(received) || !isPlain(recorded) || !isPlain(received)) return isEqual(recorded, received)
  const keys = new Set([...Object.keys(recorded), ...Object.keys(received)])
  return [...keys].every((key) => fits(recorded[key], received[key], [...path, key], isVolatile))
}

const lengthsFit = (a: readonly unknown[], b: readonly unknown[], path: Path, isVolatile: IsVolatile) =>
  a.length === b.length || isVolatile([...path, Math.min(a.length, b.length)])

const PLACEHOLDER = /\[redacted:[a-z0-9-]+:[^\]\s]*\]/

/** A text with placeholders in it fits whatever has the same text around them. */
function fitsText(recorded: string, received: string): boolean {
  if (recorded === received || isPlaceholder(recorded)) return true
  const parts = recorded.split(PLACEHOLDER)
  if (parts.length === 1) return false
  let at = 0
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? received.lastIndexOf(part) : received.indexOf(part, at)
    if (found < at || (index === 0 && found !== 0)) return false
    at = found + part.length
  }
  return at === received.length
}
