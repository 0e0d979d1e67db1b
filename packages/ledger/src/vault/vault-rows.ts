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
  /** False for a stray row: its payload was erased or pruned, and the row should have gone with it. */
  readonly hasPayload: boolean
}

export interface VaultChange {
  readonly position: number
  /** The row as it must still be. */
  readonly before: VaultData
  readonly after: VaultData
}

/**
 * The table beside the payloads. A row is written in the transaction of its event (`PreparedEvent.vault`) and goes in
 * the transaction that takes the event's payload away.
 */
export interface VaultRows {
  /** Rows of the events at these positions, by position. */
  read(positions: readonly number[]): Promise<readonly VaultRow[]>
  /** Rows of all workspaces by position, optionally only those of one key, or without those of one. */
  list(options: {
    readonly afterPosition: number
    readonly limit: number
    readonly keyId?: string | undefined
    readonly exceptKeyId?: string | undefined
  }): Promise<readonly VaultRow[]>
  /** Ids of all keys that rows were encrypted with. */
  keyIds(): Promise<readonly string[]>
  /** Replaces rows that are still as given, in one transaction; says how many were. */
  replace(changes: readonly VaultChange[]): Promise<number>
}
