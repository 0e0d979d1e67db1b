import { type PointerEventHandler, useEffect, useRef } from 'react'

const LONG_MS = 450
/** A finger that moves this far is scrolling. */
const MOVED = 8

interface LongPress {
  readonly onPointerDown: PointerEventHandler
  readonly onPointerMove: PointerEventHandler
  readonly onPointerUp: PointerEventHandler
  readonly onPointerCancel: PointerEventHandler
}

/** A finger that rests; a mouse has its own ways. */
export function useLongPress(onLong: () => void): LongPress {
  const begun = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number } | null>(null)
  function end(): void {
    clearTimeout(begun.current?.timer)
    begun.current = null
  }
  useEffect(() => end, [])
  return {
    onPointerDown({ pointerType, clientX, clientY }) {
      end()
      if (pointerType !== 'mouse')
        begun.current = { timer: setTimeout(onLong, LONG_MS), x: clientX, y: clientY }
    },
    onPointerMove({ clientX, clientY }) {
      const from = begun.current
      if (from && Math.hypot(clientX - from.x, clientY - from.y) > MOVED) end()
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
}
