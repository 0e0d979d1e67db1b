import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { PROGRAM_ARGS, programFile } from './own-files.ts'

export interface BackgroundIndexer {
  /** Ends it after the page under way. */
  close(): Promise<void>
}

/** Indexes in a thread of its own until it is closed. It never keeps the process alive. */
export function startIndexer(url: string): BackgroundIndexer {
  const worker = new Worker(programFile('index-worker'), {
    workerData: { url },
    execArgv: [...PROGRAM_ARGS],
  })
  const ended = once(worker, 'exit')
  // What ends an indexer (a full disk, a lost file) is met by whoever searches: its lag grows and can be seen.
  worker.on('error', () => {})
  ended.catch(() => {})
  worker.unref()
  return {
    async close() {
      worker.ref()
      worker.postMessage('stop', [])
      await ended.catch(() => {})
    },
  }
}
