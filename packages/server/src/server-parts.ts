import type { Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import type { IngestThread } from './ingest/ingest-thread.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Principals } from './principals.ts'
import type { ServedOperation } from './served-operation.ts'
import type { Turns } from './turns.ts'

/** Shared by all routes, sockets and streams of a server. */
export interface ServerParts {
  /**
   * The ledger of a workspace. The server closes it; callers must not. Values are JSON as stored, in both directions.
   */
  ledgerOf(workspace: string): Ledger
  /** Workspace of a caller who names none. */
  readonly workspace: string
  /** Workspaces that may have received traces of OpenTelemetry. */
  readonly traced: Set<string>
  readonly operations: readonly ServedOperation[]
  /** Passed to operations that control runs; undefined if runs can only be read. */
  controlOf(workspace: string): unknown
  readonly principals: Principals
  readonly limits: Limits
  /** Shared by all bodies that this thread reads. */
  readonly turns: Turns
  readonly log: Logger
  readonly metrics: Metrics
  /** Folder of the built page; null without a page. */
  readonly page: string | null
  /** The one other origin whose pages may call. */
  readonly origin: string | undefined
  /** Aborts when the server begins to close: streams and sockets end then, and clients are asked to reconnect. */
  readonly closing: AbortSignal
  /** Reads large ingested bodies; undefined if this thread reads them all. */
  readonly ingestThread: IngestThread | undefined
}
