const NAMESPACE = 16
const BLOCK = 64
const words = new Int32Array(80)

/**
 * SHA-1 of a UUID's bytes and a name, which ids of tasks are made of. Written out: a name fills a block or two, and
 * handing it to a library takes five times as long as the sum itself. False for a name with more than ASCII in it.
 */
export function digestNamed(found: Int32Array, namespace: string, name: string): boolean {
  const size = NAMESPACE + name.length
  found[0] = 0x67452301
  found[1] = 0xefcdab89 | 0
  found[2] = 0x98badcfe | 0
  found[3] = 0x10325476
  found[4] = 0xc3d2e1f0 | 0
  // Behind the name come one bit and the length in two words.
  const end = Math.ceil((size + 9) / BLOCK) * BLOCK
  let at = 0
  for (let start = 0; start < end; start += BLOCK) {
    for (let word = 0; word < 16; word++, at += 4) {
      if (at < NAMESPACE) {
        words[word] = namespaceWord(namespace, word)
        continue
      }
      let four = 0
      for (let place = at; place < at + 4; place++) {
        const code = place < size ? name.charCodeAt(place - NAMESPACE) : place === size ? 0x80 : 0
        if (code > 0x7f && place < size) return false
        four = (four << 8) | code
      }
      words[word] = four
    }
    if (start + BLOCK === end) words[15] = size * 8
    addBlock(found)
  }
  return true
}

/** Positions of the eight digits of each word between the dashes. */
const DIGITS = [
  [0, 1, 2, 3, 4, 5, 6, 7],
  [9, 10, 11, 12, 14, 15, 16, 17],
  [19, 20, 21, 22, 24, 25, 26, 27],
  [28, 29, 30, 31, 32, 33, 34, 35],
] as const

function namespaceWord(namespace: string, word: number): number {
  let value = 0
  for (const at of DIGITS[word] as readonly number[]) {
    const code = namespace.charCodeAt(at)
    // 0-9, and letters of either case.
    value = (value << 4) | (code < 0x3a ? code - 0x30 : (code & 0x1f) + 9)
  }
  return value
}

function addBlock(found: Int32Array): void {
  for (let i = 16; i < 80; i++) {
    const mixed =
      (words[i - 3] as number) ^
      (words[i - 8] as number) ^
      (words[i - 14] as number) ^
      (words[i - 16] as number)
    words[i] = (mixed << 1) | (mixed >>> 31)
  }
  let a = found[0] as number
  let b = found[1] as number
  let c = found[2] as number
  let d = found[3] as number
  let e = found[4] as number
  for (let i = 0; i < 80; i++) {
    const mixed =
      i < 20
        ? ((d ^ (b & (c ^ d))) + 0x5a827999) | 0
        : i < 40
          ? ((b ^ c ^ d) + 0x6ed9eba1) | 0
          : i < 60
            ? (((b & c) | (d & (b | c))) - 0x70e44324) | 0
            : ((b ^ c ^ d) - 0x359d3e2a) | 0
    const next = (((((a << 5) | (a >>> 27)) + e) | 0) + ((mixed + (words[i] as number)) | 0)) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  found[0] = (found[0] as number) + a
  found[1] = (found[1] as number) + b
  found[2] = (found[2] as number) + c
  found[3] = (found[3] as number) + d
  found[4] = (found[4] as number) + e
}
