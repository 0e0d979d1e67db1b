/** A part of the run's time, in milliseconds since its first step. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** As it stands in an address. */
export const formatZoom = (span: Span | null): string | undefined =>
  span ? `${roundMs(span.fromMs)}-${roundMs(span.toMs)}` : undefined

const roundMs = (ms: number): number => Number(ms.toFixed(2))

export function parseZoom(text: string | undefined): Span | null {
  const [, from, to] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? '') ?? []
  const span = { fromMs: Number(from), toMs: Number(to) }
  return span.toMs > span.fromMs ? span : null
}

/** Closer or farther, with the moment under the cursor staying where it is; null when it is all of it. */
export function zoomSpan({ fromMs, toMs }: Span, factor: number, atMs: number, wholeMs: number): Span | null {
  const length = Math.max(0.01, (toMs - fromMs) * factor)
  if (length >= wholeMs) return null
  const from = Math.min(Math.max(0, atMs - (atMs - fromMs) * (length / (toMs - fromMs))), wholeMs - length)
  return { fromMs: from, toMs: from + length }
}
