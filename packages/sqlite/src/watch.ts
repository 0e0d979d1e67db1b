import type { StatementSync } from 'node:sqlite'
import { wakeAll } from '@clew/ledger'

/** Asking costs 2.5 µs; watching the file instead misses commits (L7). */
const POLL_MS = 20

export interface Watch {
  add(wake: () => void): () => void
  /** Own commits do not show in `data_version`; their writer rings. */
  ring(): void
  close(): void
}

export function createWatch(dataVersion: StatementSync): Watch {
  const wakes = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let seen: unknown

  const current = (): unknown => dataVersion.get()?.[0]

  function ring(): void {
    wakeAll(wakes)
  }

  function poll(): void {
    let version: unknown
    try {
      version = current()
    } catch {
      // Nobody could catch it here: whoever is woken reads, and meets the same error where it can be told.
    }
    if (version === seen && version !== undefined) return
    seen = version
    ring()
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
    ring,
    close() {
      clearInterval(timer)
      timer = undefined
      ring()
    },
  }
}
