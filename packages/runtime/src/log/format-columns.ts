import { cut, pad, printable, textWidth } from './printable-text.ts'

export interface TextColumn<Row> {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** No cell is wider than this. */
  readonly most?: number
  readonly cell: (row: Row) => string
}

const GAP = '  '

/** Lines of an aligned table, its head first. Cells are made printable and cut; columns that say nothing are left out. */
export function formatColumns<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): string[] {
  const filled = columns
    .map(({ title, align, most = 40, cell }) => {
      const cells = rows.map((row) => cut(printable(cell(row)), most))
      const width = cells.reduce((widest, text) => Math.max(widest, textWidth(text)), textWidth(title))
      return { title, align, cells, width }
    })
    .filter(({ cells }) => cells.some((text) => text !== ''))
  const line = (textOf: (column: (typeof filled)[number]) => string): string =>
    filled
      .map((column) => pad(textOf(column), column.width, column.align))
      .join(GAP)
      .trimEnd()
  return [line(({ title }) => title), ...rows.map((_, at) => line(({ cells }) => cells[at] ?? ''))]
}
