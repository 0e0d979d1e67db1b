import { rmSync, statSync } from 'node:fs'
import { type Ports, type ProgressStore, wakeAll } from '@clew/ledger'
import type { Connection } from './connection.ts'
import { isBusy, resultOf, storeError } from './errors.ts'
import { makeFile } from './make-file.ts'
import type { OpenDatabaseOptions } from './open-database.ts'
import { openProgressFile, type ProgressFile } from './progress-file.ts'

/** Damaged, or no database at all: nothing in it is worth more than the trouble. */
const BROKEN: ReadonlySet<number | undefined> = new Set([11, 26])
const POLL_MS = 20

/**
 * T4 in a second file beside the ledger. It can be deleted at any time, also while processes use it: the next who
 * puts or reads finds it gone and goes on with a new one.
 */
export function createProgress(
  { file, url, waitMs, assertOpen }: Connection,
  ports: Pick<Ports, 'sleep' | 'randomHex'>,
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

  /** Waits for others without blocking the event loop; a broken file is replaced once. */
  async function using<T>(work: (file: ProgressFile) => T, without: T): Promise<T> {
    const deadline = performance.now() + waitMs
    let mayReplace = !readOnly
    for (;;) {
      assertOpen()
      try {
        const found = open()
        return found ? work(found) : without
      } catch (error) {
        if (mayReplace && BROKEN.has(resultOf(error))) {
          mayReplace = false
          closeFile()
          rmSync(path, { force: true })
        } else if (!isBusy(error) || performance.now() > deadline) throw storeError(url, error, path)
        else await ports.sleep(Math.random() * 3)
      }
    }
  }

  function poll(): void {
    let mark = seen
    try {
      mark = open()?.mark() ?? ''
    } catch {
      // Whoever is woken reads, and meets the same error where it can be told.
      mark = `${seen}?`
    }
    if (mark === seen) return
    seen = mark
    wakeAll(wakes)
  }

  const progress: ProgressStore = {
    async put(notes, nowMs) {
      await using((found) => found.put(notes, nowMs), undefined)
      wakeAll(wakes)
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
