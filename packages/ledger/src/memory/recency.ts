interface Dated {
  readonly updatedAt: string
}

const WEEK_MS = 7 * 86_400_000

/** Ages are counted from the newest and not from now, so that the same record gives the same order at any time. */
export function newestOf(items: readonly Dated[]): number {
  let newestMs = 0
  for (const { updatedAt } of items) newestMs = Math.max(newestMs, Date.parse(updatedAt))
  return newestMs
}

/** 1 for the newest; a week makes the difference fade. */
export const recencyOf = ({ updatedAt }: Dated, newestMs: number): number =>
  1 / (1 + Math.max(0, newestMs - Date.parse(updatedAt)) / WEEK_MS)
