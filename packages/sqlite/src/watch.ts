import type { StatementSync } from 'node:sqlite'
import { notifyAll } from '@clew/ledger'

/** Asking costs 2.5 µs; watching the file instead misses commits (L7). */
const POLL_MS = 20

export interface Watch {
  add(wake: () => void): () => void
  /** Called by this process after its own commits, which do not change `data_version`. */
  notify(): void
  close(): void
}

export function createWatch(dataVersion: StatementSync): Watch {
  const wakes = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let seen: unknown

  const current = (): unknown => dataVersion.get()?.[0]

  function notify(): void {
    notifyAll(wakes)
  }

  function poll(): void {
    let version: unknown
    try {
      version = current()
    } catch {
      // An error here would have no catcher: the woken reader reads, and meets the same error where it can be
      // reported.
    }
    if (version === seen && version !== undefined) return
    seen = version
    notify()
  }

  return {
    add(wake) {
      wakes.add(wake)
      if (!timer) {
        seen = current()
        timer = setInterval(poll, POLL_MS)
      }
      return () => {
        wakes.delete(wake)
        if (wakes.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    notify,
    close() {
      clearInterval(timer)
      timer = undefined
      notify()
    },
  }
}
