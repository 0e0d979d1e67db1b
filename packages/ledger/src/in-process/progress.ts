import type { RunKey } from '../store/store.ts'
import { MAX_NOTES, NOTE_TTL_MS, type ProgressStore, type StoredNote } from '../progress/progress.ts'
import { notifyAll } from '../store/wake.ts'

interface Kept {
  readonly note: StoredNote
  readonly change: number
  readonly putMs: number
}

/** Notes of one process, for stores without a table for them. */
export function createInProcessProgress(): ProgressStore {
  /** In the order of their last change. */
  const kept = new Map<string, Kept>()
  const wakes = new Set<() => void>()
  let changes = 0

  function sweep(nowMs: number): void {
    for (const [key, { putMs }] of kept) {
      if (kept.size <= MAX_NOTES && nowMs - putMs < NOTE_TTL_MS) return
      kept.delete(key)
    }
  }

  return {
    async put(notes, nowMs) {
      for (const note of notes) {
        const key = keyOf(note)
        if ((kept.get(key)?.note.version ?? -1) >= note.version) continue
        kept.delete(key)
        kept.set(key, { note, change: ++changes, putMs: nowMs })
      }
      sweep(nowMs)
      notifyAll(wakes)
    },
    async read({ workspace, runId, after = '0', limit }) {
      const notes: StoredNote[] = []
      let last = Number(after)
      for (const { note, change } of kept.values()) {
        if (change <= Number(after)) continue
        if (notes.length === limit) break
        last = change
        if (workspace !== undefined && note.workspace !== workspace) continue
        if (runId === undefined || note.runId === runId) notes.push(note)
      }
      return { notes, cursor: String(last) }
    },
    async clear({ workspace, runId }: RunKey, stepId) {
      for (const [key, { note }] of kept)
        if (note.workspace === workspace && note.runId === runId && (stepId ?? note.stepId) === note.stepId)
          kept.delete(key)
    },
    watch(wake) {
      wakes.add(wake)
      return () => void wakes.delete(wake)
    },
  }
}

const keyOf = ({ workspace, runId, stepId, attempt }: StoredNote): string =>
  JSON.stringify([workspace, runId, stepId, attempt])
