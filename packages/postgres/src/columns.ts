import { arrayOf } from './binary-array.ts'
import { type ColumnType, putArrayValue, putValue, type Scalar } from './message-bytes.ts'

/**
 * A column of rows that are sent along with a statement, and how a row gives it. One that is *plain* in most groups, the
 * same in all rows or counting on from row to row, is then sent as one value.
 */
export type Column<Row> = readonly [name: string, type: ColumnType, of: (row: Row) => Scalar, plain?: 'plain']

export const namesOf = <Row>(columns: readonly Column<Row>[]): string =>
  columns.map(([name]) => name).join(', ')

/**
 * How each column of some rows is sent: 0 by itself for every row, 1 once for all of them, 2 once, one more with each
 * row.
 */
type Order = 0 | 1 | 2
export interface Layout {
  readonly orders: readonly Order[]
  /** Short enough for the name of a statement. */
  readonly code: string
  /** How many columns are sent once. */
  readonly shared: number
}

const layouts = new Map<number, Layout>()

export function layoutOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Layout {
  let code = 1
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as Column<Row>
    code = code * 3 + (column[3] === undefined || rows.length < 2 ? 0 : orderOf(column, rows))
  }
  const known = layouts.get(code)
  if (known) return known
  const orders = Array.from(code.toString(3).slice(1), Number) as Order[]
  const shared = orders.filter((order) => order > 0).length
  const made = { orders, code: shared === 0 ? '' : `.${code.toString(36)}`, shared }
  layouts.set(code, made)
  return made
}

function orderOf<Row>([, type, of]: Column<Row>, rows: readonly Row[]): Order {
  const first = of(rows[0] as Row)
  const second = of(rows[1] as Row)
  const isNumber = type === 'bigint' || type === 'int'
  const step = second === first ? 0 : isNumber && first !== null && second === (first as number) + 1 ? 1 : -1
  if (step < 0) return 0
  for (let i = 2; i < rows.length; i++) {
    const value = of(rows[i] as Row)
    if (step === 0 ? value !== first : value !== (first as number) + i) return 0
  }
  return step === 0 ? 1 : 2
}

/**
 * The rows as an item of FROM, from parameter number `first` on. A few, whose number is given, are sent as single values,
 * which cost both sides half of what arrays do; many are sent as one array per column. Arrays are unfolded by the list of
 * SELECT, which costs a third of what a function in FROM does.
 */
export function rowsFrom<Row>(
  columns: readonly Column<Row>[],
  alias: string,
  first: number,
  few?: number,
  { orders } = layoutOf(columns, []),
): string {
  const typed = (number: number, type: string): string => `$${number}::${type}`
  if (few === undefined) {
    const counted = orders.indexOf(0)
    const nth = `generate_subscripts(${typed(first + counted, `${columns[counted]?.[1]}[]`)}, 1) - 1`
    const items = columns.map(([name, type], i) => {
      if (orders[i] === 0) return `unnest(${typed(first + i, `${type}[]`)}) AS ${name}`
      return `${typed(first + i, type)}${orders[i] === 2 ? ` + ${nth}` : ''} AS ${name}`
    })
    return `(SELECT ${items.join(', ')}) ${alias}`
  }
  let next = first
  const shared = orders.map((order) => (order === 0 ? 0 : next++))
  const rows = Array.from({ length: few }, (_, at) =>
    columns.map(([, type], i) => {
      if (orders[i] === 0) return typed(next++, type)
      return `${typed(shared[i] as number, type)}${orders[i] === 2 ? ` + ${at}` : ''}`
    }),
  )
  if (few === 1)
    return `(SELECT ${columns.map(([name], i) => `${rows[0]?.[i]} AS ${name}`).join(', ')}) ${alias}`
  return `(VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) ${alias} (${namesOf(columns)})`
}

/** How many parameters `rowsFrom` counts. */
export const parametersOf = <Row>(
  columns: readonly Column<Row>[],
  few: number | undefined,
  { shared }: Layout,
): number => (few === undefined ? columns.length : shared + (columns.length - shared) * few)

/** Writes the parameters of `rowsFrom` into a message. */
export function putRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  isFew: boolean,
  { orders, shared }: Layout,
): void {
  if (isFew) {
    if (shared > 0) putSome(columns, rows[0] as Row, orders, true)
    for (let n = 0; n < rows.length; n++) putSome(columns, rows[n] as Row, orders, false)
    return
  }
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as Column<Row>
    if (orders[i] === 0) putArrayValue(column[1], rows, column[2])
    else putValue(column[1], column[2](rows[0] as Row))
  }
}

/** The columns of a row that are sent once, or the others. By numbers: taking tuples apart is slow where each is new. */
function putSome<Row>(
  columns: readonly Column<Row>[],
  row: Row,
  orders: readonly Order[],
  areShared: boolean,
): void {
  for (let i = 0; i < columns.length; i++) {
    if ((orders[i] !== 0) !== areShared) continue
    const column = columns[i] as Column<Row>
    putValue(column[1], column[2](row))
  }
}

/** The parameters of `rowsFrom` for many rows, each column by itself. */
export const arraysOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Buffer[] =>
  columns.map(([, type, of]) => arrayOf(type, rows.map(of)))
