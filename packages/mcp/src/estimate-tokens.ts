/**
 * At most how many tokens a text is, by its bytes: words are less than half a token per byte, digits, capitals and
 * punctuation, of which ids and base64 consist, are more. `bench/agent` compares it with a real tokenizer.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === SPACE) tokens += 0.25
    else if (isDigit(code) || isCapital(code)) tokens += 0.8
    else if (isSmall(code)) tokens += 0.5
    // A code unit beyond ASCII is up to three bytes.
    else tokens += code < 0x80 ? 0.6 : code < 0x800 ? 1 : 1.5
  }
  return Math.ceil(tokens)
}

const SPACE = 0x20
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isCapital = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isSmall = (code: number): boolean => code >= 0x61 && code <= 0x7a
