import { rmSync, statSync } from 'node:fs'
import { type Ports, type ProgressStore, notifyAll } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { resultOf } from './errors.ts'
import { makeFile } from './make-file.ts'
import type { OpenDatabaseOptions } from './open-database.ts'
import { openProgressFile, type ProgressFile } from './progress-file.ts'

/** SQLite's codes for a damaged file and for one that is no database: it is replaced, since notes are short-lived. */
const BROKEN: ReadonlySet<number | undefined> = new Set([11, 26])
const POLL_MS = 20

/**
 * Live progress (T4) in a second file beside the ledger. The file can be deleted at any time, also while processes use
 * it: the next put or read makes a new one.
 */
export function createProgress(
  { file, retry }: Connection,
  ports: Pick<Ports, 'randomHex'>,
  { readOnly = false }: OpenDatabaseOptions,
): {
  readonly progress: ProgressStore
  close(): void
} {
  const path = `${file}-progress`
  const wakes = new Set<() => void>()
  let opened: ProgressFile | undefined
  let timer: NodeJS.Timeout | undefined
  let seen = ''

  function closeFile(): void {
    opened?.close()
    opened = undefined
  }

  function open(): ProgressFile | undefined {
    const inode = statSync(path, { throwIfNoEntry: false })?.ino
    if (opened && opened.inode === inode) return opened
    closeFile()
    if (readOnly && inode === undefined) return undefined
    if (inode === undefined) makeFile(path, file)
    opened = openProgressFile(path, readOnly, Number.parseInt(ports.randomHex(3), 16))
    return opened
  }

  /** Runs `work` on the file; `without` is the answer if there is none. A broken file is replaced once. */
  function using<T>(work: (file: ProgressFile) => T, without: T): Promise<T> {
    let mayReplace = !readOnly
    const attempt = (): T => {
      try {
        const found = open()
        return found ? work(found) : without
      } catch (error) {
        if (!mayReplace || !BROKEN.has(resultOf(error))) throw error
        mayReplace = false
        closeFile()
        rmSync(path, { force: true })
        return attempt()
      }
    }
    return retry(path, attempt)
  }

  function poll(): void {
    let mark = seen
    try {
      mark = open()?.mark() ?? ''
    } catch {
      // The listener that is woken reads, and its read reports the same error.
      mark = `${seen}?`
    }
    if (mark === seen) return
    seen = mark
    notifyAll(wakes)
  }

  const progress: ProgressStore = {
    async put(notes, nowMs) {
      await using((found) => found.put(notes, nowMs), undefined)
      notifyAll(wakes)
    },
    read: (range) => using((found) => found.read(range), { notes: [], cursor: range.after ?? '' }),
    clear: (key, stepId) => using((found) => found.clear(key, stepId), undefined),
    watch(wake) {
      wakes.add(wake)
      timer ??= setInterval(poll, POLL_MS)
      return () => {
        wakes.delete(wake)
        if (wakes.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
  return {
    progress,
    close() {
      clearInterval(timer)
      closeFile()
    },
  }
}
