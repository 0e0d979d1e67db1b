import type { ReactElement, ReactNode } from 'react'

export interface NumberRow {
  readonly key: string
  readonly name: ReactNode
  /** One for each column. */
  readonly numbers: readonly ReactNode[]
  /** Length of its bar, from 0 to 1; null for none. */
  readonly share: number | null
  readonly isTotal?: boolean | undefined
}

interface NumberTableProps {
  readonly label: string
  readonly first: string
  readonly columns: readonly string[]
  readonly rows: readonly NumberRow[]
}

/** A name and its numbers in each row, and a bar that sets the rows beside each other. */
export function NumberTable({ label, first, columns, rows }: NumberTableProps): ReactElement {
  return (
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          <th>{first}</th>
          {columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
          <th className="table-wide">
            <span className="clew-hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, numbers, share, isTotal = false }) => (
          <tr key={key} data-total={isTotal}>
            <th scope="row">{name}</th>
            {columns.map((column, at) => (
              <td key={column}>{numbers[at]}</td>
            ))}
            <td className="table-wide">
              {share !== null && <span className="share" style={{ width: `${share * 100}%` }} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
