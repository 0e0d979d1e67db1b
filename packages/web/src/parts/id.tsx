import { copyText, shortenId } from '@clew/react'
import { type ReactElement, useState } from 'react'

/** An id, short, whole in its title, copied by a click. */
export function Id({
  id,
  label,
  most,
}: {
  readonly id: string
  readonly label: string
  readonly most?: number
}): ReactElement {
  const [isCopied, setCopied] = useState(false)
  async function copy(): Promise<void> {
    await copyText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 1200)
  }
  return (
    <button type="button" className="id" title={`${id} (click to copy)`} onClick={() => void copy()}>
      <span className="clew-hidden">Copy {label}</span> {isCopied ? 'copied' : shortenId(id, most)}
    </button>
  )
}
