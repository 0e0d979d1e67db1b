import { type RefObject, useLayoutEffect, useState } from 'react'

export interface ScrollView {
  readonly top: number
  readonly height: number
}

/** Visible range of a scrolling element; `isThere` says whether the element is mounted. */
export function useScrollView(scroll: RefObject<HTMLElement | null>, isThere = true): ScrollView {
  const [view, setView] = useState<ScrollView>({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const box = scroll.current
    if (!isThere || !box) return undefined
    const look = (): void =>
      setView((last) => {
        const { scrollTop: top, clientHeight: height } = box
        return last.top === top && last.height === height ? last : { top, height }
      })
    look()
    const seen = new ResizeObserver(look)
    seen.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      seen.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [scroll, isThere])
  return view
}
