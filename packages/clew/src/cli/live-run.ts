import { type ClewEvent, toWire } from '@clew/ledger'
import { eventLine } from './event-line.ts'
import { ReaderGone, type Terminal } from './terminal.ts'

export interface LiveRun {
  readonly onEvent: ((event: ClewEvent) => void) | undefined
  /** Resolves when all is written. */
  end(): Promise<void>
}

/** Writes what happens to a run as `clew tail` does, a child's events a little further in. */
export function createLiveRun(terminal: Terminal): LiveRun {
  if (terminal.json) return { onEvent: undefined, end: async () => {} }
  let written: Promise<void> = Promise.resolve()
  let isRead = true
  /** The driven run, known from its first event; lines of its children are indented. */
  let runId: string | undefined
  const write = async (line: string): Promise<void> => {
    if (!isRead) return
    try {
      await terminal.write(line)
    } catch (error) {
      // A run matters more than its display: it continues when the display fails.
      if (!(error instanceof ReaderGone)) throw error
      isRead = false
    }
  }
  return {
    onEvent(event) {
      runId ??= event.correlationId
      const inset = event.correlationId === runId ? '' : '  '
      const line = `${inset}${eventLine({ ...terminal, width: terminal.width - inset.length }, toWire(event))}\n`
      written = written.then(() => write(line))
    },
    end: () => written,
  }
}

/**
 * Waits for a run that this process drives. Ctrl-C leaves it where it is, as a crash would: everything that was
 * acknowledged is kept, and it can be resumed immediately. `clew stop` is what ends a run.
 */
export async function waitOrDetach<T>(work: Promise<T>, { signal }: Pick<Terminal, 'signal'>): Promise<T> {
  const left = Promise.withResolvers<never>()
  const leave = (): void => {
    // Work of the agent would keep the process alive although its result is no longer needed.
    setTimeout(() => process.exit(130), 1000).unref()
    left.reject(signal.reason instanceof Error ? signal.reason : new Error('left'))
  }
  work.catch(() => {})
  signal.addEventListener('abort', leave)
  try {
    if (signal.aborted) leave()
    return await Promise.race([work, left.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
