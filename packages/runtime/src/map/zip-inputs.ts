import { ClewError } from '@clew/ledger'

/** An item of a map: where the inputs have a list, the item has one of its values. */
export type Zipped<Inputs> = {
  -readonly [Name in keyof Inputs]: Inputs[Name] extends readonly (infer Value)[] ? Value : Inputs[Name]
}

export interface ZipOptions<Name> {
  /** The inputs to go through; other lists are given to each item whole. Default: every list. */
  readonly over?: readonly Name[] | undefined
}

/** Lists of equal length become items side by side; everything else is the same in each. */
export function zipInputs<const Inputs extends Readonly<Record<string, unknown>>>(
  inputs: Inputs,
  { over }: ZipOptions<keyof Inputs & string> = {},
): Zipped<Inputs>[] {
  const lists = new Map<string, readonly unknown[]>()
  for (const name of over ?? Object.keys(inputs)) {
    const value = inputs[name]
    if (Array.isArray(value)) lists.set(name, value)
    else if (over)
      throw wrongInput(`The input ${name} is no list, so a map cannot go over it`, { input: name })
  }
  const [first, ...others] = lists
  if (!first) throw wrongInput('None of the inputs is a list, so there is nothing to map over', {})
  const [name, { length }] = first
  for (const [other, list] of others)
    if (list.length !== length)
      throw wrongInput(
        `The input ${name} has ${length} values and ${other} has ${list.length}; they cannot be zipped`,
        { input: name, length, other, otherLength: list.length },
      )
  return Array.from(
    { length },
    (_, at) =>
      Object.fromEntries(
        Object.entries(inputs).map(([key, value]) => [key, lists.has(key) ? lists.get(key)?.[at] : value]),
      ) as Zipped<Inputs>,
  )
}

const wrongInput = (message: string, fields: Record<string, string | number>): ClewError =>
  new ClewError(
    'bad_option',
    message,
    'Give lists of equal length; name them in `over` when another list belongs to each item as it is.',
    fields,
  )
