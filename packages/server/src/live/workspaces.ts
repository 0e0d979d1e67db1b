import type { ServerParts } from '../server-parts.ts'
import { createFeed, type Feed } from './feed.ts'
import { createSharedPages, type LineSource } from './follow-lines.ts'
import { createProgressFeed, type ProgressFeed } from './progress-feed.ts'
import { createRoomRelay, type RoomRelay } from './room-relay.ts'
import type { RoomBroadcaster } from './room-broadcaster.ts'
import { createTail } from './tail.ts'

/** All that is live in one workspace, fed by one follower of its ledger. */
export interface LiveWorkspace {
  readonly feed: Feed
  readonly lines: LineSource
  readonly progress: ProgressFeed
  readonly relay: RoomRelay
}

/** Limit of cached feeds without listeners; callers choose the names. */
const MAX_IDLE = 1000

export interface Workspaces {
  of(workspace: string): LiveWorkspace
  /** Largest number of committed and not yet sent events over all workspaces, counted up to a thousand. */
  lag(): Promise<number>
}

const MAX_COUNTED = 1000

export function createWorkspaces(
  parts: Pick<ServerParts, 'ledgerOf' | 'log'>,
  broadcaster: RoomBroadcaster,
): Workspaces {
  const all = new Map<string, LiveWorkspace>()

  function create(workspace: string): LiveWorkspace {
    const ledger = parts.ledgerOf(workspace)
    const feed = createFeed(ledger, parts.log)
    const lines = { ledger, tail: createTail(feed), pages: createSharedPages(ledger) }
    return {
      feed,
      lines,
      progress: createProgressFeed(ledger, parts.log),
      relay: createRoomRelay(ledger, feed, broadcaster, parts.log),
    }
  }

  function dropIdle(): void {
    for (const [name, { feed }] of all) if (feed.listeners === 0) all.delete(name)
  }

  async function lagOf({ feed, lines: { ledger } }: LiveWorkspace): Promise<number> {
    let events = 0
    if (feed.listeners === 0) return events
    for await (const _ of ledger.follow({ afterPosition: feed.position, live: false }))
      if (++events === MAX_COUNTED) break
    return events
  }

  return {
    of(workspace) {
      const known = all.get(workspace)
      if (known) return known
      if (all.size >= MAX_IDLE) dropIdle()
      const live = create(workspace)
      all.set(workspace, live)
      return live
    },
    lag: async () => Math.max(0, ...(await Promise.all([...all.values()].map(lagOf)))),
  }
}
