import { useModal } from '@clew/react'
import { X } from 'lucide-react'
import { type ReactElement, type ReactNode, useId } from 'react'

interface SheetProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** `side`: beside the view, which stays in sight; `middle`: in front of it. */
  readonly place?: 'side' | 'middle'
  readonly isWide?: boolean
}

/** Modal dialog. The browser keeps the focus in it, and Esc closes it. */
export function Sheet({
  title,
  onClose,
  children,
  place = 'side',
  isWide = false,
}: SheetProps): ReactElement {
  const modal = useModal(onClose)
  const titleId = useId()
  return (
    <dialog {...modal} className="sheet" data-place={place} data-wide={isWide} aria-labelledby={titleId}>
      <div className="sheet-inside">
        <header className="sheet-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
            <X size={16} aria-hidden="true" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
