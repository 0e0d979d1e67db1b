import { type RefObject, useEffect, useRef } from 'react'

const NEAR_END = 80

/**
 * Keeps the end of what scrolls in view while it grows; who has scrolled up is left there. What grows is the first
 * child of the element.
 */
export function useEndInView(enabled = true): RefObject<HTMLDivElement | null> {
  const scroller = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const shown = scroller.current
    if (!enabled || !shown) return undefined
    let isAtEnd = true
    const onScroll = (): void => {
      isAtEnd = shown.scrollHeight - shown.scrollTop - shown.clientHeight < NEAR_END
    }
    const grown = new ResizeObserver(() => {
      if (isAtEnd) shown.scrollTop = shown.scrollHeight
    })
    for (const each of [shown, shown.firstElementChild]) if (each) grown.observe(each)
    shown.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      shown.removeEventListener('scroll', onScroll)
    }
  }, [enabled])
  return scroller
}
