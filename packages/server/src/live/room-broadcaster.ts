import { parseRoom } from '@clew/trace'
import { cut, isSlow } from './backlogs.ts'
import type { LiveSpace } from './sockets.ts'

/** Sends messages to socket rooms; each payload is serialized once for all sockets. */
export interface RoomBroadcaster {
  hasListeners(room: string): boolean
  /** Sends to all sockets of the room. A socket that falls too far behind is disconnected and catches up on reconnect. */
  send(room: string, name: string, payload: object): void
  /** Sends only to the sockets of the room that are not slow. */
  sendReady(room: string, name: string, payload: object): void
  /** Closes the connections of all sockets in rooms of this workspace; clients reconnect automatically. */
  cut(workspace: string): void
}

/**
 * Does what `io.to(room).emit(name, payload)` does, an eighth cheaper per socket: the WebSocket frame is built once per
 * room, as one buffer for one write, and slow sockets can be skipped.
 */
export function createRoomBroadcaster(space: LiveSpace): RoomBroadcaster {
  const { rooms } = space.adapter

  function sendTo(room: string, name: string, payload: object, isSparing: boolean): void {
    const listeners = rooms.get(room)
    if (!listeners) return
    const text = `${EVENT}${JSON.stringify([name, payload])}`
    const options = { compress: false, wsPreEncodedFrame: [frameOf(`${MESSAGE}${text}`)] }
    for (const id of listeners) {
      const socket = space.sockets.get(id)
      if (socket && !(isSparing && isSlow(socket))) socket.conn.write(text, options)
    }
  }

  return {
    hasListeners: (room) => rooms.has(room),
    send: (room, name, payload) => sendTo(room, name, payload, false),
    sendReady: (room, name, payload) => sendTo(room, name, payload, true),
    cut(workspace) {
      for (const socket of space.sockets.values())
        if ([...socket.rooms].some((room) => parseRoom(room)?.workspaceId === workspace)) cut(socket)
    },
  }
}

/** Types of packets: of socket.io in its main namespace, and of engine.io around it. */
const EVENT = '2'
const MESSAGE = '4'

/** One text frame as a server sends it: final, unmasked (RFC 6455, section 5.2). */
function frameOf(text: string): Buffer {
  const size = Buffer.byteLength(text)
  const head = size < 126 ? 2 : size < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + size)
  frame[0] = 0x81
  if (head === 2) frame[1] = size
  else if (head === 4) {
    frame[1] = 126
    frame.writeUInt16BE(size, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(size), 2)
  }
  frame.write(text, head)
  return frame
}
