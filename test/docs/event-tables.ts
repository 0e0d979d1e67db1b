/** Tables of event types in a page: of each type, the fields that its row names, with `*` where one must be there. */
export function readEventTables(page: string): ReadonlyMap<string, readonly string[]> {
  const types = new Map<string, readonly string[]>()
  for (const line of page.split('\n')) {
    if (!/^\| `(?:execution|system|ui|integration)\./.test(line)) continue
    const [names = '', ...cells] = line.slice(2).split(' | ')
    const fields = cells.flatMap((cell) =>
      [...cell.matchAll(/(?:^| · )`(\w+)`(\*?) (?!\|)/g)].map(([, field, mark]) => `${field}${mark}`),
    )
    for (const [, type = ''] of names.matchAll(/`([\w.]+)`/g)) types.set(type, fields.toSorted())
  }
  return types
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly ObjectSchema[]
}

/** The fields of a payload by its schema, in the same form; of several shapes, one must be there if all of them need it. */
export function fieldsOf({ properties = {}, required = [], oneOf = [] }: ObjectSchema): readonly string[] {
  const shapes = oneOf.length > 0 ? oneOf : [{ properties, required }]
  const names = new Set(shapes.flatMap((shape) => Object.keys(shape.properties ?? {})))
  const isNeeded = (name: string): boolean => shapes.every((shape) => shape.required?.includes(name))
  return [...names].map((name) => (isNeeded(name) ? `${name}*` : name)).toSorted()
}
