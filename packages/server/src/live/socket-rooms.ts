import { ClewError } from '@clew/ledger'
import { parseRoom, type RoomAddress } from '@clew/trace'
import { showsRun, showsStream } from '../assert-shown.ts'
import { type ErrorBody, errorBody } from '../error-answer.ts'
import { mayEnter, type Principal } from '../principal.ts'
import type { ServerParts } from '../server-parts.ts'
import type { LiveSocket } from './sockets.ts'

/** Answer to a client that joins or leaves a room. */
export type RoomAnswer = { readonly ok: true } | ({ readonly ok: false } & ErrorBody)
type Acknowledge = (answer: RoomAnswer) => void

/** A room and a function for the answer; clients may send anything in their place. */
export interface ClientEvents {
  join(...sent: unknown[]): void
  leave(...sent: unknown[]): void
}

export type Tell = (name: string, payload: object) => void

/** Source of the messages of a room: its workspace is followed while a socket is in it. */
export interface RoomSource {
  /** Resolves when everything committed from then on is sent to the room. Returns how to release it. */
  hold(address: RoomAddress): Promise<() => void>
  /** Sends the progress of running steps, which is not stored. */
  catchUp(address: RoomAddress, tell: Tell): Promise<void>
}

/** Serves joins and leaves of one socket, one after the other. Returns how to release all its rooms. */
export function serveRooms(
  socket: LiveSocket,
  source: RoomSource,
  parts: Pick<ServerParts, 'limits' | 'log' | 'ledgerOf'>,
): () => void {
  const {
    limits: { roomsPerSocket },
    log,
  } = parts
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

  /** The client is answered on every outcome: it fetches only then. `sent` ends with the function for the answer. */
  async function answer(work: () => Promise<void>, sent: readonly unknown[]): Promise<boolean> {
    let said: RoomAnswer = { ok: true }
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ClewError)) log.error({ err: error }, 'a room could not be joined')
      said = { ok: false, ...errorBody(error) }
    }
    const acknowledge = sent.at(-1)
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

  socket.on('join', (...sent) =>
    inTurn(async () => {
      let address: RoomAddress | undefined
      const isIn = await answer(async () => {
        assertPatient()
        const [room] = sent
        address = await readRoom(room, socket.data.principal, parts)
        await join(room as string, address)
      }, sent)
      if (isIn && address && !isGone) await catchUp(socket, address, source, log)
    }),
  )
  socket.on('leave', (...sent) =>
    inTurn(async () => {
      await answer(async () => {
        const [room] = sent
        await readRoom(room, socket.data.principal, parts)
        await leave(room as string)
      }, sent)
    }),
  )
  return () => {
    isGone = true
    for (const release of held.values()) release()
    held.clear()
  }
}

/** Progress is superseded soon, so a failure here is only logged. */
export async function catchUp(
  socket: LiveSocket,
  address: RoomAddress,
  source: RoomSource,
  log: ServerParts['log'],
): Promise<void> {
  try {
    await source.catchUp(address, (name, payload) => socket.emit(name, payload))
  } catch (error) {
    log.warn({ err: error }, 'progress could not be sent to a client that joined a room')
  }
}

/** A room of another workspace is answered like one with a malformed name. */
async function readRoom(
  given: unknown,
  principal: Principal,
  { ledgerOf }: Pick<ServerParts, 'ledgerOf'>,
): Promise<RoomAddress> {
  const address = typeof given === 'string' && given.length <= 2048 ? parseRoom(given) : null
  if (address && mayEnter(principal, address.workspaceId)) {
    const { kind, id, workspaceId } = address
    const isShown =
      kind === 'stream' ? showsStream(principal, id) : await showsRun(principal, id, ledgerOf(workspaceId))
    if (isShown) return address
  }
  throw new ClewError(
    'not_found',
    'The room does not exist, or this token has no access to it',
    'Make its name with sessionRoom or streamRoom, and use a token of its workspace.',
    {},
  )
}

const tooMany = (what: string): ClewError =>
  new ClewError('rate_limited', what, 'Wait for the answers, leave some rooms, or open another socket.', {})
