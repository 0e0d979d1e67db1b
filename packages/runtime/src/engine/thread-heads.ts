import type { Ledger } from '@clew/ledger'
import type { GraphState } from './graph-state.ts'

/** Cached end of a thread's last run in this process. */
export interface ThreadHead {
  readonly runId: string
  /** Seq of the event that carries the checkpoint. */
  readonly seq: number
  readonly graph: GraphState
  readonly depth: number
}

const MAX_HEADS = 200
const heads = new WeakMap<Ledger, Map<string, ThreadHead>>()

/**
 * States of threads in memory, so that a turn costs what it adds. Only a short cut: what the ledger says of the thread's
 * newest run decides whether it still holds.
 */
export function rememberHead(
  ledger: Ledger,
  structureHash: string,
  threadId: string,
  head: ThreadHead,
): void {
  const known = heads.get(ledger) ?? new Map<string, ThreadHead>()
  heads.set(ledger, known)
  const key = `${structureHash} ${threadId}`
  known.delete(key)
  known.set(key, head)
  if (known.size > MAX_HEADS) for (const oldest of known.keys()) return void known.delete(oldest)
}

export function recallHead(
  ledger: Ledger,
  structureHash: string,
  threadId: string,
  runId: string,
  seq: number,
): ThreadHead | undefined {
  const head = heads.get(ledger)?.get(`${structureHash} ${threadId}`)
  return head?.runId === runId && head.seq === seq ? head : undefined
}
