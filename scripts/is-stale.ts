import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** True if a built file is missing or older than one of its sources. */
export function isStale(root: string, built: string, sources: readonly string[]): boolean {
  const builtMs = statSync(join(root, built), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return globSync(sources, { cwd: root }).some((file) => statSync(join(root, file)).mtimeMs > builtMs)
}
