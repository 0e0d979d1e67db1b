import { type MouseEvent, type RefObject, type SyntheticEvent, useEffect, useRef } from 'react'

interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>
  readonly tabIndex: number
  onCancel(event: SyntheticEvent): void
  onClick(event: MouseEvent): void
}

/** Makes a `<dialog>` modal: it is open while mounted, and Esc or a click outside calls `onClose`. */
export function useModal(onClose: () => void): Modal {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const shown = ref.current
    shown?.showModal()
    // Without this the close button would get the focus.
    shown?.focus()
    return () => shown?.close()
  }, [])
  return {
    ref,
    tabIndex: -1,
    onCancel(event) {
      event.preventDefault()
      onClose()
    },
    onClick: (event) => {
      if (event.target === ref.current) onClose()
    },
  }
}
