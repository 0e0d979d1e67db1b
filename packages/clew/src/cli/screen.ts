import type { Terminal } from './terminal.ts'

/** Lines at the bottom of a terminal that are drawn over again. */
export interface Screen {
  draw(lines: readonly string[]): Promise<void>
  clear(): Promise<void>
}

export function createScreen({ write }: Pick<Terminal, 'write'>, rows = process.stdout.rows || 24): Screen {
  let drawn = 0
  const up = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\r\x1b[J`)
  return {
    async draw(lines) {
      // Lines that scrolled away cannot be redrawn, so lines that do not fit are omitted.
      const shown = lines.slice(0, Math.max(1, rows - 1))
      await write(`${up()}${shown.join('\n')}\n`)
      drawn = shown.length
    },
    async clear() {
      await write(up())
      drawn = 0
    },
  }
}
