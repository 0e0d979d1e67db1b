import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from 'node:sqlite'
import { ClewError } from '@clew/ledger'
import { resultOf } from './errors.ts'

/**
 * A process proves that it lives by an exclusive lock on a file of its own. The system frees the lock when the
 * process ends, however it ends, so a free lock immediately proves the owner dead (R9). SQLite's own locking is used,
 * which works on every system Node has and separates several connections within one process.
 */
export interface OwnerLocks {
  /** Takes this owner's lock; true the first time. */
  hold(): boolean
  /** True only if the lock file exists and no process holds its lock. */
  isDead(owner: string): boolean
  /** Removes the lock files of dead owners that no lease names any more. */
  sweep(needed: ReadonlySet<string>): void
  /** Frees the lock. Its file stays when leases still name this owner: free, it proves that they are orphans. */
  release(isNamed: () => boolean): void
}

/** SQLite's codes for a file that went away under it, and for one that is not there to be opened. */
const IO_ERROR = 10
const CANNOT_OPEN = 14
/** A sweep holds a lock for less than a millisecond. */
const MAX_TRIES = 1000

const taken = (file: string): ClewError =>
  new ClewError('store_locked', `The lock file ${file} is held by somebody else`, 'Try again.', { file })

/** To be opened only if it is there. */
function existing(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'rw')
  return url
}

function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.birthtimeNs}`
}

/** While it is locked, or its owner could begin to live in between; where the system lets go of open files. */
function removeLocked(file: string, lock: DatabaseSync): void {
  if (process.platform === 'win32') lock.close()
  rmSync(file, { force: true })
  if (process.platform !== 'win32') lock.close()
}

export function createOwnerLocks(databasePath: string, self: string): OwnerLocks {
  const folder = `${databasePath}-owners`
  const fileOf = (owner: string): string => join(folder, `${owner}.lock`)
  let held: DatabaseSync | undefined

  function tryLock(file: string | URL): DatabaseSync | undefined {
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

  /**
   * The lock of another owner, if it is free: then that one is dead. Its file is never made here, and the lock counts
   * only while the file is still the one that stands under its name: others may have removed and made it meanwhile.
   */
  function lockOf(owner: string): DatabaseSync | undefined {
    const file = fileOf(owner)
    const before = owner === self ? undefined : identityOf(file)
    if (before === undefined) return undefined
    try {
      const free = tryLock(existing(file))
      if (!free || identityOf(file) === before) return free
      free.close()
      return undefined
    } catch (error) {
      // Another process removes the file at this moment: it has found the owner dead already.
      if (resultOf(error) === IO_ERROR || resultOf(error) === CANNOT_OPEN) return undefined
      throw error
    }
  }

  /** Until the file is locked, a sweep may take it for a dead owner's and remove it. */
  function lockOwn(): DatabaseSync | undefined {
    const own = tryLock(fileOf(self))
    if (own && existsSync(fileOf(self))) return own
    own?.close()
    return undefined
  }

  return {
    hold() {
      if (held) return false
      mkdirSync(folder, { recursive: true })
      for (let tries = 1; !held; tries++)
        try {
          held = lockOwn()
          if (!held && tries >= MAX_TRIES) throw taken(fileOf(self))
        } catch (error) {
          if (resultOf(error) !== IO_ERROR || tries >= MAX_TRIES) throw error
        }
      return true
    },
    isDead(owner) {
      const free = lockOf(owner)
      free?.close()
      return free !== undefined
    },
    sweep(needed) {
      if (!existsSync(folder)) return
      for (const file of readdirSync(folder)) {
        const owner = file.replace(/\.lock$/, '')
        const free = file.endsWith('.lock') && !needed.has(owner) ? lockOf(owner) : undefined
        if (!free) continue
        removeLocked(fileOf(owner), free)
      }
    },
    release(isNamed) {
      if (!held) return
      if (isNamed()) held.close()
      else removeLocked(fileOf(self), held)
      held = undefined
    },
  }
}
