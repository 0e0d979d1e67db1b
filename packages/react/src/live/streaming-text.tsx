import type { ReactElement } from 'react'

const STREAMED = 4000

/** While it streams, its end is what is read; what goes at the top goes rarely, so that lines do not run. */
function endOf(text: string): string {
  const from = Math.max(0, Math.floor(text.length / STREAMED) - 1) * STREAMED
  return from === 0 ? text : `…${text.slice(from)}`
}

/** Text as it is written, with a cursor at its end. */
export const StreamingText = ({ text }: { readonly text: string }): ReactElement => (
  <div className="clew-streaming" dir="auto">
    {endOf(text)}
  </div>
)
