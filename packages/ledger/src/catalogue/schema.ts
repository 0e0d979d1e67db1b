/**
 * Just enough of a schema language for payloads: checks a value, names the field that does not fit, and prints
 * itself as JSON Schema. Written here because a general one took longer to load than all the rest of the library.
 */
export interface Schema<T> {
  /** Undefined when the value fits; else where it does not, and what was expected there. */
  check(value: unknown): Fault | undefined
  readonly json: JsonSchema
  readonly optional: boolean
  /** Only for the compiler: what fits. */
  readonly type?: T
}

export interface Fault {
  readonly path: readonly (string | number)[]
  readonly expected: string
}

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never

type Shape = Readonly<Record<string, Schema<unknown>>>
type OptionalKeys<S extends Shape> = { [K in keyof S]: undefined extends TypeOf<S[K]> ? K : never }[keyof S]
type ObjectOf<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: TypeOf<S[K]> } & {
  [K in OptionalKeys<S>]?: TypeOf<S[K]>
} & { [key: string]: unknown }

function schema<T>(expected: string, json: JsonSchema, fits: (value: unknown) => boolean): Schema<T> {
  const fault: Fault = { path: [], expected }
  return { json, optional: false, check: (value) => (fits(value) ? undefined : fault) }
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const text = schema<string>('a string', { type: 'string' }, (value) => typeof value === 'string')
export const flag = schema<boolean>(
  'true or false',
  { type: 'boolean' },
  (value) => typeof value === 'boolean',
)
export const anything: Schema<unknown> = { check: () => undefined, json: {}, optional: true }

export const integer = (minimum: number): Schema<number> =>
  schema(
    `a whole number from ${minimum} on`,
    { type: 'integer', minimum },
    (value) => isInteger(value) && value >= minimum,
  )

export const number = schema<number>(
  'a finite number',
  { type: 'number' },
  (value) => typeof value === 'number' && Number.isFinite(value),
)
export const nothing = schema<null>('null', { type: 'null' }, (value) => value === null)

export const amount = schema<number>(
  'a number from 0 on',
  { type: 'number', minimum: 0 },
  (value) => typeof value === 'number' && value >= 0,
)

export const oneOf = <const T extends string>(...values: T[]): Schema<T> =>
  schema(
    values.length === 1 ? `"${values[0]}"` : `one of ${values.join(', ')}`,
    values.length === 1 ? { const: values[0] } : { enum: values },
    (value) => (values as unknown[]).includes(value),
  )

/** May be absent. */
export const maybe = <T>(inner: Schema<T>): Schema<T | undefined> => ({
  json: inner.json,
  optional: true,
  check: (value) => (value === undefined ? undefined : inner.check(value)),
})

/** May be absent or null. */
export const maybeNull = <T>(inner: Schema<T>): Schema<T | null | undefined> => ({
  json: { anyOf: [inner.json, { type: 'null' }] },
  optional: true,
  check: (value) => (value === undefined || value === null ? undefined : inner.check(value)),
})

export const either = <A, B>(a: Schema<A>, b: Schema<B>): Schema<A | B> => ({
  json: { anyOf: [a.json, b.json] },
  optional: false,
  check: (value) =>
    a.check(value) && b.check(value)
      ? { path: [], expected: `${expectedOf(a)} or ${expectedOf(b)}` }
      : undefined,
})

/** Expectation that a schema reports for a value that fits nothing. */
const expectedOf = (inner: Schema<unknown>): string => inner.check(Symbol.iterator)?.expected ?? 'anything'

const below = (key: string | number, fault: Fault | undefined): Fault | undefined =>
  fault && { path: [key, ...fault.path], expected: fault.expected }

export const listOf = <T>(item: Schema<T>): Schema<readonly T[]> => ({
  json: { type: 'array', items: item.json },
  optional: false,
  check(value) {
    if (!Array.isArray(value)) return { path: [], expected: 'an array' }
    for (let i = 0; i < value.length; i++) {
      const fault = item.check(value[i])
      if (fault) return below(i, fault)
    }
    return undefined
  },
})

export const pairOf = <A, B>(first: Schema<A>, second: Schema<B>): Schema<[A, B]> => ({
  json: { type: 'array', prefixItems: [first.json, second.json], minItems: 2, maxItems: 2 },
  optional: false,
  check(value) {
    if (!Array.isArray(value) || value.length !== 2) return { path: [], expected: 'an array of two' }
    return below(0, first.check(value[0])) ?? below(1, second.check(value[1]))
  },
})

export const mapOf = <T>(item: Schema<T>): Schema<Readonly<Record<string, T>>> => ({
  json: { type: 'object', additionalProperties: item.json },
  optional: false,
  check(value) {
    if (!isRecord(value)) return { path: [], expected: 'an object' }
    for (const key in value) {
      const fault = item.check(value[key])
      if (fault) return below(key, fault)
    }
    return undefined
  },
})

/** Known fields must fit; further fields are kept as they came. */
export function open<S extends Shape>(shape: S): Schema<ObjectOf<S>> {
  const fields = new Map(Object.entries(shape))
  const required = [...fields].filter(([, field]) => !field.optional).map(([key]) => key)
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries([...fields].map(([key, field]) => [key, field.json])),
      ...(required.length > 0 && { required }),
      additionalProperties: {},
    },
    optional: false,
    check(value) {
      if (!isRecord(value)) return { path: [], expected: 'an object' }
      for (const key of required)
        if (!Object.hasOwn(value, key)) return below(key, fields.get(key)?.check(undefined))
      // Iterates over the keys that are present: a payload has few of all the keys it may have.
      for (const key in value) {
        const field = fields.get(key)
        const fault = field && field.check(value[key])
        if (fault) return below(key, fault)
      }
      return undefined
    },
  }
}

/** Objects distinguished by the value of one field. */
export function variants<K extends string, M extends Readonly<Record<string, Schema<unknown>>>>(
  key: K,
  cases: M,
): Schema<{ [N in keyof M]: TypeOf<M[N]> & { [P in K]: N } }[keyof M]> {
  return {
    json: { type: 'object', oneOf: Object.values(cases).map((each) => each.json) },
    optional: false,
    check(value) {
      const name = isRecord(value) ? value[key] : undefined
      if (typeof name === 'string' && Object.hasOwn(cases, name)) return cases[name]?.check(value)
      return { path: [key], expected: `one of ${Object.keys(cases).join(', ')}` }
    },
  }
}

/**
 * The same schema for a value that must also satisfy `fits`; the rule is described in words, since JSON Schema is
 * made from `json`.
 */
export function refined<T>(
  inner: Schema<T>,
  expected: string,
  fits: (value: T) => boolean,
  json: JsonSchema,
): Schema<T> {
  return {
    json: { ...inner.json, ...json },
    optional: inner.optional,
    check: (value) => inner.check(value) ?? (fits(value as T) ? undefined : { path: [], expected }),
  }
}
