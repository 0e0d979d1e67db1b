import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Ledger } from '@clew/ledger'
import type { Limits } from '@clew/server'
import { PROGRAM_ARGS, programFile } from './own-files.ts'
import { openingOf } from './second-opening.ts'

/** Start options of `ingest-worker.ts`. */
export interface IngestWorkerData {
  readonly url: string
  readonly options: object
  readonly limits: Partial<Limits>
  readonly log: string
}

/** Starts the thread that reads large bodies; undefined if it cannot open the ledger, or its file is not in a bundle. */
export function ingestStarter(
  ledger: Ledger,
  limits: Partial<Limits>,
  log: string,
): (() => Worker) | undefined {
  const opening = openingOf(ledger)
  const program = programFile('ingest-worker')
  if (!opening || !existsSync(program)) return undefined
  const workerData: IngestWorkerData = { ...opening, limits, log }
  return () => new Worker(program, { workerData, execArgv: [...PROGRAM_ARGS] })
}
