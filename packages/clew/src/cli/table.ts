import { cut, pad, textWidth } from './text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Gives way when the terminal is too narrow; its cells carry no colours. */
  readonly flexible?: boolean
}

const GAP = '  '

/** Lines of an aligned table, its head first; no line is wider than the terminal if a flexible column can help it. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(textWidth(title), ...rows.map((row) => textWidth(row[at] ?? ''))),
  )
  const total = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1)
  const flexible = columns.findIndex((column) => column.flexible === true)
  if (total > width && flexible >= 0) {
    const before = widths[flexible] ?? 0
    const least = Math.min(before, 8)
    widths[flexible] = Math.max(least, before - (total - width))
  }
  const format = (cells: readonly string[]): string =>
    columns
      .map(({ align, flexible: bends }, at) => {
        const cell = bends ? cut(cells[at] ?? '', widths[at] ?? 0) : (cells[at] ?? '')
        return pad(cell, widths[at] ?? 0, align)
      })
      .join(GAP)
      .trimEnd()
  return [format(columns.map((column) => column.title)), ...rows.map(format)]
}
