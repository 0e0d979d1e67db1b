import type { JsonValue } from '../json.ts'
import type { Progress, ProgressNote } from './progress.ts'

/** T4: delay that a person still perceives as immediate. */
const BATCH_MS = 50
/** A long text is sent less often, so that a second of it costs about the same whatever its length. */
const CHARACTERS_PER_MS = 160

export interface ProgressWriterOptions {
  readonly put: Progress['put']
  readonly clear: (runId: string, stepId: string) => Promise<void>
  readonly now: () => number
  /** Calls once, later, without keeping a process alive. */
  readonly after: (ms: number, task: () => void) => void
}

export type Report = Omit<ProgressNote, 'version' | 'at'>

export interface ProgressWriter {
  /** Replaces the earlier report of the step; sent soon, together with others. */
  report(note: Report): void
  /** The step has ended: no more reports are sent, and its note is deleted. */
  end(step: Pick<ProgressNote, 'runId' | 'stepId' | 'attempt'>): Promise<void>
  /** Sends the waiting reports. */
  flush(): Promise<void>
}

/** Batches the progress of all steps that report through it. No caller waits for it, and its failure fails no agent. */
export function createProgressWriter({ put, clear, now, after }: ProgressWriterOptions): ProgressWriter {
  const pending = new Map<string, Report>()
  const told = new Set<string>()
  let isScheduled = false
  let version = 0
  let sending: Promise<void> = Promise.resolve()

  const keyOf = ({ runId, stepId, attempt }: Pick<Report, 'runId' | 'stepId' | 'attempt'>): string =>
    `${attempt} ${runId} ${stepId}`

  async function send(notes: readonly ProgressNote[]): Promise<void> {
    try {
      await put(notes)
    } catch {
      // Ignored: the next note carries the whole text, and a failed store is reported by the next append.
    }
  }

  function flush(): Promise<void> {
    if (pending.size === 0) return sending
    const at = new Date(now()).toISOString()
    const notes = [...pending].map(([key, note]): ProgressNote => {
      told.add(key)
      version = Math.max(version + 1, now())
      return { ...note, version, at }
    })
    pending.clear()
    sending = sending.then(() => send(notes))
    return sending
  }

  return {
    report(note) {
      pending.set(keyOf(note), note)
      if (isScheduled) return
      isScheduled = true
      after(Math.max(BATCH_MS, sizeOf(note.content) / CHARACTERS_PER_MS), () => {
        isScheduled = false
        void flush()
      })
    },
    async end(step) {
      const key = keyOf(step)
      pending.delete(key)
      if (!told.delete(key)) return
      await sending
      try {
        await clear(step.runId, step.stepId)
      } catch {
        // Notes of ended steps are dropped by readers, and swept in time.
      }
    },
    flush,
  }
}

const sizeOf = (content: JsonValue): number => (typeof content === 'string' ? content.length : 0)
