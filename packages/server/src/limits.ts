/** Limits of a server; `startServer({ limits })` changes single ones. */
export interface Limits {
  /** Bytes of an ingested body as sent, and decompressed. */
  readonly bodyBytes: number
  readonly unpackedBytes: number
  /** Bytes of the JSON body of every other route, which is parsed on the event loop. */
  readonly jsonBytes: number
  /** Ingested bodies that the thread for large bodies has in hand; further ones get 429. */
  readonly largeBodies: number
  /** Requests of one principal: average per second, and burst. */
  readonly requestsPerSecond: number
  readonly requestBurst: number
  /** Wrong tokens from one address: average per second, and burst. Valid tokens are not affected. */
  readonly failuresPerSecond: number
  readonly failureBurst: number
  /** Appends that wait for their commit; beyond it a write gets 503. */
  readonly waitingAppends: number
  /** Open connections, sockets and streams included. */
  readonly connections: number
  /** Open sockets of one principal, and rooms of one socket. */
  readonly socketsPerPrincipal: number
  readonly roomsPerSocket: number
  /** A client that has read nothing of its stream for this long is cut. */
  readonly streamStallMs: number
  /** Time for the whole body of a request to arrive. */
  readonly requestTimeoutMs: number
  /** A trace of OpenTelemetry without a root span is interrupted after this long without a span. */
  readonly traceQuietMs: number
  /** Time for requests in flight when the server closes. */
  readonly graceMs: number
}

const MB = 1024 * 1024

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 * MB,
  unpackedBytes: 64 * MB,
  jsonBytes: 2 * MB,
  largeBodies: 16,
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

/** Decompressed bytes of a body where no other thread reads it: parsing blocks the event loop. */
export const MAX_UNTHREADED_BYTES = 16 * MB
