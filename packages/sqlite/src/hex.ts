/** A blob column as a hex text. */
export function toHex(blob: unknown): string {
  const { buffer, byteOffset, byteLength } = blob as Uint8Array
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

/** A hex text as the value of a blob column. */
export const fromHex = (text: string): Buffer => Buffer.from(text, 'hex')
