/** One column of rows that are sent as arrays: its name, its SQL type, and its value in a row. */
export type Column<Row> = readonly [name: string, type: string, value: (row: Row) => unknown]

export const columnNames = <Row>(columns: readonly Column<Row>[]): string =>
  columns.map(([name]) => name).join(', ')

/** The rows as an item of FROM, one array per column, from parameter number `first` on. */
export const unnest = <Row>(columns: readonly Column<Row>[], alias: string, first = 1): string =>
  `unnest(${columns.map(([, type], at) => `$${first + at}::${type}[]`).join(', ')}) ${alias} (${columnNames(columns)})`

/** The parameters of `unnest`. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map(([, , value]) => rows.map(value))

/** Hex as PostgreSQL reads bytes from text. */
export const bytesOf = (hex: string | null): string | null => (hex === null ? null : `\\x${hex}`)
