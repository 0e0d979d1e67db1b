import { type PointerEvent, type ReactElement, useEffect, useRef } from 'react'
import type { TimelineLayout } from './timeline-layout.ts'
import type { Span } from './zoom.ts'

interface MiniMapProps {
  readonly layout: TimelineLayout
  readonly span: Span
  readonly onSpan: (span: Span | null) => void
}

const HEIGHT = 30

/** All of the run, as high as steps were at work at once; drag over it to look closer. */
export function MiniMap({ layout, span, onSpan }: MiniMapProps): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null)
  const from = useRef<number | null>(null)

  useEffect(() => {
    const box = canvas.current
    if (!box) return undefined
    let frame = 0
    // Measuring the element right after a change would make the browser lay out all of the page at once.
    const draw = (): void => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => paint(box, layout))
    }
    draw()
    const seen = new ResizeObserver(draw)
    seen.observe(box)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      cancelAnimationFrame(frame)
      seen.disconnect()
      scheme.removeEventListener('change', draw)
    }
  }, [layout])

  function msAt(event: PointerEvent<HTMLElement>): number {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width)) * layout.spanMs
  }
  function onPointerMove(event: PointerEvent<HTMLElement>): void {
    if (from.current === null) return
    const at = msAt(event)
    if (Math.abs(at - from.current) < layout.spanMs / 200) return
    onSpan({ fromMs: Math.min(at, from.current), toMs: Math.max(at, from.current) })
  }
  return (
    <div
      className="mini-map"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        from.current = msAt(event)
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        from.current = null
      }}
      onDoubleClick={() => onSpan(null)}
    >
      <canvas ref={canvas} height={HEIGHT} />
      <span
        className="mini-span"
        hidden={span.toMs - span.fromMs >= layout.spanMs}
        style={{
          insetInlineStart: `${(span.fromMs / layout.spanMs) * 100}%`,
          width: `${((span.toMs - span.fromMs) / layout.spanMs) * 100}%`,
        }}
      />
    </div>
  )
}

function paint(box: HTMLCanvasElement, layout: TimelineLayout): void {
  const width = Math.max(1, Math.floor(box.clientWidth))
  const ratio = devicePixelRatio
  const pen = box.getContext('2d')
  if (!pen) return
  // Giving it a size anew costs more than all of the drawing.
  if (box.width !== Math.floor(width * ratio) || box.height !== Math.floor(HEIGHT * ratio)) {
    box.width = width * ratio
    box.height = HEIGHT * ratio
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, width, HEIGHT)
  // How many begin and end in each column: adding them up gives how many are at work, in one pass.
  const changes = new Int32Array(width + 1)
  const failed = new Uint8Array(width)
  const column = (ms: number): number =>
    Math.max(0, Math.min(width - 1, Math.floor((ms / layout.spanMs) * width)))
  for (let row = 0; row < layout.count; row++) {
    const start = column(layout.startMs[row] as number)
    const end = column(layout.endMs[row] as number)
    changes[start] = (changes[start] as number) + 1
    changes[end + 1] = (changes[end + 1] as number) - 1
    if ((layout.errors[row] as number) > 0 && layout.end[row] === row + 1) failed[start] = 1
  }
  const atWork = new Int32Array(width)
  let most = 1
  for (let x = 0, now = 0; x < width; x++) {
    now += changes[x] as number
    atWork[x] = now
    most = Math.max(most, now)
  }
  // Colours come from the element's computed style: a canvas does not resolve CSS variables and paints them black.
  const { color: ink, accentColor: bad } = getComputedStyle(box)
  for (const isBad of [0, 1]) {
    pen.beginPath()
    for (let x = 0; x < width; x++) {
      if (failed[x] !== isBad) continue
      const height = ((atWork[x] as number) / most) * (HEIGHT - 4)
      const shown = isBad === 1 ? Math.max(height, 4) : height
      pen.rect(x, HEIGHT - shown, 1, shown)
    }
    pen.fillStyle = isBad === 1 ? bad : ink
    pen.fill()
  }
}
