export { ClewSaver, type ClewSaverOptions } from './clew-saver.ts'
export { ClewStore, type ClewStoreOptions, type StoreTtl } from './store.ts'
