import type { Slots, StoredSlot } from './slots.ts'

/** Cursor of a consumer (V9), stored in a slot. */
export interface Cursor {
  readonly name: string
  readonly position: number
  /** Failures since it last moved, and the error of the last one, redacted. */
  readonly failures: number
  readonly error: string | null
  readonly movedAt: string
}

export interface StoredCursor extends Cursor {
  readonly version: number
}

const PREFIX = 'consumer/'

function toCursor({ name, value, version }: StoredSlot): StoredCursor {
  const { position, failures, error, movedAt } = value as unknown as Omit<Cursor, 'name'>
  return { name: name.slice(PREFIX.length), position, failures, error, movedAt, version }
}

/** Sorted by name. */
export const readCursors = async (slots: Slots, workspace: string): Promise<StoredCursor[]> =>
  (await slots.list(workspace, PREFIX)).map(toCursor)

/** Writes the cursor if it still has this version, 0 for a new one; else null. */
export async function putCursor(
  slots: Slots,
  workspace: string,
  { name, position, failures, error, movedAt }: Cursor,
  version: number,
): Promise<StoredCursor | null> {
  const value = { position, failures, error, movedAt }
  const slot = await slots.put({ workspace, name: PREFIX + name, value }, version)
  return slot && toCursor(slot)
}
