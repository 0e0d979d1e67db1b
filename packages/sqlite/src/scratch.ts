/** Bytes of a hex text in a place that is used again and again: a bound blob is copied, and there are four per event. */
export function scratch(size: number): (hex: string) => Buffer {
  const place = Buffer.alloc(size)
  return (text) => {
    place.write(text, 'hex')
    return place
  }
}
