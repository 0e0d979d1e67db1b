import { ClewError, type ErrorCode } from '../errors.ts'

/** The suite's own assertions, so that it runs under any test runner. */

export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what)
}

/** Deep equality; the order of keys counts, for payloads keep theirs (E2). */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  const found = difference(actual, expected, '')
  if (found !== undefined) throw new Error(`${what}: ${found}`)
}

/** The call must be refused with this code; `fields` are facts that its error must carry. */
export async function assertRefused(
  call: () => unknown,
  code: ErrorCode,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ClewError> {
  let answer: unknown
  try {
    answer = await call()
  } catch (error) {
    assert(error instanceof ClewError, `expected a ClewError ${code}, got ${String(error)}`)
    assert(error.code === code, `expected ${code}, got ${error.code}: ${error.message}`)
    for (const [name, value] of Object.entries(fields))
      assertEqual(error.fields[name], value, `field ${name} of ${code}`)
    assert(
      error.message.length > 0 && error.hint.length > 0,
      'an error says what happened and what to do now',
    )
    return error
  }
  throw new Error(`expected a refusal with ${code}, but it was accepted: ${show(answer)}`)
}

function difference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined
  const differs = `${path || 'it'} is ${show(actual)}, expected ${show(expected)}`
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null)
    return differs
  if (kindOf(actual) !== kindOf(expected)) return differs
  if (actual instanceof Error && expected instanceof Error)
    return `${actual.name} ${actual.message}` === `${expected.name} ${expected.message}` ? undefined : differs
  const [here, there] = [partsOf(actual), partsOf(expected)]
  for (let i = 0; i < Math.max(here.length, there.length); i++) {
    const [key, value] = here[i] ?? []
    const [expectedKey, expectedValue] = there[i] ?? []
    if (key !== expectedKey)
      return `${path || 'it'} has ${key ?? 'nothing'} where ${expectedKey ?? 'nothing'} was expected`
    const found = difference(value, expectedValue, `${path}.${String(key)}`)
    if (found !== undefined) return found
  }
  return undefined
}

const kindOf = (value: object): string => {
  const kind = Object.prototype.toString.call(value)
  // A Buffer reads back as the plain bytes that it is.
  return value instanceof Uint8Array ? 'bytes' : kind
}

/** Keys and values of an object in their order. */
function partsOf(value: object): [string, unknown][] {
  if (value instanceof Date) return [['time', value.getTime()]]
  if (value instanceof RegExp) return [['text', String(value)]]
  if (kindOf(value) === '[object URL]') return [['href', Reflect.get(value, 'href')]]
  if (value instanceof Map) return [...value].map((entry, i) => [String(i), entry])
  if (value instanceof Set) return [...value].map((item, i) => [String(i), item])
  if (value instanceof Uint8Array) return [['bytes', value.join(',')]]
  return Object.entries(value)
}

function show(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 80 ? `a string of ${value.length}` : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const text =
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item)) ?? ''
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
