import type { Server } from 'node:http'
import { ClewError } from '@clew/ledger'
import { type Namespace, Server as SocketServer, type Socket } from 'socket.io'
import { errorBody } from '../error-answer.ts'
import { may, type Principal } from '../principal.ts'
import type { ServerParts } from '../server-parts.ts'
import { cut, watchBacklogs } from './backlogs.ts'
import { type ClientEvents, type RoomSource, serveRooms } from './socket-rooms.ts'
import { createRoomBroadcaster, type RoomBroadcaster } from './room-broadcaster.ts'

type ServerEvents = Record<string, (payload: object) => void>
interface SocketData {
  principal: Principal
}
export type LiveSocket = Socket<ClientEvents, ServerEvents, object, SocketData>
export type LiveSpace = Namespace<ClientEvents, ServerEvents, object, SocketData>

export interface Sockets {
  readonly broadcaster: RoomBroadcaster
  /** Admits clients. */
  open(source: RoomSource): void
  /** Accepts sockets on an HTTP server, once. */
  attach(server: Server, path: string): void
  close(): Promise<void>
}

const SOCKET_OPTIONS = {
  serveClient: false,
  // Clients only join and leave rooms.
  maxHttpBufferSize: 64 * 1024,
  connectTimeout: 10_000,
  perMessageDeflate: false,
  httpCompression: false,
}

export function createSockets(parts: ServerParts): Sockets {
  const { principals, limits, metrics, log } = parts
  const io = new SocketServer<ClientEvents, ServerEvents, object, SocketData>(SOCKET_OPTIONS)
  let isAttached = false
  const space = io.of('/')
  const perPrincipal = new Map<string, number>()

  async function admit(socket: LiveSocket): Promise<void> {
    const { headers, auth, address } = socket.handshake
    const token: unknown = auth['token']
    const principal = await principals.admit({
      method: 'GET',
      header: (name) => [headers[name]].flat()[0],
      token: typeof token === 'string' ? token : undefined,
      address,
    })
    if (!may(principal, 'read'))
      throw new ClewError('forbidden', 'Listening needs the scope read', 'Use a token that has it.', {
        scope: 'read',
      })
    if ((perPrincipal.get(principal.id) ?? 0) >= limits.socketsPerPrincipal)
      throw new ClewError(
        'rate_limited',
        `${principal.name} has ${limits.socketsPerPrincipal} sockets open`,
        'Close some; one socket can be in many rooms.',
        { sockets: limits.socketsPerPrincipal },
      )
    socket.data.principal = principal
  }

  function count({ id }: Principal, change: 1 | -1): void {
    const sockets = (perPrincipal.get(id) ?? 0) + change
    if (sockets > 0) perPrincipal.set(id, sockets)
    else perPrincipal.delete(id)
    metrics.sockets.inc(change)
  }

  function welcome(socket: LiveSocket, source: RoomSource): void {
    const { principal } = socket.data
    count(principal, 1)
    // After `disconnect(true)` a client does not reconnect by itself.
    const unwatch = principals.watch(principal, () => socket.disconnect(true))
    const letGo = serveRooms(socket, source, parts)
    socket.on('disconnect', () => {
      unwatch()
      letGo()
      count(principal, -1)
    })
    // Several may have been admitted concurrently, before any of them was counted.
    if ((perPrincipal.get(principal.id) ?? 0) > limits.socketsPerPrincipal) socket.disconnect(true)
  }

  /** Why a client is not admitted; undefined if it is. */
  async function refusalOf(socket: LiveSocket): Promise<Error | undefined> {
    try {
      await admit(socket)
      return undefined
    } catch (error) {
      if (!(error instanceof ClewError)) log.error({ err: error }, 'a socket could not be admitted')
      const { error: data } = errorBody(error)
      return Object.assign(new Error(data.message), { data })
    }
  }
  io.use((socket, next) => void (async () => next(await refusalOf(socket)))())

  let unwatch = (): void => {}
  return {
    broadcaster: createRoomBroadcaster(space),
    open(source) {
      io.on('connection', (socket) => welcome(socket, source))
      unwatch = watchBacklogs(space.sockets, source, parts)
    },
    attach(server, path) {
      if (isAttached)
        throw new ClewError(
          'bad_option',
          'Sockets are attached to another HTTP server already',
          'Create a server of Clew for each HTTP server.',
          {},
        )
      isAttached = true
      io.attach(server, { ...SOCKET_OPTIONS, path })
    },
    async close() {
      unwatch()
      for (const socket of space.sockets.values()) cut(socket)
      if (isAttached) io.engine.close()
      await space.adapter.close()
    },
  }
}
