/** Limits per caller; `startServer({ limits })` overrides single ones. */
export interface Limits {
  /** Bytes of a body as they are sent, and after they are unpacked. */
  readonly bodyBytes: number
  readonly unpackedBytes: number
  /** Requests of one principal: so many a second on average, so many at once after a rest. */
  readonly requestsPerSecond: number
  readonly requestBurst: number
  /** Wrong tokens from one address: so many a second on average, so many at once. */
  readonly failuresPerSecond: number
  readonly failureBurst: number
  /** Appends that wait for their commit; beyond it writers are told to come back. */
  readonly waitingAppends: number
  /** Open connections, sockets and streams included. */
  readonly connections: number
  /** Sockets that one principal has open, and rooms that one socket is in. */
  readonly socketsPerPrincipal: number
  readonly roomsPerSocket: number
  /** A client of a stream that has taken nothing for so long is cut, in milliseconds. */
  readonly streamStallMs: number
  /** Until the whole request has arrived, in milliseconds. */
  readonly requestTimeoutMs: number
  /** A trace of OpenTelemetry without an end, to which nothing came for so long, is interrupted, in milliseconds. */
  readonly traceQuietMs: number
  /** How long requests in flight get when the server closes, in milliseconds. */
  readonly graceMs: number
}

const MB = 1024 * 1024

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 * MB,
  unpackedBytes: 64 * MB,
  requestsPerSecond: 500,
  requestBurst: 2000,
  failuresPerSecond: 1,
  failureBurst: 20,
  waitingAppends: 20_000,
  connections: 10_000,
  socketsPerPrincipal: 2000,
  roomsPerSocket: 100,
  streamStallMs: 30_000,
  requestTimeoutMs: 60_000,
  traceQuietMs: 15 * 60_000,
  graceMs: 10_000,
}
