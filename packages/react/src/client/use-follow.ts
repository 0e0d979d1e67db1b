import type { ClewEvent } from '@clew/ledger'
import { useEffect, useState } from 'react'
import { follow, type FollowRequest, type LinkState } from './follow.ts'
import { useClient } from './provider.tsx'
import { useLatest } from './use-latest.ts'

export type FollowOptions = Pick<FollowRequest, 'path' | 'query' | 'after' | 'by'> & {
  /** False: do not follow (yet). */
  readonly enabled?: boolean | undefined
}

/** Calls `onEvents` with the events of a path as they come, from `after` on; `after` is only read when following begins. */
export function useFollow(
  { path, query, after, by, enabled = true }: FollowOptions,
  onEvents: (events: readonly ClewEvent[]) => void,
): LinkState {
  const client = useClient()
  const [state, setState] = useState<LinkState>('connecting')
  const told = useLatest(onEvents)
  const begin = useLatest(() => ({ query, after }))
  useEffect(() => {
    if (!enabled) return undefined
    return follow(client, { path, by, ...begin(), onEvents: (events) => told(events), onState: setState })
  }, [client, path, by, enabled])
  return state
}
