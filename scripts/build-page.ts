import { spawnSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const BUILT = join(ROOT, 'packages/web/dist/index.html')
const SOURCES = [
  'packages/web/{index.html,package.json,vite.config.ts}',
  'packages/web/{src,public}/**/*',
  'packages/{react,trace,ledger}/src/**/*',
  'package-lock.json',
]

/** Builds the page when one of its sources is newer than it; true when it is there. */
export function buildPage(): boolean {
  const builtMs = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isStale = globSync(SOURCES, { cwd: ROOT }).some(
    (file) => statSync(join(ROOT, file)).mtimeMs > builtMs,
  )
  if (!isStale) return true
  console.error('Building the page …')
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(ROOT, 'packages/web'),
    stdio: ['ignore', 2, 2],
  })
  return status === 0
}
