import { ClewError, nearMisses } from '@clew/ledger'

/** Names that TypeScript knows for an options type, each with `true`, so that none can be forgotten. */
type Names<Options> = { readonly [Name in keyof Required<Options>]: true }

/**
 * Makes the check of one kind of options: an unknown name is a typing error that would otherwise do nothing at all, such as
 * `retries` for `retry`. `internal` are names that only Clew itself passes.
 */
export function createOptionCheck<Options>(
  names: Names<Options>,
  internal: readonly string[] = [],
): (options: object | undefined, what: string) => void {
  const known = Object.keys(names)
  const allowed = new Set([...known, ...internal])
  return (options, what) => {
    for (const name in options) if (!allowed.has(name)) throw unknownOption(name, known, what)
  }
}

function unknownOption(name: string, known: readonly string[], what: string): ClewError {
  const shown = name.slice(0, 80)
  const start = shown.slice(0, 4)
  const [near = known.find((each) => start.length === 4 && each.startsWith(start))] = nearMisses(shown, known)
  return new ClewError(
    'bad_option',
    `${what} has an option "${shown}", which there is not`,
    near === undefined ? `Its options are: ${known.join(', ')}.` : `Did you mean "${near}"?`,
    { option: shown },
  )
}
