import type { ProgressStore } from '../src/progress/progress.ts'
import type { Store } from '../src/store/store.ts'
import type { BrokenStore } from './broken-stores.ts'

const progress =
  (change: (kept: ProgressStore) => Partial<ProgressStore>) =>
  (store: Store): Partial<Store> => ({ progress: { ...store.progress, ...change(store.progress) } })

/** Stores whose side table for progress breaks one rule each. */
export const BROKEN_PROGRESS: readonly BrokenStore[] = [
  {
    what: 'keeps all progress of a step beside each other',
    failing: ['T4 a progress takes the place', 'T4 an older progress'],
    change: progress((kept) => ({
      put: (notes, nowMs) =>
        kept.put(
          notes.map((note) => ({ ...note, attempt: note.attempt * 1000 + note.version })),
          nowMs,
        ),
    })),
  },
  {
    what: 'loses changes of progress that come together',
    failing: ['T4 a progress takes the place', 'T4 whoever reads on'],
    change: progress((kept) => ({
      async read(options) {
        const { notes, cursor } = await kept.read(options)
        return { notes: notes.slice(-1), cursor }
      },
    })),
  },
  {
    what: 'rings for nobody when progress is put',
    failing: ['T4 a watcher is woken'],
    change: progress(() => ({ watch: () => () => {} })),
  },
  {
    what: 'keeps progress for ever',
    failing: ['T4 notes of a step', 'T4 it is bounded'],
    change: progress((kept) => {
      const all = new Map<string, Parameters<ProgressStore['put']>[0][number]>()
      return {
        async put(notes, nowMs) {
          for (const note of notes) all.set(note.stepId, note)
          await kept.put(notes, nowMs)
        },
        read: async () => ({ notes: [...all.values()], cursor: '0' }),
      }
    }),
  },
  {
    what: 'mixes the progress of workspaces',
    failing: ['A2 workspaces do not see'],
    change: progress((kept) => ({ read: (options) => kept.read({ ...options, workspace: undefined }) })),
  },
]
