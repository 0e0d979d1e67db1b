import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { resultOf } from './errors.ts'

/**
 * A process proves that it lives by an exclusive lock on a file of its own. The system frees the lock when the
 * process ends, however it ends, so a free lock proves the owner dead at once (R9). SQLite's own locking is used,
 * which works on every system Node has and keeps apart several connections within one process.
 */
export interface OwnerLocks {
  /** Takes this owner's lock; true the first time. */
  hold(): boolean
  /** True only when the lock file is there and nobody holds it. */
  isDead(owner: string): boolean
  /** Removes the lock files of dead owners that nobody asks about any more. */
  sweep(needed: ReadonlySet<string>): void
  /** Frees the lock. Its file stays when leases still name this owner: free, it proves that they are orphans. */
  release(isNamed: () => boolean): void
}

export function createOwnerLocks(databasePath: string, self: string): OwnerLocks {
  const folder = `${databasePath}-owners`
  const fileOf = (owner: string): string => join(folder, `${owner}.lock`)
  let held: DatabaseSync | undefined

  function tryLock(file: string): DatabaseSync | undefined {
    const db = new DatabaseSync(file, { timeout: 0 })
    try {
      db.exec('BEGIN EXCLUSIVE')
      return db
    } catch (error) {
      db.close()
      if (resultOf(error) === 5) return undefined
      throw error
    }
  }

  function isDead(owner: string): boolean {
    if (owner === self || !existsSync(fileOf(owner))) return false
    const free = tryLock(fileOf(owner))
    free?.close()
    return free !== undefined
  }

  return {
    hold() {
      if (held) return false
      mkdirSync(folder, { recursive: true })
      held = tryLock(fileOf(self))
      return true
    },
    isDead,
    sweep(needed) {
      if (!existsSync(folder)) return
      for (const file of readdirSync(folder)) {
        const owner = file.replace(/\.lock$/, '')
        if (file.endsWith('.lock') && !needed.has(owner) && isDead(owner))
          rmSync(fileOf(owner), { force: true })
      }
    },
    release(isNamed) {
      if (!held) return
      held.close()
      held = undefined
      if (!isNamed()) rmSync(fileOf(self), { force: true })
    },
  }
}
