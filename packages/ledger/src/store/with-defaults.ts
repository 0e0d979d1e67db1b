import { createInProcessProgress } from '../in-process/progress.ts'
import { foldedMemory } from '../memory/fold-rows.ts'
import { scanSearch } from '../search/scan-search.ts'
import type { Store, StoreCore } from './store.ts'

/**
 * A store that has only the core, made complete: search and memory are kept in the memory of this process and filled
 * from the events again when it starts, and progress is seen only inside this process.
 */
export const withDefaults = (core: StoreCore): Store => ({
  ...core,
  search: scanSearch(core),
  memory: foldedMemory(core),
  progress: createInProcessProgress(),
})
