/** What a column or a parameter holds; bytes are given as hex, in which dashes count for nothing. */
export type ColumnType = 'bigint' | 'int' | 'boolean' | 'text' | 'bytea'
export type Scalar = number | string | boolean | null

const OIDS: Readonly<Record<ColumnType, number>> = { boolean: 16, bytea: 17, bigint: 20, int: 23, text: 25 }

/**
 * What is sent to the server is written in its binary form, into one place that is used again and again: printing
 * rows as text and parsing them again there would cost more than all the rest of an append.
 */
let bytes = Buffer.allocUnsafe(1 << 16)
let view = new DataView(bytes.buffer, bytes.byteOffset)
let at = 0

function room(size: number): void {
  if (at + size <= bytes.length) return
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, at + size))
  bytes.copy(larger, 0, 0, at)
  bytes = larger
  view = new DataView(bytes.buffer, bytes.byteOffset)
}

/** All that `put` writes, as a buffer of its own. */
export function written(put: () => void): Buffer {
  at = 0
  put()
  const done = Buffer.allocUnsafe(at)
  bytes.copy(done, 0, 0, at)
  return done
}

export function putInt16(value: number): void {
  room(2)
  view.setInt16(at, value)
  at += 2
}

export function putInt32(value: number): void {
  room(4)
  view.setInt32(at, value)
  at += 4
}

/** Text without its length, ended by a zero. */
export function putName(text: string): void {
  room(text.length * 3 + 1)
  at += bytes.write(text, at)
  bytes[at++] = 0
}

/** One letter, the length of all that follows it, and that. */
export function putMessage(letter: string, put: () => void): void {
  room(1)
  bytes[at++] = letter.charCodeAt(0)
  putSized(put, 4)
}

/** A message that begins as others did: with a letter, room for the length of all that follows, and more. */
export function putBegun(begin: Uint8Array, put: () => void): void {
  room(begin.length)
  bytes.set(begin, at)
  const start = at + 1
  at += begin.length
  put()
  view.setInt32(start, at - start)
}

export function putBytes(given: Uint8Array): void {
  room(given.length)
  bytes.set(given, at)
  at += given.length
}

/** The length of what `put` writes, and that; `own` is how much the length itself counts. */
function putSized(put: () => void, own = 0): void {
  const start = at
  putInt32(0)
  put()
  view.setInt32(start, at - start - 4 + own)
}

/** A value with its length before it. */
export function putValue(type: ColumnType, value: Scalar): void {
  if (value === null) {
    putInt32(-1)
    return
  }
  switch (type) {
    case 'bigint':
      // A safe integer.
      room(12)
      view.setInt32(at, 8)
      view.setInt32(at + 4, Math.floor((value as number) / 0x1_0000_0000))
      view.setUint32(at + 8, (value as number) >>> 0)
      at += 12
      return
    case 'int':
      room(8)
      view.setInt32(at, 4)
      view.setInt32(at + 4, value as number)
      at += 8
      return
    case 'boolean':
      room(5)
      view.setInt32(at, 1)
      bytes[at + 4] = value ? 1 : 0
      at += 5
      return
    default:
      putText(value as string, type === 'bytea')
  }
}

/** Up to here a loop is quicker than a call out of JavaScript, and most values are short. */
const SHORT = 64
const DASH = 0x2d
const DIGITS = new Uint8Array(128)
for (const [value, digit] of Array.from('0123456789abcdef').entries()) DIGITS[digit.charCodeAt(0)] = value

function putText(value: string, isHex: boolean): void {
  // No character of UTF-16 takes more than three bytes of UTF-8.
  room(value.length * 3 + 4)
  const start = at
  at += 4
  if (isHex) putHex(value)
  else if (value.length > SHORT || !putAscii(value)) at = start + 4 + bytes.write(value, start + 4)
  view.setInt32(start, at - start - 4)
}

function putHex(value: string): void {
  const to = bytes
  let next = at
  for (let i = 0; i < value.length; ) {
    const code = value.charCodeAt(i)
    if (code === DASH) {
      i++
      continue
    }
    to[next++] = ((DIGITS[code] as number) << 4) | (DIGITS[value.charCodeAt(i + 1)] as number)
    i += 2
  }
  at = next
}

/** False where a character takes more than one byte. */
function putAscii(value: string): boolean {
  const to = bytes
  let next = at
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code > 0x7f) return false
    to[next++] = code
  }
  at = next
  return true
}

/** One value of each row, as an array. */
export function putArray<Row>(type: ColumnType, rows: readonly Row[], of: (row: Row) => Scalar): void {
  const { length } = rows
  room(20)
  view.setInt32(at, length === 0 ? 0 : 1)
  view.setInt32(at + 4, 1)
  view.setInt32(at + 8, OIDS[type])
  if (length === 0) {
    at += 12
    return
  }
  view.setInt32(at + 12, length)
  view.setInt32(at + 16, 1)
  at += 20
  for (let i = 0; i < length; i++) putValue(type, of(rows[i] as Row))
}

/** The same as a parameter: with its length before it. */
export function putArrayValue<Row>(type: ColumnType, rows: readonly Row[], of: (row: Row) => Scalar): void {
  putSized(() => putArray(type, rows, of))
}
