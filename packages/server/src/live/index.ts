import type { Server } from 'node:http'
import type { App } from '../create-app.ts'
import type { ServerParts } from '../server-parts.ts'
import { mountFollow } from './follow-routes.ts'
import { mountPort } from './port-routes.ts'
import { mountSessions } from './session-routes.ts'
import { createSockets } from './sockets.ts'
import { mountStreams } from './stream-routes.ts'
import { startSweeper } from './sweeper.ts'
import { mountViewTokens } from './view-token-route.ts'
import { createWorkspaces, type Workspaces } from './workspaces.ts'

const LAG_MS = 5000

/** Sockets and background work of a server. */
export interface Live {
  /** Accepts sockets on an HTTP server, at this path. */
  attach(server: Server, path: string): void
  /** Ends sockets and background work; clients reconnect. */
  close(): Promise<void>
}

/** Sockets, server-sent events, streams and sessions. */
export function mountLive(app: App, parts: ServerParts): Live {
  const sockets = createSockets(parts)
  const workspaces = createWorkspaces(parts, sockets.broadcaster)
  mountFollow(app, parts, (workspace) => workspaces.of(workspace))
  mountPort(app)
  mountSessions(app)
  mountStreams(app)
  mountViewTokens(app, parts)
  sockets.open({
    hold: ({ workspaceId }) => workspaces.of(workspaceId).relay.hold(),
    catchUp: (address, tell) => workspaces.of(address.workspaceId).relay.catchUp(address, tell),
  })
  const stopSweeper = startSweeper(parts)
  const stopWatch = watchLag(workspaces, parts)
  return {
    attach: sockets.attach,
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
      (error: unknown) => log.warn({ err: error }, 'the lag of followers cannot be read'),
    )
  }
  const timer = setInterval(look, LAG_MS)
  timer.unref()
  return () => clearInterval(timer)
}
