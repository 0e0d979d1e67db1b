/**
 * Functions of the environment that the pure ledger needs, passed in so that the same code runs in Node, in a browser
 * and under a test's own clock and random source. Digests and random bytes are lower-case hex text: the hash format
 * is defined on text, so any language can check it with nothing but a sha256.
 */
export interface Ports {
  /** sha256 of the text's UTF-8 bytes, as 64 hex characters. */
  sha256(text: string): string
  /** As many random bytes as asked for, as hex. */
  randomHex(bytes: number): string
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `task` in a later turn of the event loop: the moment at which a group of appends is committed. */
  defer(task: () => void): void
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  context: AsyncContext
}

/** The async context that carries the causing event through awaits (L9). */
export interface AsyncContext {
  run<T>(causationId: string, fn: () => T): T
  current(): string | undefined
}
