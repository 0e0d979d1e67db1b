import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface SourceFile {
  /** From the root of the repository, with slashes: `packages/ledger/src/json.ts`. */
  readonly path: string
  readonly text: string
}

export const ROOT = resolve(import.meta.dirname, '../..')

const NOT_OURS = /(^|\/)(node_modules|dist|coverage|\.git|\.clew|\.tmp-docs)\//

/** Paths of everything that is or would be committed; in an unpacked archive without git, everything of ours. */
export function listPaths(): string[] {
  const listed = existsSync(join(ROOT, '.git'))
    ? execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
        cwd: ROOT,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      }).split('\0')
    : globSync(['**/*', '.*', '.ci/**/*'], { cwd: ROOT, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
  const paths = listed.map((path) => path.replaceAll('\\', '/'))
  return [...new Set(paths)].filter((path) => path !== '' && !NOT_OURS.test(path)).sort()
}

/** Reads text files; what is binary or has just been deleted is left out. */
export function readFiles(paths: readonly string[]): SourceFile[] {
  const files: SourceFile[] = []
  for (const path of paths) {
    const full = join(ROOT, path)
    if (!existsSync(full)) continue
    const text = readFileSync(full, 'utf8')
    if (!text.includes('\0')) files.push({ path, text })
  }
  return files
}

export const isSource = (path: string): boolean => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path)
export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path)
