/** Pieces of patterns, as they stand in a text and in one that is quoted in another. */

export const QUOTE = `\\\\{0,9}["'\`]`
export const LINE = '(?:\\r?\\n|\\\\{1,9}r?\\\\{0,9}n)'
export const LINE_START = '(?:^|\\n|\\\\n)'
