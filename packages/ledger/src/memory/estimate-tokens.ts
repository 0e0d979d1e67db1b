// oxlint-disable-next-line no-control-regex -- plain ASCII is the common case
const BEYOND_ASCII = /[^\u0000-\u007f]/g
const CHARS_PER_TOKEN = 4

/** About how many tokens a text is for a model: four plain characters make one, of other scripts each is one. Rather too many. */
export function estimateTokens(text: string): number {
  const others = text.match(BEYOND_ASCII)?.length ?? 0
  return Math.ceil((text.length - others) / CHARS_PER_TOKEN) + others
}
