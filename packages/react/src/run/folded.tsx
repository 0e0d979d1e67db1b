import { type ReactElement, useState } from 'react'
import { describeValue, previewValue } from '../json/json-rows.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { Markdown } from './markdown.tsx'
import { textOf } from './transcript-items.ts'

/** Thoughts are shortened until the user opens them. */
export function Reasoning({ content }: { readonly content: unknown }): ReactElement {
  const text = textOf(content)
  const [isOpen, setOpen] = useState(false)
  if (text === null) return <JsonTree value={content} label="reasoning" />
  const isLong = text.length > 280
  return (
    <div className="clew-reasoning" data-folded={isLong && !isOpen}>
      <Markdown text={isLong && !isOpen ? `${text.slice(0, 260)}…` : text} />
      {isLong && (
        <button type="button" className="clew-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'less' : 'more'}
        </button>
      )}
    </div>
  )
}

export interface FoldedProps {
  readonly label: string
  readonly value: unknown
  readonly lead?: string | undefined
  /** Summary of the value; without it the keys are shown. */
  readonly words?: string | null | undefined
  readonly open?: boolean | undefined
}

/** A value in one line, with its size, that opens into a tree. */
export function Folded({ label, value, lead, words = null, open = false }: FoldedProps): ReactElement {
  const [isOpen, setOpen] = useState(open)
  const isBranch = typeof value === 'object' && value !== null
  if (!isBranch) {
    return (
      <span className="clew-row-facts">
        {lead !== undefined && <span>{lead}</span>}
        {value === null || value === undefined ? null : typeof value === 'string' ? (
          <Markdown text={value} />
        ) : (
          <span className="clew-mono">{JSON.stringify(value)}</span>
        )}
      </span>
    )
  }
  const preview = previewValue(value, 110)
  return (
    <div className="clew-folded">
      <button
        type="button"
        className="clew-folded-line"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {lead !== undefined && <span className="clew-folded-lead">{lead}</span>}
        <span className="clew-folded-label">{label}</span>
        {isOpen || (
          <span className={words === null ? 'clew-folded-preview' : 'clew-folded-words'} dir="auto">
            {words ?? preview}
          </span>
        )}
        {(preview.endsWith('…') || words !== null) && (
          <span className="clew-folded-size">{describeValue(value)}</span>
        )}
      </button>
      {isOpen && <JsonTree value={value} label={label} open />}
    </div>
  )
}
