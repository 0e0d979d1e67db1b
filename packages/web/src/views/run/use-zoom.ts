import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { TabProps } from './run-page.tsx'
import { formatZoom, parseZoom, type Span } from './zoom.ts'

/** A wheel turns faster than browsers let addresses be written. */
const WRITE_AFTER_MS = 250

/** The part of the time that is looked at; the address follows it, and it follows the address. */
export function useZoom(
  written: string | undefined,
  choose: TabProps['choose'],
): readonly [Span | null, (zoom: Span | null) => void] {
  const [zoom, setZoom] = useState(() => parseZoom(written))
  const known = useRef(written)
  useEffect(() => {
    if (written === known.current) return
    known.current = written
    setZoom(parseZoom(written))
  }, [written])
  const write = useEffectEvent((text: string | undefined) => {
    known.current = text
    choose({ zoom: text })
  })
  useEffect(() => {
    const text = formatZoom(zoom)
    if (text === known.current) return undefined
    const timer = setTimeout(() => write(text), WRITE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [zoom])
  return [zoom, setZoom]
}
