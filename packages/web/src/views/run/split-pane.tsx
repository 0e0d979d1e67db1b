import { type KeyboardEvent, type PointerEvent, type ReactElement, type ReactNode, useState } from 'react'

const KEY = 'clew.side'
const MIN_PANE_PX = 280
const clamp = (width: number): number =>
  Math.min(Math.max(width, MIN_PANE_PX), Math.max(MIN_PANE_PX, innerWidth * 0.6))

function keptWidth(): number {
  const kept = Number(localStorage.getItem(KEY))
  return clamp(kept > 0 ? kept : 400)
}

interface SplitPaneProps {
  readonly isOpen: boolean
  readonly side: ReactNode
  readonly children: ReactNode
}

/** Left the story, right the thing under the cursor; how wide that is, is remembered. */
export function SplitPane({ isOpen, side, children }: SplitPaneProps): ReactElement {
  const [width, setWidth] = useState(keptWidth)

  function keep(next: number): void {
    setWidth(clamp(next))
    localStorage.setItem(KEY, String(Math.round(clamp(next))))
  }
  function onPointerMove(event: PointerEvent): void {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) keep(innerWidth - event.clientX)
  }
  function onKeyDown(event: KeyboardEvent): void {
    const by = event.key === 'ArrowLeft' ? 24 : event.key === 'ArrowRight' ? -24 : 0
    if (by === 0) return
    event.preventDefault()
    event.stopPropagation()
    keep(width + by)
  }
  return (
    <div className="split" data-open={isOpen}>
      <div className="split-main">{children}</div>
      {isOpen && (
        <>
          <div
            className="split-bar"
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the side panel"
            aria-valuenow={Math.round(width)}
            aria-valuemin={MIN_PANE_PX}
            aria-valuemax={Math.round(clamp(Number.POSITIVE_INFINITY))}
            tabIndex={0}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={onPointerMove}
            onKeyDown={onKeyDown}
          />
          <aside className="split-side" style={{ width }} aria-label="Selection">
            {side}
          </aside>
        </>
      )}
    </div>
  )
}
