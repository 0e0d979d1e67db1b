import type { Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Principals } from './principals.ts'
import type { ServedOperation } from './served-operation.ts'

/** Parts shared by all routes, sockets and streams. */
export interface ServerParts {
  /**
   * One store, one view per workspace; cheap, and never to be closed by who asks for it. Values are the JSON that is
   * stored, both ways.
   */
  ledgerOf(workspace: string): Ledger
  /** The workspace of a caller who names none. */
  readonly workspace: string
  /** Workspaces to which traces of OpenTelemetry may have come. */
  readonly traced: Set<string>
  readonly operations: readonly ServedOperation[]
  /** Run control of a workspace for operations; undefined if runs can only be read. */
  controlOf(workspace: string): unknown
  readonly principals: Principals
  readonly limits: Limits
  readonly log: Logger
  readonly metrics: Metrics
  /** Folder of the built page; null when there is none. */
  readonly page: string | null
  /** The one other origin whose pages may call. */
  readonly origin: string | undefined
  /** Aborts when the server begins to close: whatever stays open for long ends then, with a hint to come back. */
  readonly closing: AbortSignal
}
