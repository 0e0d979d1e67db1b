import type { Ledger, ProgressNote } from '@clew/ledger'
import type { Logger } from 'pino'
import { watchProgress } from './watch-progress.ts'

/** The text so far of steps at work (T4), by run; read once for all who listen. */
export interface ProgressFeed {
  listen(runId: string, listener: (note: ProgressNote) => void): () => void
}

export function createProgressFeed(ledger: Pick<Ledger, 'progress'>, log: Logger): ProgressFeed {
  const listeners = new Map<string, Set<(note: ProgressNote) => void>>()
  let stop: (() => void) | undefined

  async function tell(notes: readonly ProgressNote[]): Promise<void> {
    for (const note of notes) for (const listener of listeners.get(note.runId) ?? []) listener(note)
  }

  return {
    listen(runId, listener) {
      const those = listeners.get(runId) ?? new Set()
      listeners.set(runId, those.add(listener))
      stop ??= watchProgress(ledger, tell, log)
      return () => {
        those.delete(listener)
        if (those.size > 0 || listeners.get(runId) !== those) return
        listeners.delete(runId)
        if (listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
  }
}

/**
 * Puts the progress of a run between the texts of its lines, as messages of type `progress` without an id: a client that
 * reconnects asks for lines only, and receives the current notes.
 */
export async function* withProgress(
  texts: AsyncGenerator<string>,
  feed: ProgressFeed,
  ledger: Pick<Ledger, 'progress'>,
  runId: string,
): AsyncGenerator<string> {
  const waiting = new Map<string, ProgressNote>()
  const versions = new Map<string, number>()
  let notify = (): void => {}
  function take(note: ProgressNote): void {
    const key = `${note.attempt} ${note.stepId}`
    // A new listener receives the current notes and may have read them, too.
    if ((versions.get(key) ?? -1) >= note.version) return
    versions.set(key, note.version)
    waiting.set(key, note)
    notify()
  }
  const unlisten = feed.listen(runId, take)
  let next: Promise<IteratorResult<string>> | undefined
  try {
    for (const note of (await ledger.progress.read({ runId })).notes) take(note)
    while (true) {
      if (waiting.size > 0) {
        const notes = [...waiting.values()]
        waiting.clear()
        yield notes.map(toText).join('')
      }
      const notified = new Promise<undefined>((resolve) => (notify = () => resolve(undefined)))
      next ??= texts.next()
      if (waiting.size > 0) continue
      const taken = await Promise.race([next, notified])
      if (!taken) continue
      next = undefined
      if (taken.done) return
      yield taken.value
    }
  } finally {
    unlisten()
    await texts.return(undefined)
  }
}

const toText = ({ runId: _, ...note }: ProgressNote): string =>
  `event: progress\ndata: ${JSON.stringify(note)}\n\n`
