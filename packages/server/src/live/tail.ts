import type { Feed } from './feed.ts'
import { type Line, lineOf } from './line.ts'

/** The newest lines of a workspace, kept while there are readers: live events are read once for all of them. */
export interface Tail {
  /** Resolves when whatever is committed from then on comes into the tail. */
  open(): Promise<{ readonly lines: TailLines; close(): void }>
}

export interface TailLines {
  /** Position up to which the tail is whole. */
  position(): number
  /** Lines after a position, of one run or of all; undefined when the tail does not go back that far. */
  after(position: number, runId?: string): Line[] | undefined
  /** Wait for the next line, of this run or of any. Call it before reading, so that no line falls between the two. */
  waitForLine(runId?: string): LineWait
}

export interface LineWait {
  readonly arrived: Promise<void>
  cancel(): void
}

const MAX_TAIL = { lines: 4096, characters: 4 * 1024 * 1024 }

export function createTail(feed: Feed, most = MAX_TAIL): Tail {
  let current: { readonly kept: Kept; readonly stop: Promise<() => void> } | undefined
  let readers = 0

  function begin(): { kept: Kept; stop: Promise<() => void> } {
    const kept = createKept(most)
    const stop = feed.listen((event) => kept.add(lineOf(event)))
    return { kept, stop: stop.then((close) => (kept.begin(feed.position), close)) }
  }

  return {
    async open() {
      current ??= begin()
      const own = current
      readers++
      let isOpen = true
      const close = (): void => {
        if (!isOpen) return
        isOpen = false
        if (--readers > 0) return
        current = undefined
        // A feed that could not start has reported the error to its openers.
        own.stop.then(
          (stop) => stop(),
          () => undefined,
        )
      }
      try {
        await own.stop
      } catch (error) {
        close()
        throw error
      }
      return { lines: own.kept, close }
    },
  }
}

interface Kept extends TailLines {
  add(line: Line): void
  /** Sets the position after which the tail is complete, before its first line. */
  begin(position: number): void
}

function createKept(most: typeof MAX_TAIL): Kept {
  let lines: Line[] = []
  let characters = 0
  /** Every line after this position is here. */
  let from: number | undefined
  const waiters = new Map<string | undefined, Set<() => void>>()

  /** Half of it at once, so that dropping costs nothing per line. */
  function drop(): void {
    let gone = 0
    for (; gone < lines.length; gone++) {
      if (lines.length - gone <= most.lines / 2 && characters <= most.characters / 2) break
      characters -= (lines[gone] as Line).text.length
    }
    from = lines[gone - 1]?.position ?? from
    lines = lines.slice(gone)
  }

  function notify(runId: string | undefined): void {
    const waiting = waiters.get(runId)
    if (!waiting) return
    waiters.delete(runId)
    for (const wake of waiting) wake()
  }

  return {
    add(line) {
      from ??= line.position - 1
      lines.push(line)
      characters += line.text.length
      if (lines.length > most.lines || characters > most.characters) drop()
      notify(line.runId)
      notify(undefined)
    },
    begin(position) {
      from ??= position
    },
    position: () => lines.at(-1)?.position ?? from ?? 0,
    after(position, runId) {
      if (from === undefined || position < from) return undefined
      const rest = lines.slice(firstAfter(lines, position))
      return runId === undefined ? rest : rest.filter((line) => line.runId === runId)
    },
    waitForLine(runId) {
      let wake = (): void => {}
      const arrived = new Promise<void>((resolve) => (wake = resolve))
      let waiting = waiters.get(runId)
      if (!waiting) waiters.set(runId, (waiting = new Set()))
      const own = waiting.add(wake)
      const cancel = (): void => {
        own.delete(wake)
        if (own.size === 0 && waiters.get(runId) === own) waiters.delete(runId)
      }
      return { arrived, cancel }
    },
  }
}

function firstAfter(lines: readonly Line[], position: number): number {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] as Line).position <= position) low = middle + 1
    else high = middle
  }
  return low
}
