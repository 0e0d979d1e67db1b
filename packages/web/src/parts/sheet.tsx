import { X } from 'lucide-react'
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react'

interface SheetProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** `side`: beside the view, which stays in sight; `middle`: in front of it. */
  readonly place?: 'side' | 'middle'
  readonly isWide?: boolean
}

/** What asks or tells something before the page goes on. The browser keeps the focus in it and Esc closes it. */
export function Sheet({
  title,
  onClose,
  children,
  place = 'side',
  isWide = false,
}: SheetProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    // The first thing that would get the focus is the way out: nobody opened it for that.
    shown?.focus()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className="sheet"
      tabIndex={-1}
      data-place={place}
      data-wide={isWide}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
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
