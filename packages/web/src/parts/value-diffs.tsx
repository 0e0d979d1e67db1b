import { JsonTree } from '@clew/react'
import type { ReactElement } from 'react'
import { diffValues, type ValueDiff } from './value-diff.ts'
import { diffWords } from './word-diff.ts'

/** The places where two values differ, each with both values: words in a text, trees that open elsewhere. */
export function ValueDiffs({ a, b }: { readonly a: unknown; readonly b: unknown }): ReactElement {
  const places = diffValues(a, b)
  if (places.length === 0) return <p className="row-diff quiet">The recorded values are the same.</p>
  return (
    <dl className="row-diff">
      {places.map((place) => (
        <div key={place.path}>
          <dt className="clew-mono">{place.path === '' ? 'all of it' : place.path}</dt>
          <dd>
            <Difference {...place} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Difference({ a, b }: ValueDiff): ReactElement {
  if (typeof a === 'string' && typeof b === 'string')
    return (
      <p className="word-diff" dir="auto">
        {diffWords(a, b).map(({ kind, text }, at) => {
          // The parts of two texts that never change are their places.
          // oxlint-disable-next-line react/no-array-index-key
          return kind === 'same' ? (
            <span key={at}>{text}</span>
          ) : kind === 'gone' ? (
            <del key={at}>{text}</del>
          ) : (
            <ins key={at}>{text}</ins>
          )
        })}
      </p>
    )
  return (
    <>
      {a !== undefined && (
        <del>
          <Value value={a} />
        </del>
      )}
      {b !== undefined && (
        <ins>
          <Value value={b} />
        </ins>
      )}
    </>
  )
}

const Value = ({ value }: { readonly value: unknown }): ReactElement =>
  typeof value === 'object' && value !== null ? (
    <JsonTree value={value} label="value" />
  ) : (
    <span className="clew-mono">{typeof value === 'string' ? value : JSON.stringify(value)}</span>
  )
