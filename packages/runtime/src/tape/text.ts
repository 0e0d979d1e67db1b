/**
 * Bytes that come in pieces as pieces of text, which together have the same bytes; a character that was cut belongs to the
 * piece in which it ends. Undefined when they are no text.
 */
export function decodeText(pieces: readonly Uint8Array[]): string[] | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return pieces.map((piece, index) => decoder.decode(piece, { stream: index < pieces.length - 1 }))
  } catch {
    // Not UTF-8: kept byte by byte.
    return undefined
  }
}
