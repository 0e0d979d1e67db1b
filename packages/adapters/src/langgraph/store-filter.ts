import { isDeepStrictEqual } from 'node:util'
import { ClewError } from '@clew/ledger'

type Test = (value: unknown, wanted: unknown) => boolean

/** Numbers as the framework compares them; texts of which one is no number go by their letters, where it says no. */
const ordered =
  (holds: (difference: number) => boolean): Test =>
  (value, wanted) => {
    const [a, b] = [Number(value), Number(wanted)]
    if (typeof value === 'string' && typeof wanted === 'string' && (Number.isNaN(a) || Number.isNaN(b)))
      return holds(value < wanted ? -1 : value > wanted ? 1 : 0)
    return holds(a === b ? 0 : a - b)
  }

const isSame: Test = (value, wanted) => value === wanted || isDeepStrictEqual(value, wanted)

const isAmong: Test = (value, wanted) => Array.isArray(wanted) && wanted.some((each) => isSame(value, each))

const TESTS: Readonly<Record<string, Test>> = {
  $eq: isSame,
  $ne: (value, wanted) => !isSame(value, wanted),
  $gt: ordered((difference) => difference > 0),
  $gte: ordered((difference) => difference >= 0),
  $lt: ordered((difference) => difference < 0),
  $lte: ordered((difference) => difference <= 0),
  $in: isAmong,
  $nin: (value, wanted) => !isAmong(value, wanted),
  $exists: (value, wanted) => (value !== undefined) === (wanted !== false),
}

export type Filter = (value: Readonly<Record<string, unknown>>) => boolean

/** Made once per search: an operator that does not exist is an error, not a search that finds nothing. */
export function createFilter(filter: Readonly<Record<string, unknown>> | undefined): Filter {
  const tests = Object.entries(filter ?? {}).map(([field, wanted]) => {
    const test = fieldTest(field, wanted)
    return (value: Readonly<Record<string, unknown>>): boolean =>
      test(Object.hasOwn(value, field) ? value[field] : undefined)
  })
  return (value) => tests.every((test) => test(value))
}

function fieldTest(field: string, wanted: unknown): (value: unknown) => boolean {
  const operators = isPlain(wanted) ? Object.keys(wanted).filter((key) => key.startsWith('$')) : []
  if (operators.length === 0)
    // An empty object stands for no condition, as in the framework.
    return isPlain(wanted) && Object.keys(wanted).length === 0 ? () => true : (value) => isSame(value, wanted)
  const given = wanted as Readonly<Record<string, unknown>>
  const tests = Object.keys(given).map((operator) => {
    const test = Object.hasOwn(TESTS, operator) ? TESTS[operator] : undefined
    if (!test)
      throw new ClewError(
        'bad_option',
        `The filter on the field ${field.slice(0, 60)} has the operator ${operator.slice(0, 30)}, which does not exist`,
        `Use ${Object.keys(TESTS).join(', ')}, or a value to be equal to.`,
        { field: field.slice(0, 60), operator: operator.slice(0, 30) },
      )
    return { test, wanted: given[operator] }
  })
  return (value) => tests.every(({ test, wanted: each }) => test(value, each))
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
