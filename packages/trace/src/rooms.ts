/** Room names. Ids are encoded, so that none can reach into another workspace or kind of room. */
export const sessionRoom = (workspaceId: string, sessionId: string): string =>
  roomName('session', workspaceId, sessionId)
export const streamRoom = (workspaceId: string, streamId: string): string =>
  roomName('stream', workspaceId, streamId)

const roomName = (kind: RoomKind, workspaceId: string, id: string): string =>
  `ws:${encodeURIComponent(workspaceId)}:${kind}:${encodeURIComponent(id)}`

export type RoomKind = 'session' | 'stream'

export interface RoomAddress {
  readonly kind: RoomKind
  readonly workspaceId: string
  readonly id: string
}

/** Null for a text that is no room name; joining it is rejected. */
export function parseRoom(room: string): RoomAddress | null {
  const [, workspace, kind, id] = /^ws:([^:]+):(session|stream):([^:]+)$/.exec(room) ?? []
  if (workspace === undefined || id === undefined) return null
  try {
    const address: RoomAddress = {
      kind: kind as RoomKind,
      workspaceId: decodeURIComponent(workspace),
      id: decodeURIComponent(id),
    }
    return roomName(address.kind, address.workspaceId, address.id) === room ? address : null
  } catch {
    return null
  }
}
