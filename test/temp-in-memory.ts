import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'clew-'
const MIN_FREE_BYTES = 4 * 2 ** 30

/**
 * Puts temporary files into memory where the system has a file system for that: half of the time of tests on SQLite files is
 * waiting for the disk, and no test takes the power away. A TMPDIR that is set stays.
 */
export function setup(): void {
  if (process.env['TMPDIR'] !== undefined || freeBytes() < MIN_FREE_BYTES) return
  removeLeftovers()
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  mkdirSync(folder)
  // As /tmp: some tests start processes of another user.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize
  } catch {
    // No such file system here.
    return 0
  }
}

/** Folders of runs that were killed would stay in memory. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY))
    if (name.startsWith(PREFIX) && !isAlive(Number(name.slice(PREFIX.length))))
      rmSync(join(MEMORY, name), { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
