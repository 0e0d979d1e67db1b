import type { HeadSigner } from '../verify/heads.ts'

/** Payloads to erase: of a subject in any run, of a run with its child runs, or of one event. */
export type EraseTarget =
  | {
      readonly subject: string
      /** Further payload paths that contain the subject's id, such as `customer.id`; `subjects` is always searched. */
      readonly paths?: readonly string[] | undefined
    }
  | { readonly runId: string; readonly withForks?: boolean | undefined }
  | { readonly eventId: string }

export interface EraseOptions {
  readonly by?: string | undefined
  /** Reason, which stays in the compliance log, so it must not quote what is erased. */
  readonly reason?: string | undefined
  /** Only report what would be erased. */
  readonly dryRun?: boolean | undefined
  /**
   * Rewrite tables, so that no byte of the deleted rows is left in pages that are in use (PostgreSQL: VACUUM FULL,
   * which locks them).
   */
  readonly rewrite?: boolean | undefined
  /** Signs the certificate. */
  readonly signer?: HeadSigner | undefined
  /** Called with the number of events that were checked. */
  readonly onProgress?: ((events: number) => void) | undefined
}

/**
 * Events that are kept, with the reason: a legal hold covers them, other runs wrote them under a shared name of
 * memory, or other events need their value.
 */
export type KeptPart =
  | { readonly reason: 'held'; readonly runId: string; readonly holdId: string }
  | { readonly reason: 'others'; readonly runId: string; readonly events: number }
  | { readonly reason: 'shared'; readonly values: number }

export interface EraseReport {
  /** Events whose payload was erased, and their runs. */
  readonly events: number
  readonly runs: number
  readonly payloads: number
  /** Deleted shared values that no other event references. */
  readonly values: number
  /** Events of memory among them. */
  readonly memory: number
  /** Rows of the search index that lost their words. */
  readonly searchRows: number
  readonly kept: readonly KeptPart[]
  /** Why files may still hold bytes that no reader can reach, and what to do; null if none are left. */
  readonly unfinished: string | null
  readonly dryRun: boolean
  /** Null when there was nothing to erase. */
  readonly certificate: ErasureCertificate | null
}

/** Certificate of an erasure, for use outside the ledger: what was erased, and the event that records it. */
export interface ErasureCertificate {
  readonly certificate: 'clew.erasure'
  readonly version: 1
  readonly workspace: string
  readonly target: EraseTarget
  readonly by: string | null
  readonly reason: string | null
  readonly erasedAt: string
  readonly events: number
  readonly payloads: number
  readonly values: number
  readonly kept: readonly KeptPart[]
  /** The runs concerned, as they stood: their chains still verify up to these heads. */
  readonly runs: readonly {
    readonly runId: string
    readonly events: number
    readonly seq: number
    readonly hash: string
  }[]
  /** The event of the erasure in the audit run. */
  readonly proof: {
    readonly runId: string
    readonly eventId: string
    readonly seq: number
    readonly hash: string
  }
  /** Over the canonical text of all the rest. */
  readonly signature: string | null
  readonly publicKey: string | null
}
