// oxlint-disable-next-line no-control-regex -- what steers a terminal, or what a database cannot keep
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
/** Names of an item share one entry of an index, which has at most 2,700 bytes. */
export const MAX_NAME_CHARS = 256

/** A text that every store can keep, sort and compare alike. */
export const isPlainName = (text: string): boolean =>
  text !== '' && text.length <= MAX_NAME_CHARS && !CONTROL.test(text) && text.isWellFormed()

/** `a/b/c`: parts between strokes, none of them empty. */
export const isNamespace = (text: string): boolean =>
  isPlainName(text) && !text.startsWith('/') && !text.endsWith('/') && !text.includes('//')

/** Whether a namespace is this one or below it. */
export const isWithin = (namespace: string, above: string): boolean =>
  namespace === above || namespace.startsWith(`${above}/`)

/** In the order of code points, as databases compare UTF-8: that of JavaScript differs above U+FFFF. */
export function compareNames(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdfff
    return isHigh(x) === isHigh(y) ? x - y : isHigh(x) ? (y > 0xdfff ? 1 : x - y) : x > 0xdfff ? -1 : x - y
  }
  return a.length - b.length
}
