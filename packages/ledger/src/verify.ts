import { chainHash, GENESIS, payloadHash } from './chain.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Ports } from './ports.ts'
import type { RunKey, Store, StoredEvent, StoredRun } from './store.ts'
import { hashOfBody, rootOfBody } from './tree.ts'

export interface Problem {
  readonly runId: string
  readonly seq: number | null
  readonly problem: ProblemKind
  readonly detail: string
}
export type ProblemKind =
  | 'changed'
  | 'missing'
  | 'misplaced'
  | 'truncated'
  | 'head_mismatch'
  | 'run_missing'
  | 'projection_differs'
  | 'bad_signature'

export interface Verification {
  readonly ok: boolean
  readonly checked: number
  readonly problems: readonly Problem[]
}

const PAGE = 500

export interface RunVerifier {
  /** Problems of one run's own events; `onEvents` is told how many were looked at. */
  verifyRun(run: StoredRun, onEvents?: (count: number) => void): Promise<Problem[]>
}

/** Recomputes everything from the bytes that are stored; trusts no cached hash (L6). */
export function createRunVerifier(
  store: Store,
  reader: PayloadReader,
  ports: Pick<Ports, 'sha256'>,
): RunVerifier {
  const { sha256 } = ports
  /** Node ids are never reused and nodes never change, so a recomputed hash holds for the whole pass. */
  const nodeHashes = new Map<number, string>()

  async function rootOf(body: string): Promise<string> {
    if (body.startsWith('{')) return rootOfBody(sha256, body, () => '')
    const nodes = await reader.nodesBelow(body)
    const hashOf = (id: number): string => {
      let hash = nodeHashes.get(id)
      if (hash === undefined) {
        const node = nodes.get(id)
        hash = node ? hashOfBody(sha256, node.body, hashOf) : 'missing'
        nodeHashes.set(id, hash)
      }
      return hash
    }
    return rootOfBody(sha256, body, hashOf)
  }

  async function checkEvent(event: StoredEvent, previous: string): Promise<string | undefined> {
    if (event.body === null || event.salt === null) {
      if (!event.erased) return 'its payload is gone and no erasure says why'
    } else {
      const recomputed = payloadHash(sha256, event.salt, await rootOf(event.body))
      if (recomputed !== event.payloadHash) return 'its payload is not the one that was recorded'
    }
    const hash = chainHash(sha256, previous, event, event)
    return hash === event.hash ? undefined : 'its envelope or its link to the event before it was changed'
  }

  async function previousOf(run: StoredRun): Promise<string | undefined> {
    if (!run.forkOf) return GENESIS
    const key = { workspace: run.workspace, runId: run.forkOf.runId }
    const [last] = await store.readRun(key, {
      afterSeq: run.forkOf.seq - 1,
      upToSeq: run.forkOf.seq,
      limit: 1,
    })
    return last?.hash
  }

  return {
    async verifyRun(run, onEvents) {
      const { runId } = run.summary
      const key: RunKey = { workspace: run.workspace, runId }
      const problems: Problem[] = []
      const add = (seq: number | null, problem: ProblemKind, detail: string): void =>
        void problems.push({ runId, seq, problem, detail })

      let seq = run.forkOf?.seq ?? 0
      let previous = await previousOf(run)
      if (previous === undefined) {
        add(seq, 'missing', `the event it was forked from (seq ${seq} of run ${run.forkOf?.runId}) is gone`)
        previous = ''
      }
      for (;;) {
        const page = await store.readRun(key, { afterSeq: seq, limit: PAGE })
        for (const event of page) {
          if (event.seq !== seq + 1) {
            const range =
              event.seq === seq + 2 ? `event ${seq + 1} is` : `events ${seq + 1} to ${event.seq - 1} are`
            add(seq + 1, 'missing', `${range} not there`)
          } else {
            const wrong = await checkEvent(event, previous)
            if (wrong !== undefined) add(event.seq, 'changed', wrong)
          }
          seq = event.seq
          previous = event.hash
        }
        onEvents?.(page.length)
        if (page.length < PAGE) break
      }
      if (seq < run.seq)
        add(seq + 1, 'truncated', `the run's head is at ${run.seq}, its last event at ${seq}`)
      else if (seq > run.seq) add(run.seq + 1, 'misplaced', `events stand after the run's head at ${run.seq}`)
      else if (previous !== run.hash) add(seq, 'head_mismatch', "the last event's hash is not the run's head")
      return problems
    },
  }
}
