import type { Ledger, RunStatus } from '@clew/ledger'

/** Signature by which an item is matched with a recorded child. */
export interface ItemSignature {
  /** Keyed digest of its input, and a mark of the key; undefined in what earlier versions of Clew recorded. */
  readonly signature: string | undefined
  /** Digest of its input without what redaction took out. */
  readonly digest: string
}

/** A child run of an earlier take of the map. */
export interface StoredItem extends ItemSignature {
  readonly runId: string
  readonly status: RunStatus
}

/** Action for one item: restore, resume or run. */
export type MatchedItem =
  | { readonly action: 'restore' | 'resume'; readonly runId: string }
  /** `retryOf` is the child that failed or was stopped with this input. */
  | { readonly action: 'run'; readonly retryOf: string | null }

/** The best claim first: what is done, what can go on, what has to be done again. */
const RANK: Readonly<Record<RunStatus, number | null>> = {
  completed: 0,
  paused: 1,
  pending: 1,
  running: 1,
  interrupted: 1,
  blocked: 1,
  partial: 2,
  failed: 2,
  stopped: 2,
  // Another run stands in its place, or its record is gone.
  superseded: null,
  deleted: null,
}

/**
 * R8: finds the child of each item by its input, wherever the item stands now. Each child is claimed once, so equal inputs
 * get their children one for one; a child that failed is never given back. `fits` compares the inputs themselves, for
 * children whose signature says nothing here: it was made with another key, or by an earlier version of Clew.
 */
export async function matchItems<Item extends StoredItem>(
  stored: readonly Item[],
  items: readonly ItemSignature[],
  fits: (child: Item, index: number) => Promise<boolean>,
): Promise<MatchedItem[]> {
  // Sorting is stable: of equal rank the earlier child goes to the earlier item.
  const free = new Set(
    stored
      .filter(({ status }) => RANK[status] !== null)
      .sort((a, b) => (RANK[a.status] ?? 0) - (RANK[b.status] ?? 0)),
  )
  const claimed: (Item | undefined)[] = items.map(() => undefined)
  claim(free, claimed, items, ({ signature }) => signature ?? '')
  const open = [...free].filter(({ signature }) => !isOfSameKey(signature, items[0]?.signature))
  if (open.length === 0) return claimed.map(toMatch)
  const rest = new Set(open)
  claim(rest, claimed, items, ({ digest }) => digest)
  for (const index of items.keys()) {
    if (claimed[index]) continue
    for (const child of rest)
      if (await fits(child, index)) {
        claimed[index] = child
        rest.delete(child)
        break
      }
  }
  return claimed.map(toMatch)
}

/** Gives children to the items that have none, by one part of their signatures. */
function claim<Item extends StoredItem>(
  free: Set<Item>,
  claimed: (Item | undefined)[],
  items: readonly ItemSignature[],
  by: (signature: ItemSignature) => string,
): void {
  const children = Map.groupBy([...free].toReversed(), by)
  for (const [index, item] of items.entries()) {
    const child = claimed[index] || by(item) === '' ? undefined : children.get(by(item))?.pop()
    if (!child) continue
    claimed[index] = child
    free.delete(child)
  }
}

const isOfSameKey = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && keyMark(a) === keyMark(b)
const keyMark = (signature: string): string => signature.slice(0, MARK_CHARS)
const MARK_CHARS = 8

/** Two inputs have the same one only if they are equal, also in what redaction takes out. */
export const signatureOf = (ledger: Pick<Ledger, 'keyedDigest'>, input: unknown): string =>
  `${ledger.keyedDigest('key').slice(0, MARK_CHARS)}${ledger.keyedDigest(input ?? null).slice(0, 32)}`

function toMatch(claimed: StoredItem | undefined): MatchedItem {
  if (!claimed) return { action: 'run', retryOf: null }
  const { runId, status } = claimed
  if (status === 'completed') return { action: 'restore', runId }
  return RANK[status] === 1 ? { action: 'resume', runId } : { action: 'run', retryOf: runId }
}
