import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VARIABLE = 'NODE_COMPILE_CACHE'

/**
 * Tests start hundreds of processes, and vitest one for each file: they compile a module once for all of them. Removed
 * with the run, for many of these modules lie in folders that come and go.
 */
export function setup(): void {
  if (process.env[VARIABLE] !== undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'clew-compiled-'))
  process.env[VARIABLE] = folder
  // Not in a teardown: workers end after it, and write what they have compiled.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}
