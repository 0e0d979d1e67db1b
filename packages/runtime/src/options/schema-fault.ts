export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

/** The part of JSON Schema that forms are made of; what it does not know it lets pass. */
export function schemaFault(
  schema: Record<string, unknown>,
  value: unknown,
  path: string,
): string | undefined {
  const { type, enum: choices, required, properties, items, minimum, maximum, minLength, maxLength } = schema
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? (type as string[]) : []
  if (types.length > 0 && !types.some((each) => TYPES[each]?.(value) ?? true))
    return `${path} is not ${types.join(' or ')}`
  if (Array.isArray(choices) && !choices.some((each) => JSON.stringify(each) === JSON.stringify(value)))
    return `${path} is none of ${choices.map((each) => JSON.stringify(each)).join(', ')}`
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return `${path} is below ${minimum}`
    if (typeof maximum === 'number' && value > maximum) return `${path} is above ${maximum}`
  }
  if (typeof value === 'string') {
    if (typeof minLength === 'number' && value.length < minLength)
      return `${path} is shorter than ${minLength}`
    if (typeof maxLength === 'number' && value.length > maxLength)
      return `${path} is longer than ${maxLength}`
  }
  if (Array.isArray(value) && isObject(items))
    return first(value.map((item, index) => schemaFault(items, item, `${path}[${index}]`)))
  if (!isObject(value)) return undefined
  for (const name of Array.isArray(required) ? (required as string[]) : [])
    if (!Object.hasOwn(value, name)) return `${path}.${name} is missing`
  if (!isObject(properties)) return undefined
  return first(
    Object.entries(properties).map(([name, part]) =>
      isObject(part) && Object.hasOwn(value, name)
        ? schemaFault(part, value[name], `${path}.${name}`)
        : undefined,
    ),
  )
}

const first = (faults: readonly (string | undefined)[]): string | undefined =>
  faults.find((fault) => fault !== undefined)
