/**
 * Characters that a terminal interprets instead of showing: control characters, line separators and direction marks.
 * They are removed from names, which may come from a model.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- these are the ones to catch
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu
// oxlint-disable-next-line no-control-regex -- plain ASCII is the common case
const ASCII = /^[\u0020-\u007e]*$/
const NO_WIDTH = /^(?:\p{Mn}|\p{Me}|\u200d)+$/u
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
let graphemes: Intl.Segmenter | undefined

/** Creating a segmenter takes 10 ms, so it is done at the first use and not at import. */
const segmentsOf = (text: string): Intl.Segments =>
  (graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text)

/** Spells out everything that could drive a terminal or break a line. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const widthOf = (grapheme: string): number => (NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** Columns that a printable text takes in a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of segmentsOf(text)) width += widthOf(segment)
  return width
}

/** Cuts a printable text to a width, with an ellipsis in its last column. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let taken = 0
  let kept = ''
  for (const { segment } of segmentsOf(text)) {
    taken += widthOf(segment)
    if (taken > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + space : space + text
}

/** `1 step`, `2,000 steps`. */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** `0.42 ms`, `12 ms`, `1.50 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
