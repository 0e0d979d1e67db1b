import { ClewError } from '@clew/ledger'
import { parseRoom, type RoomAddress } from '@clew/trace'
import { type ErrorBody, errorBody } from '../error-answer.ts'
import { mayEnter, type Principal } from '../principal.ts'
import type { ServerParts } from '../server-parts.ts'
import type { LiveSocket } from './sockets.ts'

/** Answer to a client that joins or leaves a room. */
export type RoomAnswer = { readonly ok: true } | ({ readonly ok: false } & ErrorBody)
type Acknowledge = (answer: RoomAnswer) => void

export interface ClientEvents {
  join(room: unknown, acknowledge?: Acknowledge): void
  leave(room: unknown, acknowledge?: Acknowledge): void
}

export type Tell = (name: string, payload: object) => void

/** Workspace feed behind a room; it runs while the room has members. */
export interface RoomSource {
  /** Resolves when whatever is committed from then on is told to the room; gives back how to let go of it. */
  hold(address: RoomAddress): Promise<() => void>
  /** Tells what is not stored and was told before: progress of what is running. */
  catchUp(address: RoomAddress, tell: Tell): Promise<void>
}

/** Joins and leaves of one socket, one after the other; gives back how to let go of all its rooms. */
export function serveRooms(
  socket: LiveSocket,
  source: RoomSource,
  { limits: { roomsPerSocket }, log }: Pick<ServerParts, 'limits' | 'log'>,
): () => void {
  const held = new Map<string, () => void>()
  let queue = Promise.resolve()
  let waiting = 0
  let isGone = false

  async function join(room: string, address: RoomAddress): Promise<void> {
    if (held.has(room)) return
    if (held.size >= roomsPerSocket) throw tooMany(`This socket is in ${held.size} rooms already`)
    const release = await source.hold(address)
    if (isGone) return release()
    held.set(room, release)
    await socket.join(room)
  }

  async function leave(room: string): Promise<void> {
    await socket.leave(room)
    held.get(room)?.()
    held.delete(room)
  }

  /** Whatever goes wrong, the client is answered: it fetches only then. */
  async function answer(work: () => Promise<void>, acknowledge: unknown): Promise<boolean> {
    let said: RoomAnswer = { ok: true }
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ClewError)) log.error({ err: error }, 'a room could not be joined')
      said = { ok: false, ...errorBody(error) }
    }
    if (typeof acknowledge === 'function') (acknowledge as Acknowledge)(said)
    return said.ok
  }

  function inTurn(work: () => Promise<void>): void {
    waiting++
    queue = queue.then(work).finally(() => waiting--)
  }

  const assertPatient = (): void => {
    if (waiting > roomsPerSocket) throw tooMany('This socket asked too often at once')
  }

  socket.on('join', (given, acknowledge) =>
    inTurn(async () => {
      let address: RoomAddress | undefined
      const isIn = await answer(async () => {
        assertPatient()
        address = readRoom(given, socket.data.principal)
        await join(given as string, address)
      }, acknowledge)
      if (isIn && address && !isGone) await catchUp(socket, address, source, log)
    }),
  )
  socket.on('leave', (given, acknowledge) =>
    inTurn(async () => {
      await answer(async () => {
        readRoom(given, socket.data.principal)
        await leave(given as string)
      }, acknowledge)
    }),
  )
  return () => {
    isGone = true
    for (const release of held.values()) release()
    held.clear()
  }
}

/** Progress is worth nothing when it is late: what fails here is said to nobody but the log. */
export async function catchUp(
  socket: LiveSocket,
  address: RoomAddress,
  source: RoomSource,
  log: ServerParts['log'],
): Promise<void> {
  try {
    await source.catchUp(address, (name, payload) => socket.emit(name, payload))
  } catch (error) {
    log.warn({ err: error }, 'progress could not be sent to who joined a room')
  }
}

/** Rooms of other workspaces are as little there as such that have no right name. */
function readRoom(given: unknown, principal: Principal): RoomAddress {
  const address = typeof given === 'string' && given.length <= 2048 ? parseRoom(given) : null
  if (address && mayEnter(principal, address.workspaceId)) return address
  throw new ClewError(
    'not_found',
    'The room does not exist, or this token has no access to it',
    'Make its name with sessionRoom or streamRoom, and use a token of its workspace.',
    {},
  )
}

const tooMany = (what: string): ClewError =>
  new ClewError('rate_limited', what, 'Wait for the answers, leave some rooms, or open another socket.', {})
