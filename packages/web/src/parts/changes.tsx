import type { Change } from '@clew/ledger'
import type { ReactElement } from 'react'

/** List of differences between two values, each with the value before and after. */
export function Changes({ changes }: { readonly changes: readonly Change[] }): ReactElement {
  if (changes.length === 0) return <p className="tab-empty">Nothing changed.</p>
  return (
    <ul className="changes">
      {changes.map(({ path, expected, received }) => (
        <li key={path}>
          <span className="clew-mono change-path">{path === '' ? 'all of it' : path}</span>
          {expected !== null && (
            <del>
              <span aria-hidden="true">− </span>
              {expected}
            </del>
          )}
          {received !== null && (
            <ins>
              <span aria-hidden="true">+ </span>
              {received}
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}
