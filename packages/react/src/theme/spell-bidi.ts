/** Marks, embeddings, overrides and isolates of writing direction: with them a text can look like another one. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The text with bidirectional controls spelled out as `\u202e`, as the command line prints them. */
export const spellBidi = (text: string): string =>
  text.replace(BIDI_CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
