/** Edits (insert, delete, replace, swap of neighbours) from one text to the other. */
export function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** The candidates that were probably meant, nearest first. */
export function nearMisses(text: string, candidates: Iterable<string>, most = 3): string[] {
  const short = text.slice(0, 64).toLowerCase()
  const worst = short.length <= 4 ? 1 : short.length <= 10 ? 2 : 3
  const found: { candidate: string; edits: number }[] = []
  for (const candidate of candidates) {
    const other = candidate.toLowerCase()
    // A beginning of the right length may have the right number of letters wrong as well.
    const edits = Math.min(
      distance(short, other.slice(0, 64)),
      0.5 + distance(short, other.slice(0, short.length)),
    )
    if (edits <= worst) found.push({ candidate, edits })
  }
  return found
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, most)
    .map((each) => each.candidate)
}
