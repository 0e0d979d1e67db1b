import { type ReactElement, type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'

const PLACE = 'top-bar'

/** Slot in the top bar for the current view's title and breadcrumb. */
export const TopBarSlot = (): ReactElement => <div className="top-place" id={PLACE} />

export function TopBar({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}): ReactNode {
  const [place, setPlace] = useState<HTMLElement | null>(null)
  useEffect(() => {
    setPlace(document.getElementById(PLACE))
    document.title = `${title} · Clew`
  }, [title])
  return place ? createPortal(children, place) : null
}
