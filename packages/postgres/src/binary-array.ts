/**
 * Arrays in the driver's binary form: a thousand events are some twenty arrays, and printing them as text and parsing
 * that again on the server would cost more than all the rest of an append.
 */
const OIDS = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25 } as const
const HEADER = 20

let scratch = Buffer.allocUnsafe(1 << 16)

function room(at: number, bytes: number): void {
  if (at + bytes <= scratch.length) return
  const larger = Buffer.allocUnsafe(Math.max(scratch.length * 2, at + bytes))
  scratch.copy(larger, 0, 0, at)
  scratch = larger
}

function array<T>(
  type: keyof typeof OIDS,
  items: readonly (T | null)[],
  write: (item: T, at: number) => number,
): Buffer {
  if (items.length === 0) {
    const empty = Buffer.alloc(12)
    empty.writeInt32BE(OIDS[type], 8)
    return empty
  }
  scratch.writeInt32BE(1, 0)
  scratch.writeInt32BE(1, 4)
  scratch.writeInt32BE(OIDS[type], 8)
  scratch.writeInt32BE(items.length, 12)
  scratch.writeInt32BE(1, 16)
  let at = HEADER
  for (const item of items) {
    room(at, 64)
    if (item === null) {
      scratch.writeInt32BE(-1, at)
      at += 4
      continue
    }
    const size = write(item, at + 4)
    scratch.writeInt32BE(size, at)
    at += 4 + size
  }
  const done = Buffer.allocUnsafe(at)
  scratch.copy(done, 0, 0, at)
  return done
}

/** Of safe integers. */
export const int8s = (items: readonly (number | null)[]): Buffer =>
  array('int8', items, (item, at) => {
    scratch.writeInt32BE(Math.floor(item / 0x1_0000_0000), at)
    scratch.writeUInt32BE(item >>> 0, at + 4)
    return 8
  })

export const int4s = (items: readonly (number | null)[]): Buffer =>
  array('int4', items, (item, at) => {
    scratch.writeInt32BE(item, at)
    return 4
  })

export const booleans = (items: readonly (boolean | null)[]): Buffer =>
  array('bool', items, (item, at) => {
    scratch[at] = item ? 1 : 0
    return 1
  })

export const texts = (items: readonly (string | null)[]): Buffer =>
  array('text', items, (item, at) => {
    // No character of UTF-16 takes more than three bytes of UTF-8.
    room(at, item.length * 3 + 64)
    return scratch.write(item, at)
  })

/** Bytes given as hex. */
export const hexes = (items: readonly (string | null)[]): Buffer =>
  array('bytea', items, (item, at) => {
    room(at, item.length + 64)
    return scratch.write(item, at, 'hex')
  })
