import {
  type Change,
  ClewError,
  compilePath,
  findChanges,
  fitsRecorded,
  type JsonValue,
  type Ledger,
} from '@clew/ledger'

import type { CallSpec } from '../machine/step.ts'

/**
 * Paths that may differ without being a divergence: paths that begin with `input` or `output`, as `input.requestId` or
 * `output.items[*].at` (`*` is one step, `**` any number of them). A list counts for all steps and for the run itself; by
 * name, for the steps of that name (`*` for all of them).
 */
export type Volatile = readonly string[] | Readonly<Record<string, readonly string[]>>

type IsVolatile = (path: readonly (string | number)[]) => boolean

/** Compares what the record has with what the code gives now. */
export interface Comparison {
  /** `alike`: they differ in nothing but what was declared volatile. */
  compare(recorded: unknown, received: unknown, where: Where): 'same' | 'alike' | 'different'
  /** Differences between two values, redacted for display and without volatile paths. */
  changes(expected: unknown, received: unknown, where: Where): Change[]
  /** As it may be shown: without what today's rules take out, and without restored secrets (P3). */
  shown(value: unknown): unknown
}

export interface Where {
  readonly part: 'input' | 'output'
  /** Null for the run itself. */
  readonly step: string | null
}

export function createComparison(ledger: Ledger, volatile: Volatile = []): Comparison {
  const rules = compile(volatile)

  const shown = (value: unknown): unknown => ledger.conceal(redacted(value))

  function redacted(value: unknown): unknown {
    if (value === undefined || value === null) return value
    try {
      return ledger.redactor.value(value as JsonValue).value
    } catch {
      // A value without canonical text could not be stored either.
      return `a ${typeof value} that cannot be stored`
    }
  }

  function compare(
    recorded: unknown,
    received: unknown,
    { part, step }: Where,
  ): ReturnType<Comparison['compare']> {
    const isSame = (a: unknown, b: unknown): boolean => digestOf(ledger, a) === digestOf(ledger, b)
    if (fitsRecorded(recorded, received, { isSame }) || isSame(recorded, received)) return 'same'
    // Rules may take out more by now, and functions of the user's leave no placeholder.
    const sides = [redacted(recorded), redacted(received)] as const
    if (fitsRecorded(...sides, { isSame })) return 'same'
    const how = { isSame, isVolatile: rules(step), path: [part] }
    return fitsRecorded(recorded, received, how) || fitsRecorded(...sides, how) ? 'alike' : 'different'
  }

  return {
    compare,
    changes(expected, received, { part, step }) {
      const isVolatile = rules(step)
      return findChanges(expected, received, undefined, (path) => isVolatile([part, ...path]))
    },
    shown,
  }
}

/** Whether a call is made with the input that its start has on record, or the record has elsewhere. */
export function isSameCall(
  comparison: Comparison,
  {
    name,
    input,
    recordedInput,
    isSameInput,
  }: Pick<CallSpec, 'name' | 'input' | 'recordedInput' | 'isSameInput'>,
  inStart: unknown,
): ReturnType<Comparison['compare']> {
  const recorded = inStart === undefined ? recordedInput?.() : inStart
  if (recorded === undefined) return 'different'
  if (isSameInput) return isSameInput(recorded) ? 'same' : 'different'
  return comparison.compare(recorded, input ?? null, { part: 'input', step: name })
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
