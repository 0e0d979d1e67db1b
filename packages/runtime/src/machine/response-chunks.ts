/** Something that came in while a call was under way, before its end: a chunk of a response. */
export interface ResponseChunk {
  /** The event that had woken the code last when it came; null when that makes no difference. */
  readonly after: string | null
  /** When it came, by the clock of the process that it came to: of several streams, the earlier one is first. */
  readonly cameAt: number
  /** Time on this process's clock before which the chunk is not passed on. */
  readonly dueAt: number
  give(): void
}

/** Pieces of recorded calls that the code has asked for, on their way to it. */
export interface ResponseChunks {
  /** In the order in which they came. */
  add(pieces: readonly ResponseChunk[]): void
  /**
   * Hands over those that came next, of one call: code that comes to rest in between sees several streams interleaved as
   * they were. `none`: the next recorded end is before them, or there are none; a number: milliseconds to wait.
   */
  give(isBehind: (eventId: string) => boolean): 'given' | 'none' | number
  /** There is one to hand over, now or in a while. */
  isNext(isBehind: (eventId: string) => boolean): boolean
}

interface Line {
  readonly pieces: readonly ResponseChunk[]
  at: number
}

export function createResponseChunks(): ResponseChunks {
  const lines = new Set<Line>()

  function first(isBehind: (eventId: string) => boolean): Line | undefined {
    let found: Line | undefined
    for (const line of lines) {
      const piece = headOf(line)
      if (piece.after !== null && !isBehind(piece.after)) continue
      if (!found || piece.cameAt < headOf(found).cameAt) found = line
    }
    return found
  }

  return {
    add(pieces) {
      if (pieces.length > 0) lines.add({ pieces, at: 0 })
    },
    isNext: (isBehind) => lines.size > 0 && first(isBehind) !== undefined,
    give(isBehind) {
      const line = lines.size === 0 ? undefined : first(isBehind)
      if (!line) return 'none'
      const waitMs = headOf(line).dueAt - performance.now()
      if (waitMs > 0) return waitMs
      do {
        headOf(line).give()
        line.at++
        if (line.at === line.pieces.length) {
          lines.delete(line)
          break
        }
      } while (headOf(line).dueAt <= performance.now() && first(isBehind) === line)
      return 'given'
    },
  }
}

const headOf = ({ pieces, at }: Line): ResponseChunk => pieces[at] as ResponseChunk
