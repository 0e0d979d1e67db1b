import { isPlaceholder } from '@clew/ledger'
import { type ReactElement, useState } from 'react'
import { formatBytes } from '../theme/format.ts'
import { spellBidi } from '../theme/spell-bidi.ts'

const FIRST = 600
const STEP = 50_000

interface LongTextProps {
  readonly text: string
  /** As a value in JSON, with its quotes. */
  readonly quoted?: boolean
}

/** Text of any length: its beginning, and more on request. */
export function LongText({ text, quoted = false }: LongTextProps): ReactElement {
  const [shown, setShown] = useState(FIRST)
  if (isPlaceholder(text)) return <Redacted text={text} />
  const isCut = text.length > shown
  const part = isCut ? text.slice(0, shown) : text
  const quote = quoted ? '"' : ''
  return (
    <span className="clew-text" data-kind={quoted ? 'string' : undefined} dir="auto">
      {quote}
      {spellBidi(part)}
      {isCut ? '…' : quote}
      {isCut && (
        <button type="button" className="clew-more" onClick={() => setShown(shown + STEP)}>
          show {formatBytes(Math.min(STEP, text.length - shown))} more of {formatBytes(text.length)}
        </button>
      )}
    </span>
  )
}

/** Placeholder of a redacted secret: only its kind is known. */
function Redacted({ text }: { readonly text: string }): ReactElement {
  const kind = text.split(':')[1] ?? 'secret'
  return (
    <span className="clew-chip clew-redacted" title={text}>
      redacted: {kind.replaceAll('-', ' ')}
    </span>
  )
}
