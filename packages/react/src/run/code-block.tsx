import { createContext, type ReactElement, useContext, useEffect, useState } from 'react'
import { spellBidi } from '../theme/spell-bidi.ts'

/** A piece of a line of code, in its colour; null in that of the text around it. */
export interface CodeToken {
  readonly text: string
  readonly color: string | null
}

/** Lines of coloured code; null for a language that it does not know. */
export type Highlight = (code: string, language: string) => Promise<readonly (readonly CodeToken[])[] | null>

const HighlightContext = createContext<Highlight | null>(null)

/** Provides the app's highlighter to code blocks: `<HighlightProvider value={highlight}>`. */
export const HighlightProvider = HighlightContext.Provider

/** Longer code is left plain. */
const MAX_CODE_CHARS = 20_000

/** Code as it was written, at once; in colours when they are there. Its place and size stay the same. */
export function CodeBlock({
  code,
  language,
}: {
  readonly code: string
  readonly language: string
}): ReactElement {
  const highlight = useContext(HighlightContext)
  const [lines, setLines] = useState<readonly (readonly CodeToken[])[] | null>(null)
  useEffect(() => {
    let isLeft = false
    setLines(null)
    if (!highlight || code.length > MAX_CODE_CHARS) return undefined
    highlight(code, language).then(
      (found) => !isLeft && setLines(found),
      // Colours that cannot be had are no reason to show less.
      () => undefined,
    )
    return () => {
      isLeft = true
    }
  }, [highlight, code, language])
  if (!lines) return <code>{spellBidi(code)}</code>
  return (
    <code>
      {lines.map((tokens, line) => (
        <span key={line}>
          {tokens.map(({ text, color }, at) => (
            <span key={at} style={color === null ? undefined : { color }}>
              {spellBidi(text)}
            </span>
          ))}
          {'\n'}
        </span>
      ))}
    </code>
  )
}
