import { booleans, hexes, int4s, int8s, texts } from './binary-array.ts'

/** What a column holds; bytes are given as hex. */
type ColumnType = 'bigint' | 'int' | 'boolean' | 'text' | 'bytea'
type Scalar = number | string | boolean | null

/** A column of rows that are sent along with a statement, and how a row gives it. */
export type Column<Row> = readonly [name: string, type: ColumnType, of: (row: Row) => Scalar]

export const namesOf = <Row>(columns: readonly Column<Row>[]): string =>
  columns.map(([name]) => name).join(', ')

/**
 * The rows as an item of FROM, from parameter number `first` on. A few, whose number is given, are sent as single values,
 * which cost both sides half of what arrays do; many are sent as one array per column.
 */
export function rowsFrom<Row>(
  columns: readonly Column<Row>[],
  alias: string,
  first: number,
  few?: number,
): string {
  if (few === 1)
    return `(SELECT ${columns.map(([name, type], i) => `$${first + i}::${type} AS ${name}`).join(', ')}) ${alias}`
  if (few !== undefined) {
    const row = (at: number): string =>
      `(${columns.map(([, type], i) => `$${first + at * columns.length + i}::${type}`).join(', ')})`
    return `(VALUES ${Array.from({ length: few }, (_, at) => row(at)).join(', ')}) ${alias} (${namesOf(columns)})`
  }
  const arrays = columns.map(([, type], i) => `$${first + i}::${type}[]`)
  return `unnest(${arrays.join(', ')}) ${alias} (${namesOf(columns)})`
}

/** The parameters of `rowsFrom`. */
export function valuesOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  areFew: boolean,
): unknown[] {
  if (areFew)
    return rows.flatMap((row) =>
      columns.map(([, type, of]) => {
        const value = of(row)
        return type === 'bytea' && value !== null ? Buffer.from(value as string, 'hex') : value
      }),
    )
  return columns.map(([, type, of]) => encode(type, rows.map(of)))
}

function encode(type: ColumnType, values: readonly Scalar[]): Buffer {
  switch (type) {
    case 'bigint':
      return int8s(values as (number | null)[])
    case 'int':
      return int4s(values as (number | null)[])
    case 'boolean':
      return booleans(values as (boolean | null)[])
    case 'text':
      return texts(values as (string | null)[])
    default:
      return hexes(values as (string | null)[])
  }
}
