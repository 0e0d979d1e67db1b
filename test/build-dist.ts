import { resolve } from 'node:path'
import { bundlePackages } from '../scripts/build.ts'
import { isStale } from '../scripts/is-stale.ts'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = [
  'packages/*/{package.json,tsconfig.json}',
  'packages/*/src/**/*.{ts,tsx}',
  'package-lock.json',
]

/** Processes that tests start run what is published: from `dist` a start costs a third of one from source. */
export async function setup(): Promise<void> {
  if (isStale(ROOT, 'packages/clew/dist/main.js', SOURCES)) await bundlePackages()
}
