import { stripVTControlCharacters } from 'node:util'
import { formatCount } from '../format-count.ts'

/**
 * Characters that a terminal would obey instead of show: control characters of both sets, line separators, and the
 * marks that turn the direction of writing. Payloads come from strangers, so none of these ever reaches the screen.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- these are the ones to catch
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' }

/** The text with everything that could drive the terminal spelt out. */
export function printable(text: string): string {
  return text.replace(
    UNSAFE,
    (char) => SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** JSON on one line, equal to `JSON.stringify`, with unsafe characters as escapes. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent))
}

/** The same for JSON that is text already; its line breaks are layout and stay. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const ZERO = /\p{Mn}|\p{Me}|\u200d|[\ufe00-\ufe0f]/u
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
// oxlint-disable-next-line no-control-regex -- plain ASCII is the common case
const ASCII = /^[\u0020-\u007e]*$/

const charWidth = (char: string): number => (ZERO.test(char) ? 0 : WIDE.test(char) ? 2 : 1)

/** Columns that a printable text takes, its colours not counted. */
export function textWidth(text: string): number {
  const plain = text.includes('\u001b') ? stripVTControlCharacters(text) : text
  if (ASCII.test(plain)) return plain.length
  let width = 0
  for (const char of plain) width += charWidth(char)
  return width
}

/** Cuts a text without colours to a width, with an ellipsis in the last column. */
export function cut(text: string, width: number): string {
  if (text.length <= width && textWidth(text) <= width) return text
  let taken = 0
  let result = ''
  for (const char of text) {
    taken += charWidth(char)
    if (taken > width - 1) break
    result += char
  }
  return width < 1 ? '' : `${result}…`
}

/** Pads to a width, on the right by default. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + space : space + text
}

/** Breaks a printable text without colours into lines of at most this width, at spaces where there are some. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    let rest = word
    if (line !== '' && textWidth(line) + 1 + textWidth(rest) <= width) {
      line += ` ${rest}`
      continue
    }
    if (line !== '') lines.push(line)
    while (textWidth(rest) > width) {
      const part = cut(rest, width + 1).slice(0, -1)
      lines.push(part)
      rest = rest.slice(part.length)
    }
    line = rest
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line]
}

/** `1 event`, `2 events`. */
export const plural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
