import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { ClewError } from '@clew/ledger'
import { PROGRAM_ARGS, programFile } from './own-files.ts'

export interface BackgroundIndexer {
  /** Ends the thread after its current batch. */
  close(): Promise<void>
}

/** Indexes in a thread until it is closed. The thread does not keep the process alive. */
export function startIndexer(url: string): BackgroundIndexer {
  const program = programFile('index-worker')
  // A bundle holds the library, not the file of the thread.
  if (!existsSync(program))
    throw new ClewError(
      'bad_option',
      `The option index starts a thread from a file of clew that is not there: ${program.pathname}`,
      'Exclude clew from your bundle, or leave the option out and run ledger.index({ follow: true }) in a process of its own.',
      { option: 'index' },
    )
  const worker = new Worker(program, {
    workerData: { url },
    execArgv: [...PROGRAM_ARGS],
  })
  const ended = once(worker, 'exit')
  // An indexer that ended (full disk, lost file) shows as growing `lag` in `indexState()` and in search results.
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
