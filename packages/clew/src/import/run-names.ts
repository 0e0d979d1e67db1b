/** Run names from file names: as much of the path as distinguishes the files. */
export function runNames(files: readonly string[]): string[] {
  const parts = files.map((file) =>
    stem(file)
      .split(/[/\\]/)
      .filter((part) => part !== '' && part !== '.' && part !== '..'),
  )
  const depth = parts.map(() => 1)
  const name = (at: number): string => (parts[at] ?? []).slice(-(depth[at] ?? 1)).join('-') || 'file'
  for (let round = 0; round < 16; round++) {
    const groups = Map.groupBy(files.keys(), name)
    let clash = false
    for (const members of groups.values())
      if (members.length > 1)
        for (const at of members)
          if ((depth[at] ?? 1) < (parts[at]?.length ?? 0)) {
            depth[at] = (depth[at] ?? 1) + 1
            clash = true
          }
    if (!clash) break
  }
  return files.map((_, at) => clean(name(at)))
}

const stem = (file: string): string => file.replace(/\.(?:json|jsonl|ndjson|txt|log)$/i, '')

/** An id without what would have to be quoted in a shell. */
const clean = (text: string): string => text.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 200)
