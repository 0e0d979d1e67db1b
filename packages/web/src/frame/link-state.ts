import type { LinkState } from '@clew/react'
import { useEffect, useSyncExternalStore } from 'react'

interface Link {
  readonly state: LinkState
  /** When it was last live. */
  readonly liveAt: string | null
}

let link: Link = { state: 'connecting', liveAt: null }
const listeners = new Set<() => void>()

/** A view that follows something says how that goes; the strip below the top bar shows it. */
export function useTellLink(state: LinkState): void {
  useEffect(() => {
    if (state === link.state) return
    const liveAt = link.state === 'live' ? new Date().toISOString() : link.liveAt
    link = { state, liveAt }
    for (const listener of listeners) listener()
  }, [state])
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useLink = (): Link => useSyncExternalStore(subscribe, () => link)
