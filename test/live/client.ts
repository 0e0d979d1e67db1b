import {
  EMPTY_SESSION,
  type LiveSession,
  mergeSession,
  type SessionDetail,
  sessionRoom,
  streamRoom,
  type TraceMessage,
  TRACE_EVENTS,
} from '@clew/trace'
import { io, type Socket } from 'socket.io-client'

export interface TestClient {
  readonly socket: Socket
  /** All that was told, in its order. */
  readonly heard: TraceMessage[]
  join(room: string): Promise<JoinAnswer>
  leave(room: string): Promise<JoinAnswer>
  /** Resolves with the first thing heard, now or later, that fits. */
  hear(fits: (told: TraceMessage) => boolean): Promise<TraceMessage>
  close(): void
}

export type JoinAnswer = { ok: true } | { ok: false; error: { code: string; message: string } }

export interface ClientOptions {
  readonly token?: string | undefined
  readonly transports?: readonly ('websocket' | 'polling')[] | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A socket that has connected, or the error that it was refused with. */
export async function connect(url: string, options: ClientOptions = {}): Promise<TestClient> {
  const client = createClient(url, options)
  await new Promise<void>((resolve, reject) => {
    client.socket.once('connect', resolve)
    client.socket.once('connect_error', (error) => {
      client.close()
      reject(error)
    })
  })
  return client
}

export function createClient(url: string, options: ClientOptions = {}): TestClient {
  const { token, transports = ['websocket'], headers = {} } = options
  const socket = io(url, {
    forceNew: true,
    transports: [...transports],
    reconnectionDelay: 50,
    reconnectionDelayMax: 200,
    extraHeaders: { ...headers },
    ...(token !== undefined && { auth: { token } }),
  })
  const heard: TraceMessage[] = []
  const waiting = new Set<(told: TraceMessage) => void>()
  for (const name of TRACE_EVENTS)
    socket.on(name, (payload: TraceMessage['payload']) => {
      const told = { name, payload } as TraceMessage
      heard.push(told)
      for (const look of waiting) look(told)
    })
  return {
    socket,
    heard,
    join: (room) => socket.timeout(30_000).emitWithAck('join', room) as Promise<JoinAnswer>,
    leave: (room) => socket.timeout(30_000).emitWithAck('leave', room) as Promise<JoinAnswer>,
    hear: (fits) =>
      new Promise((resolve) => {
        const before = heard.find(fits)
        if (before) return resolve(before)
        const look = (told: TraceMessage): void => {
          if (!fits(told)) return
          waiting.delete(look)
          resolve(told)
        }
        waiting.add(look)
      }),
    close: () => void socket.disconnect(),
  }
}

export interface SessionPage {
  readonly client: TestClient
  /** What the page shows now. */
  readonly state: () => LiveSession
  /** How often it fetched: once, and after each reconnect. */
  readonly fetches: () => number
  close(): void
}

/** T3 as a page does it: listen, join, then fetch; again after every reconnect. */
export function openSessionPage(url: string, workspaceId: string, sessionId: string): SessionPage {
  const client = createClient(url)
  let state = EMPTY_SESSION
  let fetches = 0
  for (const name of TRACE_EVENTS)
    client.socket.on(name, (payload: TraceMessage['payload']) => {
      state = mergeSession(state, { name, payload } as TraceMessage)
    })

  async function bootstrap(): Promise<void> {
    const joined = await client.join(sessionRoom(workspaceId, sessionId))
    if (!joined.ok) throw new Error(joined.error.message)
    const response = await fetch(`${url}/api/workspaces/${workspaceId}/agent-sessions/${sessionId}`)
    const detail = response.ok ? ((await response.json()) as SessionDetail) : undefined
    if (detail) state = mergeSession(state, detail)
    fetches++
  }
  client.socket.on('connect', () => {
    // A server that dies in between is come back to by the next connect.
    bootstrap().catch(() => undefined)
  })
  return { client, state: () => state, fetches: () => fetches, close: client.close }
}

export { sessionRoom, streamRoom }
