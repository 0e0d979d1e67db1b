import { type ClewEvent, isTerminal, type Ledger } from '@clew/ledger'
import { type Line, lineOf } from './line.ts'
import type { LineWait, Tail, TailLines } from './tail.ts'

/** State shared by the followers of a workspace. */
export interface LineSource {
  readonly ledger: Ledger
  readonly tail: Tail
  readonly pages: SharedPages
}

export interface RunLines {
  readonly runId: string
  readonly afterSeq: number
  /** Ends when the run has ended and all of it was given. */
  readonly untilEnd?: boolean | undefined
}

/** Lines of a run in order, as many at once as are there: history from the ledger, then live from the tail. */
export async function* followRun(
  { ledger, tail, pages }: LineSource,
  { runId, afterSeq, untilEnd = false }: RunLines,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  let seq = afterSeq
  yield* following(tail, runId, -1, signal, async function* (lines, position) {
    const live = lines.after(position, runId)?.filter((line) => line.seq > seq)
    for (let page = live ?? (await pages.ofRun(runId, seq)); page.length > 0; ) {
      seq = page.at(-1)?.seq ?? seq
      yield page
      page = live ? [] : await pages.ofRun(runId, seq)
    }
    return untilEnd && (await hasEnded(ledger, runId, seq))
  })
}

/** The same for the whole workspace, by position. */
export async function* followLedger(
  { tail, pages }: LineSource,
  afterPosition: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  let last = -1
  yield* following(tail, undefined, afterPosition, signal, async function* (lines, position) {
    last = Math.max(last, position)
    const live = lines.after(last)
    for (let page = live ?? (await pages.ofLedger(last)); page.length > 0; ) {
      last = page.at(-1)?.position ?? last
      yield page
      page = live ? [] : await pages.ofLedger(last)
    }
    return false
  })
}

/**
 * Rounds of looking and waiting. A round gives all that comes after `position` up to where the tail stood when it
 * began; a line that comes in the meantime starts the next round immediately.
 */
async function* following(
  tail: Tail,
  runId: string | undefined,
  after: number,
  signal: AbortSignal,
  round: (lines: TailLines, position: number) => AsyncGenerator<readonly Line[], boolean>,
): AsyncGenerator<readonly Line[]> {
  const { lines, close } = await tail.open()
  let position = after
  let next: LineWait | undefined
  try {
    while (!signal.aborted) {
      next = lines.waitForLine(runId)
      const whole = lines.position()
      const isLast = yield* round(lines, position)
      if (isLast) return
      position = Math.max(position, whole)
      await lineOrAborted(next, signal)
    }
  } finally {
    next?.cancel()
    close()
  }
}

function lineOrAborted(next: LineWait, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = (): void => {
      signal.removeEventListener('abort', settle)
      resolve()
    }
    signal.addEventListener('abort', settle)
    void next.arrived.then(settle)
  })
}

/** A run may be resumed after an end, so only an end with nothing behind it is the end. */
export async function hasEnded(ledger: Ledger, runId: string, seq: number): Promise<boolean> {
  const run = await ledger.getRun(runId)
  return run !== null && isTerminal(run.status) && seq >= (run.forkedFrom?.seq ?? 0) + run.events
}

/** Pages of history. Who asks for the same at the same time shares one read, as many do who come back at once. */
export interface SharedPages {
  ofRun(runId: string, afterSeq: number): Promise<readonly Line[]>
  ofLedger(afterPosition: number): Promise<readonly Line[]>
}

const PAGE = { lines: 200, characters: 1024 * 1024 }

export function createSharedPages(ledger: Ledger): SharedPages {
  const reading = new Map<string, Promise<readonly Line[]>>()

  function share(key: string, read: () => Promise<readonly Line[]>): Promise<readonly Line[]> {
    const same = reading.get(key)
    if (same) return same
    const page = read().finally(() => reading.delete(key))
    reading.set(key, page)
    return page
  }

  return {
    ofRun: (runId, afterSeq) =>
      share(`run ${afterSeq} ${runId}`, () => readPage(ledger.read(runId, { afterSeq, limit: PAGE.lines }))),
    ofLedger: (afterPosition) =>
      share(`ledger ${afterPosition}`, () => readPage(ledger.follow({ afterPosition, live: false }))),
  }
}

async function readPage(events: AsyncGenerator<ClewEvent>): Promise<readonly Line[]> {
  const lines: Line[] = []
  let characters = 0
  for await (const event of events) {
    const line = lineOf(event)
    lines.push(line)
    characters += line.text.length
    if (lines.length === PAGE.lines || characters > PAGE.characters) break
  }
  return lines
}
