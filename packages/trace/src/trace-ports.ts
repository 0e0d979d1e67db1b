import type { Fetch } from './remote-port.ts'

/** Platform functions of a `TraceEmitter`; `clew` provides Node's, a page its own. */
export interface TracePorts {
  now(): number
  /** As many random bytes as asked for, as hex. */
  randomHex(bytes: number): string
  /** Calls once, later; gives back how to call it off. Keeps no process alive. */
  after(ms: number, task: () => void): () => void
  /** Keeps the process alive meanwhile. */
  sleep(ms: number): Promise<void>
  fetch: Fetch
}
