/** A blob column as a hex text. In a file that was changed by hand the column may hold a text or a number. */
export function toHex(value: unknown): string {
  if (!(value instanceof Uint8Array)) return Buffer.from(String(value)).toString('hex')
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
}

/** A hex text as the value of a blob column. */
export const fromHex = (text: string): Buffer => Buffer.from(text, 'hex')
