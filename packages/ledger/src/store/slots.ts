import type { JsonObject } from '../json.ts'

/** A small JSON value under a name. */
export interface Slot {
  readonly workspace: string
  readonly name: string
  readonly value: JsonObject
}

export interface StoredSlot extends Slot {
  /** Raised by every write, so that a value that was changed and changed back is not taken for the old one. */
  readonly version: number
}

/** Coordination next to the ledger: cursors of consumers (V9), and which folds made the stored rows. */
export interface Slots {
  /** Slots whose name begins with the prefix, by name. */
  list(workspace: string, prefix: string): Promise<StoredSlot[]>
  /** Writes the slot if it still has this version, 0 for one that must not exist yet; else null. */
  put(slot: Slot, version: number): Promise<StoredSlot | null>
}
