/** Encrypted originals of one event. `data` is hex. */
export interface VaultData {
  readonly keyId: string
  readonly data: string
}

export interface VaultRow extends VaultData {
  /** Position of the event. */
  readonly position: number
  /** Null for a stray row, whose event is not there. */
  readonly event: VaultedEvent | null
}

export interface VaultedEvent {
  readonly workspace: string
  readonly runId: string
  readonly seq: number
  readonly eventId: string
  readonly payloadHash: string
  /** False for a stray row: its payload was erased or pruned, and the row should have been deleted with it. */
  readonly hasPayload: boolean
}

export interface VaultChange {
  readonly position: number
  /** The row as it must still be. */
  readonly before: VaultData
  readonly after: VaultData
}

/**
 * Which rows of the vault. A row is written in the transaction of its event (`PreparedEvent.vault`) and deleted in the
 * transaction that removes the event's payload.
 */
export type VaultQuery =
  | { readonly positions: readonly number[] }
  | {
      /** Rows of all workspaces. */
      readonly afterPosition: number
      readonly limit: number
      /** Only rows of this key, or no rows of this key. */
      readonly keyId?: string | undefined
      readonly exceptKeyId?: string | undefined
    }
