import { createLog } from '@clew/server'
import { type RoomAddress, sessionRoom } from '@clew/trace'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchBacklogs } from '../../packages/server/src/live/backlogs.ts'
import type { LiveSocket, LiveSpace } from '../../packages/server/src/live/sockets.ts'
import { createRoomBroadcaster } from '../../packages/server/src/live/room-broadcaster.ts'

const ROOM = sessionRoom('default', 's')

/** As much of a socket as is looked at; what is written waits until `drain`. */
function createSocket(id: string) {
  const conn = {
    writeBuffer: [] as { data: string }[],
    transport: { socket: { terminate: vi.fn() } },
    close: vi.fn(),
    write: (data: string) => void conn.writeBuffer.push({ data }),
  }
  const socket = { id, conn, rooms: new Set([id, ROOM]), emit: vi.fn() }
  return {
    socket: socket as unknown as LiveSocket,
    packets: () => conn.writeBuffer.length,
    drain: () => conn.writeBuffer.splice(0),
    close: conn.close,
    terminate: conn.transport.socket.terminate,
    emit: socket.emit,
  }
}

describe('clients that do not read', () => {
  const [quick, late] = [createSocket('quick'), createSocket('late')]
  const sockets = new Map([quick, late].map(({ socket }) => [socket.id, socket]))
  const space = {
    sockets,
    adapter: { rooms: new Map([[ROOM, new Set(sockets.keys())]]) },
  } as unknown as LiveSpace
  const broadcaster = createRoomBroadcaster(space)
  const catchUp = vi.fn(async (_address: RoomAddress, tell: (name: string, payload: object) => void) => {
    tell('agent_session:step:progress', { version: 7 })
  })
  let stop: () => void
  beforeEach(() => {
    vi.useFakeTimers()
    stop = watchBacklogs(sockets, { hold: async () => () => {}, catchUp }, { log: createLog('silent') })
  })
  afterEach(() => {
    stop()
    vi.useRealTimers()
    for (const each of [quick, late]) each.drain()
    vi.clearAllMocks()
  })
  const look = (): Promise<unknown> => vi.advanceTimersByTimeAsync(60)

  it('T4 are spared progress, but nothing else, and get the newest when they have caught up', async () => {
    for (let i = 0; i < 20; i++) broadcaster.send(ROOM, 'agent_session:step:started', {})
    quick.drain()
    await look()
    broadcaster.sendReady(ROOM, 'agent_session:step:progress', { version: 7 })
    broadcaster.send(ROOM, 'agent_session:step:completed', {})
    expect([quick.packets(), late.packets()]).toEqual([2, 21])
    expect(catchUp).not.toHaveBeenCalled()
    late.drain()
    await look()
    expect(late.emit.mock.calls).toEqual([['agent_session:step:progress', { version: 7 }]])
    expect(quick.emit).not.toHaveBeenCalled()
    broadcaster.sendReady(ROOM, 'agent_session:step:progress', { version: 8 })
    expect(late.packets()).toBe(1)
  })

  it('T3 are cut before much waits for them: by number, and by size', async () => {
    for (let i = 0; i < 2001; i++) broadcaster.send(ROOM, 'agent_session:step:started', {})
    quick.drain()
    await look()
    expect([quick.close.mock.calls.length, late.close.mock.calls.length]).toEqual([0, 1])
    expect(late.terminate).toHaveBeenCalledTimes(1)
    late.drain()
    await look()
    vi.clearAllMocks()
    broadcaster.send(ROOM, 'agent_session:step:completed', { content: 'x'.repeat(9_000_000) })
    quick.drain()
    await look()
    expect([quick.close.mock.calls.length, late.close.mock.calls.length]).toEqual([0, 1])
  })
})
