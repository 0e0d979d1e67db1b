/** Characters that end a line, or that show a text in another order than it has, or not at all. */
// oxlint-disable-next-line no-control-regex -- the characters that are escaped
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** One line that shows all it holds: recorded text can neither begin a line of its own nor hide a part of itself. */
export const plainLine = (text: string): string =>
  text.replaceAll(HIDDEN, (character) => SHORT[character] ?? escaped(character))

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * JSON of a tool's arguments in which all but the usual characters of ids are escaped. It means the same, and an id that
 * reads like an instruction does not stand outside the fence as one.
 */
export const plainJson = (value: unknown): string => JSON.stringify(value).replaceAll(/[^!-~]/g, escaped)

function escaped(character: string): string {
  let text = ''
  for (let at = 0; at < character.length; at++)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
