/** Heights of very many rows, of which few were ever measured: any of them is found, or changed, in no time. */
export interface RowHeights {
  readonly count: number
  total(): number
  /** Offset of a row; the offset after the last row is the total height. */
  offsetOf(row: number): number
  /** The row that covers an offset, or the nearest one. */
  rowAt(offset: number): number
  heightOf(row: number): number
  /** Gives a row its height, and says by how much that is another. */
  measure(row: number, height: number): number
}

const BLOCK = 256

export function createRowHeights(count: number, guess: (row: number) => number): RowHeights {
  const heights = new Float64Array(count)
  const blocks = new Float64Array(Math.ceil(count / BLOCK))
  let total = 0
  for (let row = 0; row < count; row++) {
    const height = guess(row)
    heights[row] = height
    blocks[Math.floor(row / BLOCK)] = (blocks[Math.floor(row / BLOCK)] as number) + height
    total += height
  }
  return {
    count,
    total: () => total,
    offsetOf(row) {
      const last = Math.min(Math.max(0, row), count)
      const block = Math.floor(last / BLOCK)
      let offset = 0
      for (let at = 0; at < block; at++) offset += blocks[at] as number
      for (let at = block * BLOCK; at < last; at++) offset += heights[at] as number
      return offset
    },
    rowAt(offset) {
      let left = offset
      let block = 0
      for (; block < blocks.length - 1 && left >= (blocks[block] as number); block++)
        left -= blocks[block] as number
      let row = block * BLOCK
      for (; row < count - 1 && left >= (heights[row] as number); row++) left -= heights[row] as number
      return row
    },
    heightOf: (row) => heights[row] ?? 0,
    measure(row, height) {
      if (row < 0 || row >= count) return 0
      const change = height - (heights[row] as number)
      heights[row] = height
      blocks[Math.floor(row / BLOCK)] = (blocks[Math.floor(row / BLOCK)] as number) + change
      total += change
      return change
    },
  }
}
