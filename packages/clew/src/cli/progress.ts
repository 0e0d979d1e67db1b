import type { Terminal } from './terminal.ts'

const BAR = 24
const REDRAW_MS = 100

export interface Progress {
  /** Throws once the person has asked to stop, which ends the operation that reports. */
  update(done: number): void
  end(): void
}

/** A bar on the error stream, for people at a terminal only; without a total it counts. */
export function createProgress(
  { errors, signal }: Pick<Terminal, 'errors' | 'signal'>,
  label: string,
  format: (done: number) => string,
  total?: number,
): Progress {
  let drawnAt = 0
  let drawn = false

  function draw(done: number): void {
    const part = total === undefined || total === 0 ? 0 : Math.min(1, done / total)
    const filled = Math.round(part * BAR)
    const bar =
      total === undefined ? '' : ` ${'━'.repeat(filled)}${errors.colour.dim('━'.repeat(BAR - filled))}`
    const percent = total === undefined ? '' : ` ${String(Math.floor(part * 100)).padStart(3)} %`
    errors.stream.write(`\r\x1b[2K${label}${bar}${percent}  ${format(done)}`)
    drawn = true
  }

  return {
    update(done) {
      signal.throwIfAborted()
      if (!errors.isTerminal || performance.now() - drawnAt < REDRAW_MS) return
      drawnAt = performance.now()
      draw(done)
    },
    end() {
      if (drawn) errors.stream.write('\r\x1b[2K')
    },
  }
}
