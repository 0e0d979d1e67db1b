import { parseRoom } from '@clew/trace'
import type { ServerParts } from '../server-parts.ts'
import { catchUp, type RoomSource } from './socket-rooms.ts'
import type { LiveSocket } from './sockets.ts'

/** Clients with unread messages; progress is not sent to them. */
const slow = new WeakSet<LiveSocket>()

export const isSlow = (socket: LiveSocket): boolean => slow.has(socket)

const LOOK_MS = 50
/** Backlog of a client at which progress is skipped, and at which it is disconnected. */
const SPARE = { packets: 16, characters: 256 * 1024 }
const MAX_BACKLOG = { packets: 2000, characters: 8 * 1024 * 1024 }

interface Packet {
  readonly data?: unknown
}

/** Disconnects clients whose backlog exceeds its limit, so that slow ones hold up no others. Returns a function that stops it. */
export function watchBacklogs(
  sockets: ReadonlyMap<string, LiveSocket>,
  source: RoomSource,
  { log }: Pick<ServerParts, 'log'>,
): () => void {
  function look(socket: LiveSocket): void {
    // The only sign of how much waits; engine.io has no public one.
    const packets = Reflect.get(socket.conn, 'writeBuffer') as readonly Packet[]
    if (packets.length === 0 && !isSlow(socket)) return
    const backlog = { packets: packets.length, characters: charactersOf(packets) }
    if (isOver(backlog, MAX_BACKLOG)) {
      log.warn(backlog, 'a socket was cut, for it does not read')
      cut(socket)
    } else if (isOver(backlog, SPARE)) slow.add(socket)
    else if (slow.delete(socket)) void recover(socket)
  }

  async function recover(socket: LiveSocket): Promise<void> {
    for (const room of socket.rooms) {
      const address = parseRoom(room)
      if (address) await catchUp(socket, address, source, log)
    }
  }

  const timer = setInterval(() => {
    for (const socket of sockets.values()) look(socket)
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const isOver = (backlog: typeof MAX_BACKLOG, most: typeof MAX_BACKLOG): boolean =>
  backlog.packets > most.packets || backlog.characters > most.characters

const charactersOf = (packets: readonly Packet[]): number =>
  packets.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0)

/** Ends the connection without a word, so that the client comes back by itself, and frees what waits for it. */
export function cut(socket: LiveSocket): void {
  const { conn } = socket
  const { transport } = conn
  conn.close(true)
  // A close that is only asked for waits behind all that the client does not read.
  const raw = Reflect.get(transport, 'socket') as { terminate?: () => void } | undefined
  raw?.terminate?.()
}
