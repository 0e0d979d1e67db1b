import { ChevronRight, Copy } from 'lucide-react'
import { type KeyboardEvent, memo, type ReactElement, useMemo, useState } from 'react'
import { CHILDREN_AT_ONCE, describeValue, type JsonRow, jsonRows, previewValue } from './json-rows.ts'
import { LongText } from './long-text.tsx'
import { spellBidi } from '../theme/spell-bidi.ts'
import { copyText } from './copy-text.ts'

interface JsonTreeProps {
  readonly value: unknown
  /** For readers of the screen: what it is. */
  readonly label: string
  /** Open at first; objects with a few keys are, others wait to be asked. */
  readonly open?: boolean | undefined
}

/** Values at most this many keys wide open by themselves. */
const MAX_OPEN_KEYS = 24

function firstOpen(value: unknown, open: boolean | undefined): Map<string, number> {
  const isSmall = typeof value === 'object' && value !== null && Object.keys(value).length <= MAX_OPEN_KEYS
  return new Map((open ?? isSmall) ? [['$', CHILDREN_AT_ONCE]] : [])
}

/** Any JSON value as rows that open one by one: never the whole of it, however deep or wide it is. */
export const JsonTree = memo(function JsonTree({ value, label, open: opened }: JsonTreeProps): ReactElement {
  const [open, setOpen] = useState<ReadonlyMap<string, number>>(() => firstOpen(value, opened))
  // A value that is open from the start gets no row to close it.
  const [isRootShown] = useState(!open.has('$'))
  const rows = useMemo(() => jsonRows(value, open).slice(isRootShown ? 0 : 1), [value, open, isRootShown])

  function toggle(row: JsonRow, to: boolean = row.kind === 'closed'): void {
    const next = new Map(open)
    if (row.kind === 'more') next.set(row.path, (next.get(row.path) ?? 0) + CHILDREN_AT_ONCE * 10)
    else if (to) next.set(row.path, CHILDREN_AT_ONCE)
    else next.delete(row.path)
    setOpen(next)
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>, row: JsonRow): void {
    if (event.key === 'ArrowRight' && row.kind === 'closed') toggle(row, true)
    else if (event.key === 'ArrowLeft' && row.kind === 'open') toggle(row, false)
    else return
    event.stopPropagation()
    event.preventDefault()
  }

  return (
    <div className="clew-json" role="group" aria-label={label}>
      <button
        type="button"
        className="clew-json-copy"
        title="Copy as JSON"
        aria-label={`Copy ${label} as JSON`}
        onClick={() => void copyText(asText(value))}
      >
        <Copy size={12} aria-hidden="true" />
      </button>
      {rows.map((row) => (
        <div
          key={row.kind === 'more' ? `${row.path} more` : row.path}
          className="clew-json-row"
          style={{ paddingInlineStart: `${Math.min(row.depth - (isRootShown ? 0 : 1), 24) * 14}px` }}
        >
          {row.kind === 'leaf' ? (
            <>
              <span className="clew-json-space" />
              <Key row={row} />
              <Leaf value={row.value} />
            </>
          ) : (
            <button
              type="button"
              className="clew-json-branch"
              aria-expanded={row.kind === 'more' ? undefined : row.kind === 'open'}
              onClick={() => toggle(row)}
              onKeyDown={(event) => onKeyDown(event, row)}
            >
              {row.kind === 'more' ? (
                `${row.left.toLocaleString('en')} more`
              ) : (
                <>
                  <ChevronRight size={12} aria-hidden="true" data-open={row.kind === 'open'} />
                  <Key row={row} />
                  <span className="clew-json-about">
                    {row.kind === 'open' ? describeValue(row.value) : previewValue(row.value, 160)}
                  </span>
                </>
              )}
            </button>
          )}
        </div>
      ))}
    </div>
  )
})

function Key({ row }: { readonly row: JsonRow }): ReactElement | null {
  if (row.label === null) return null
  return <span className="clew-json-key">{spellBidi(row.label.slice(0, 200))}</span>
}

function Leaf({ value }: { readonly value: unknown }): ReactElement {
  if (typeof value === 'string') return <LongText text={value} quoted />
  const kind = value === null ? 'null' : typeof value
  return (
    <span className="clew-json-leaf" data-kind={kind}>
      {typeof value === 'object' && value !== null ? (Array.isArray(value) ? '[]' : '{}') : String(value)}
    </span>
  )
}

/** Deeper than a stack, JSON cannot be written; then what can be seen of it is copied. */
function asText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? ''
  } catch {
    return previewValue(value, 100_000)
  }
}
