import { lazy, type ReactElement, Suspense } from 'react'
import { LongText } from '../json/long-text.tsx'
import type { MarkdownRendered } from './markdown-rendered.tsx'

let loaded: typeof MarkdownRendered | undefined

/** Fetches the renderer before it is needed, where text is sure to come: then nothing moves when it has arrived. */
export async function preloadMarkdown(): Promise<{ default: typeof MarkdownRendered }> {
  const { MarkdownRendered: rendered } = await import('./markdown-rendered.tsx')
  loaded = rendered
  return { default: rendered }
}

const Arriving = lazy(preloadMarkdown)

/** Longer than this, text is shown as it is: rendering it would take longer than reading its beginning. */
const MAX_MARKDOWN_CHARS = 40_000
const HAS_FORM = /[*_`#[\]|~>]|^\s*[-+\d]|\n\n|https?:\/\//m

/** Text that may be Markdown. What is plain is shown at once; what has form, when the renderer has arrived. */
export function Markdown({ text }: { readonly text: string }): ReactElement {
  const plain = <LongText text={text} />
  if (text.length > MAX_MARKDOWN_CHARS || !HAS_FORM.test(text)) return plain
  const Rendered = loaded ?? Arriving
  return (
    <Suspense fallback={plain}>
      <Rendered text={text} />
    </Suspense>
  )
}
