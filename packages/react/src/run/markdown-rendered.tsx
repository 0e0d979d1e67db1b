import type { ReactElement } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { spellBidi } from '../theme/spell-bidi.ts'
import { CodeBlock } from './code-block.tsx'

/** Fetches nothing that an agent wrote: pictures become links, and links show their address. */
const COMPONENTS: Components = {
  // Long lines are scrolled to, by keyboard too.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  code({ className, children }) {
    const language = /language-([\w+#-]+)/.exec(className ?? '')?.[1]
    if (language === undefined || typeof children !== 'string') return <code>{children}</code>
    return <CodeBlock code={children.replace(/\n$/, '')} language={language} />
  },
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow" title={href}>
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener nofollow">
      picture: {alt === undefined || alt === '' ? 'untitled' : alt}
    </a>
  ),
}

/** HTML inside Markdown is left out by the renderer, and addresses that run code are dropped. */
export function MarkdownRendered({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="clew-markdown" dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
        {spellBidi(text)}
      </ReactMarkdown>
    </div>
  )
}
