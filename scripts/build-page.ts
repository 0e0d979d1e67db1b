import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { isStale } from './is-stale.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BUILT = 'packages/web/dist/index.html'
const SOURCES = [
  'packages/web/{index.html,package.json,vite.config.ts}',
  'packages/web/{src,public}/**/*',
  'packages/{react,trace,ledger}/src/**/*',
  'package-lock.json',
]

/** Builds the page when one of its sources is newer than it; true when it is there. */
export function buildPage(): boolean {
  if (!isStale(ROOT, BUILT, SOURCES)) return true
  console.error('Building the page …')
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(ROOT, 'packages/web'),
    stdio: ['ignore', 2, 2],
  })
  return status === 0
}
