import { copyText } from '@clew/react'
import { Copy } from 'lucide-react'
import type { ReactElement } from 'react'

/** The same on the command line. */
export function Command({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="command">
      <code>
        <span aria-hidden="true">$ </span>
        {text}
      </code>
      <button
        type="button"
        className="icon-button"
        aria-label="Copy command"
        title="Copy command"
        onClick={() => void copyText(text)}
      >
        <Copy size={13} aria-hidden="true" />
      </button>
    </div>
  )
}

/** A word for a shell: quoted when it has to be. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
