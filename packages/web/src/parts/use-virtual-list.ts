import { type RefCallback, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { createRowHeights, type RowHeights } from './row-heights.ts'
import { useScrollView } from './use-scroll-view.ts'

interface VirtualListOptions {
  readonly count: number
  readonly scroll: RefObject<HTMLElement | null>
  readonly keyOf: (row: number) => string
  /** How high a row will be, until it was seen. */
  readonly guess: (row: number) => number
  readonly paddingTop: number
  readonly paddingBottom: number
}

export interface VirtualList {
  /** The rows in view and some around them. */
  readonly rows: readonly { readonly row: number; readonly top: number }[]
  readonly height: number
  readonly isScrolling: boolean
  /** For the element of each row, which says by `data-row` which one it is. */
  readonly measured: RefCallback<HTMLElement>
  /** Brings a row into view, and keeps it there while rows on the way get their heights. */
  show(row: number): void
}

const AROUND = 12
/** Distance in pixels within which the list counts as scrolled to its end and stays there when rows change height. */
const NEAR_END = 4
const toEnd = (box: HTMLElement): number => box.scrollHeight - box.scrollTop - box.clientHeight
const STILL_MS = 150
/** Rows get their heights when they are drawn: so many frames until those around one have theirs. */
const FRAMES = 6

/**
 * A list of very many rows of unlike heights, of which those in view are drawn. What a row turns out to measure moves
 * nothing that is looked at, and costs the same in a list of 100,000 rows.
 */
export function useVirtualList(options: VirtualListOptions): VirtualList {
  const { count, scroll, keyOf, guess, paddingTop, paddingBottom } = options
  const known = useRef(new Map<string, number>())
  // A new list keeps the heights of the rows that it shares with the one before.
  const heights = useMemo(
    () =>
      createRowHeights(
        count,
        known.current.size === 0 ? guess : (row) => known.current.get(keyOf(row)) ?? guess(row),
      ),
    [count, keyOf, guess],
  )
  const latest = useRef({ heights, keyOf })
  latest.current = { heights, keyOf }
  const view = useScrollView(scroll)
  const [, setVersion] = useState(0)
  const [isScrolling, setScrolling] = useState(false)
  useEffect(() => {
    const box = scroll.current
    let still: ReturnType<typeof setTimeout> | undefined
    const onScroll = (): void => {
      setScrolling(true)
      clearTimeout(still)
      still = setTimeout(() => setScrolling(false), STILL_MS)
    }
    box?.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(still)
      box?.removeEventListener('scroll', onScroll)
    }
  }, [scroll])

  const [observer] = useState(
    () =>
      new ResizeObserver((entries) => {
        let moved = 0
        let isChanged = false
        const box = scroll.current
        for (const { target, borderBoxSize } of entries) {
          const row = Number((target as HTMLElement).dataset['row'])
          const height = borderBoxSize[0]?.blockSize ?? 0
          if (!target.isConnected || height === 0) continue
          const { heights: now, keyOf: keyNow } = latest.current
          if (Math.abs(now.heightOf(row) - height) < 0.5) continue
          const isAbove = box !== null && paddingTop + now.offsetOf(row) < box.scrollTop
          const change = now.measure(row, height)
          known.current.set(keyNow(row), height)
          isChanged = true
          if (isAbove) moved += change
        }
        if (!isChanged) return
        // Before the frame is drawn: what is looked at must not jump and come back.
        const isAtEnd = box !== null && box.scrollTop > 0 && toEnd(box) < NEAR_END
        flushSync(() => setVersion((last) => last + 1))
        if (box && isAtEnd) box.scrollTop = box.scrollHeight
        else if (box && moved !== 0) box.scrollTop += moved
      }),
  )
  useEffect(() => () => observer.disconnect(), [observer])
  const measured = useCallback<RefCallback<HTMLElement>>(
    (element) => {
      if (!element) return undefined
      observer.observe(element)
      return () => observer.unobserve(element)
    },
    [observer],
  )

  const [show] = useState(() => (row: number): void => {
    let frames = FRAMES
    let target = scroll.current?.scrollTop
    const place = (): void => {
      const box = scroll.current
      // The user has scrolled since: do not move the list.
      if (!box || (target !== undefined && Math.abs(box.scrollTop - target) > 1)) return
      const { heights: now } = latest.current
      const top = paddingTop + now.offsetOf(row)
      const bottom = top + now.heightOf(row)
      if (top < box.scrollTop) box.scrollTop = top
      else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight
      target = box.scrollTop
      if (--frames > 0) requestAnimationFrame(place)
    }
    place()
  })

  const rows = inView(heights, view.top - paddingTop, view.height, paddingTop)
  return { rows, height: paddingTop + heights.total() + paddingBottom, isScrolling, measured, show }
}

function inView(heights: RowHeights, top: number, height: number, paddingTop: number): VirtualList['rows'] {
  if (heights.count === 0) return []
  const first = Math.max(0, heights.rowAt(top) - AROUND)
  const last = Math.min(heights.count - 1, heights.rowAt(top + height) + AROUND)
  const rows = []
  for (let row = first, at = heights.offsetOf(first); row <= last; row++) {
    rows.push({ row, top: paddingTop + at })
    at += heights.heightOf(row)
  }
  return rows
}
