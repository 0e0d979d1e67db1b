import type { Server } from 'node:http'
import type { App } from '../create-app.ts'
import type { ServerParts } from '../server-parts.ts'
import { mountFollow } from './follow-routes.ts'
import { mountPort } from './port-routes.ts'
import { mountSessions } from './session-routes.ts'
import { createSockets } from './sockets.ts'
import { mountStreams } from './stream-routes.ts'
import { startSweeper } from './sweeper.ts'
import { createWorkspaces, type Workspaces } from './workspaces.ts'

const LAG_MS = 5000

/** Part with a lifetime: closed with the server. */
export interface Live {
  /** Lets go of sockets and streams, with a hint to come back. */
  close(): Promise<void>
}

/** Sockets, server-sent events, streams and sessions. */
export function mountLive(app: App, server: Server, parts: ServerParts): Live {
  const sockets = createSockets(server, parts)
  const workspaces = createWorkspaces(parts, sockets.speaker)
  mountFollow(app, parts, (workspace) => workspaces.of(workspace))
  mountPort(app)
  mountSessions(app)
  mountStreams(app)
  sockets.open({
    hold: ({ workspaceId }) => workspaces.of(workspaceId).relay.hold(),
    catchUp: (address, tell) => workspaces.of(address.workspaceId).relay.catchUp(address, tell),
  })
  const stopSweeper = startSweeper(parts)
  const stopWatch = watchLag(workspaces, parts)
  return {
    async close() {
      stopSweeper()
      stopWatch()
      await sockets.close()
    },
  }
}

function watchLag(workspaces: Workspaces, { metrics, log }: ServerParts): () => void {
  const look = (): void => {
    workspaces.lag().then(
      (events) => metrics.followerLag.set(events),
      (error: unknown) => log.warn({ err: error }, 'how far followers are behind cannot be told'),
    )
  }
  const timer = setInterval(look, LAG_MS)
  timer.unref()
  return () => clearInterval(timer)
}
