import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** The script that a first visit loads may weigh this much, packed; what is beyond must be loaded when it is wanted. */
const MAX_KB = 200

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
}

const folder = join(import.meta.dirname, 'dist')
const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<
  string,
  Chunk
>
const first = new Set<string>()
const work = Object.keys(manifest).filter((name) => manifest[name]?.isEntry)
for (let name = work.pop(); name !== undefined; name = work.pop()) {
  const chunk = manifest[name]
  if (!chunk || first.has(chunk.file)) continue
  first.add(chunk.file)
  work.push(...(chunk.imports ?? []))
}
const bytes = [...first].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0)
const kb = Math.round(bytes / 1000)
console.log(`first load: ${kb} KB of script, packed, in ${first.size} files (at most ${MAX_KB})`)
if (kb > MAX_KB) {
  console.error('The first load is too heavy. Look at what the entry imports, and load it later.')
  process.exitCode = 1
}
