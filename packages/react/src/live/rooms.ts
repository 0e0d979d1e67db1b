import type { TraceMessage, TraceEventName } from '@clew/trace'
import type { Socket } from 'socket.io-client'
import type { Client } from '../client/client.ts'
import type { LinkState } from '../client/follow.ts'

export interface RoomListener {
  /** Receives messages of all rooms that the page has joined; the payload names the room. */
  onTold(told: TraceMessage): void
  /** The room was joined, or joined again: fetch now, later changes arrive as messages (T3). */
  onJoined(): void
  onState(state: LinkState): void
}

export interface Rooms {
  /** Listens, then joins; gives back how to leave. */
  enter(room: string, listener: RoomListener): () => void
}

type Answer = { readonly ok: boolean }

/** A join that is not answered in this time must not keep a page from fetching; it is asked again. */
const JOIN_MS = 5000
const GONE_MS = 30_000
/** The client was informed that the socket could not be opened. */
const ignore = (): void => undefined

/** Address of a server's sockets, below its path. socket.io would take the path of a URL for a namespace. */
export function socketAddress(url: string): { readonly origin: string; readonly path: string } {
  const parts = /^(https?:\/\/[^/]+)?(.*)$/.exec(url)
  return { origin: parts?.[1] ?? '', path: `${(parts?.[2] ?? '').replace(/\/$/, '')}/socket.io` }
}

/** All rooms of a page over one socket, which is opened with the first of them. */
function createRooms({ url, token }: Client): Rooms {
  const entered = new Map<string, Set<RoomListener>>()
  let opening: Promise<Socket> | undefined
  let closing: ReturnType<typeof setTimeout> | undefined

  const listeners = (): RoomListener[] => [...entered.values()].flatMap((each) => [...each])

  async function open(): Promise<Socket> {
    const { io } = await import('socket.io-client')
    const { origin, path } = socketAddress(url)
    const auth = token === undefined ? {} : { auth: { token } }
    const socket = io(origin, { path, transports: ['websocket'], ...auth })
    socket.onAny((name: TraceEventName, payload: TraceMessage['payload']) => {
      for (const listener of listeners()) listener.onTold({ name, payload } as TraceMessage)
    })
    // The server forgets rooms with the connection: all of them are joined again.
    socket.on('connect', () => {
      for (const [room, inside] of entered) void join(socket, room, [...inside])
    })
    const lost = (): void => {
      for (const listener of listeners()) listener.onState('broken')
    }
    socket.on('disconnect', lost)
    socket.on('connect_error', lost)
    return socket
  }

  async function join(socket: Socket, room: string, asking: readonly RoomListener[]): Promise<void> {
    let answer: Answer | null = null
    try {
      answer = (await socket.timeout(JOIN_MS).emitWithAck('join', room)) as Answer
    } catch {
      // No answer in time; a lost connection joins again by itself.
    }
    const still = asking.filter((listener) => entered.get(room)?.has(listener))
    for (const listener of still) {
      listener.onState(answer?.ok === true ? 'live' : 'broken')
      listener.onJoined()
    }
    if (answer === null && socket.connected && still.length > 0) await join(socket, room, still)
  }

  function leave(room: string, listener: RoomListener): void {
    const inside = entered.get(room)
    inside?.delete(listener)
    if (inside?.size !== 0) return
    entered.delete(room)
    opening?.then((socket) => socket.connected && socket.emit('leave', room), ignore)
    if (entered.size > 0) return
    // Delayed, because going from one view to the next enters a room again immediately.
    closing = setTimeout(() => {
      opening?.then((socket) => socket.disconnect(), ignore)
      opening = undefined
    }, GONE_MS)
  }

  return {
    enter(room, listener) {
      clearTimeout(closing)
      listener.onState('connecting')
      const inside = entered.get(room)
      if (inside) inside.add(listener)
      else entered.set(room, new Set([listener]))
      opening ??= open()
      opening.then(
        (socket) =>
          socket.connected && entered.get(room)?.has(listener) ? join(socket, room, [listener]) : undefined,
        () => {
          // The code for it did not arrive: what is there is shown, and the next one who enters tries again.
          opening = undefined
          listener.onState('broken')
          listener.onJoined()
        },
      )
      return () => leave(room, listener)
    },
  }
}

const known = new WeakMap<Client, Rooms>()

/** One socket per client, shared by all rooms. */
export function roomsOf(client: Client): Rooms {
  const rooms = known.get(client) ?? createRooms(client)
  known.set(client, rooms)
  return rooms
}
