const ACCENTED = /[\u00c0-\u024f]/g
const OTHERS = new Map(
  Array.from('ßsłlŁLøoØOæaÆAœoŒOđdĐDıi'.matchAll(/(.)(.)/g), ([, from = '', to = '']) => [from, to]),
)

/** A word with letters of ASCII for those that carry a mark: how it looks is asked of these, and nothing moves. */
export const fold = (word: string): string =>
  word.replace(ACCENTED, (char) => OTHERS.get(char) ?? char.normalize('NFD').charAt(0))
