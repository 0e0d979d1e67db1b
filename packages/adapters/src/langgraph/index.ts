export { ClewSaver, type ClewSaverOptions } from './clew-saver.ts'
export { ClewStore, type ClewStoreOptions, type StoreTtl } from './store.ts'
export {
  importCheckpoints,
  type ImportCheckpointsOptions,
  type ImportedCheckpoints,
} from './import-checkpoints.ts'
export { readSaverDatabase, type SaverDatabase, type SaverFormat, type SaverQuery } from './saver-database.ts'
