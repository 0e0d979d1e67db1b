import { findRun, findSeals } from '../store/find-runs.ts'
import { chainHash, GENESIS, payloadHash } from '../hash/chain.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import { checkRemovals, type RunMarks } from '../removal/check-removals.ts'
import type { Removals } from '../removal/read-removals.ts'
import type { RemovedRange } from '../removal/removed-range.ts'
import type { PrunedRange } from '../retention/pruned.ts'
import type { RunKey, Store, StoredEvent, StoredRun } from '../store/store.ts'
import { hashOfBody, rootOfBody } from '../hash/tree.ts'

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
  | 'forged_seal'
  | 'unrecorded'
  | 'restored'
  | 'stray_row'
  | 'stray_vault_row'
  | 'unreadable_vault_row'

export interface Verification {
  readonly ok: boolean
  readonly checked: number
  readonly problems: readonly Problem[]
  /** Ranges that retention took, each named by an audit event: these are not missing. */
  readonly pruned: readonly PrunedRange[]
}

const PAGE = 500
/** Recomputed hashes of shared values that are kept: about 30 MB. */
const MAX_NODE_HASHES = 200_000
const noNode = (): string => 'missing'

export interface RunVerifier {
  /** Problems of one run's own events; `onEvents` gets the number of events of each page. */
  verifyRun(
    run: StoredRun,
    recorded: RecordedRemovals,
    onEvents?: (count: number) => void,
  ): Promise<RunVerdict>
}

/** Recorded removals of the run, and its rows that mark events as removed. */
export interface RecordedRemovals {
  readonly removals: Removals
  readonly marks: RunMarks | undefined
}

export interface RunVerdict {
  readonly problems: Problem[]
  readonly pruned: readonly PrunedRange[]
  /** Recorded ranges whose events were found in this run. */
  readonly fitting: readonly RemovedRange[]
}

/** Recomputes everything from the stored bytes; trusts no stored hash (L6). */
export function createRunVerifier(
  store: Store,
  reader: PayloadReader,
  ports: Pick<Ports, 'sha256'>,
): RunVerifier {
  const { sha256 } = ports
  /** Node ids are never reused and nodes never change, so a recomputed hash holds for the whole pass. */
  const nodeHashes = new Map<number, string>()

  function rootOf(body: string | null): string | null | Promise<string> {
    if (body === null) return null
    return body[0] === '{' ? rootOfBody(sha256, body, noNode) : rootOfTree(body)
  }

  async function rootOfTree(body: string): Promise<string> {
    const nodes = await reader.nodesBelow(body)
    const hashOf = (id: number): string => {
      let hash = nodeHashes.get(id)
      if (hash === undefined) {
        const node = nodes.get(id)
        if (nodeHashes.size >= MAX_NODE_HASHES) nodeHashes.clear()
        hash = node ? hashOfBody(sha256, node.body, hashOf) : 'missing'
        // Under a wrong hash the value would be shared with later payloads that hold another one.
        if (node && node.hash !== hash) hash = 'stored under another hash'
        nodeHashes.set(id, hash)
      }
      return hash
    }
    return rootOfBody(sha256, body, hashOf)
  }

  /** Problem of an event, given the root hash of its stored payload, or null if the payload was deleted. */
  function findFault(
    event: StoredEvent,
    root: string | null,
    previous: string | undefined,
  ): string | undefined {
    if (root === null || event.salt === null) {
      if (!event.erased) return 'its payload is gone, and no row of erasures or pruned_states says why'
    } else if (payloadHash(sha256, event.salt, root) !== event.payloadHash)
      return 'its payload is not the one that was recorded'
    if (previous === undefined || chainHash(sha256, previous, event, event) === event.hash) return undefined
    return 'its envelope or its link to the event before it was changed'
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
    async verifyRun(run, { removals, marks }, onEvents) {
      const { runId } = run.summary
      const key: RunKey = { workspace: run.workspace, runId }
      const problems: Problem[] = []
      const add = (at: number | null, problem: ProblemKind, detail: string): void =>
        void problems.push({ runId, seq: at, problem, detail })

      let seq = run.forkOf?.seq ?? 0
      let position = 0
      /** Undefined behind a gap: then the link cannot be judged, only the payload. */
      let previous = await previousOf(run)
      const seals = await findSeals(store, key)
      const removed = checkRemovals(run, removals, seals, marks)
      // A fork whose own beginning was pruned no longer depends on its source.
      if (previous === undefined && !removed.sealAt(seq + 1))
        add(seq, 'missing', `the event it was forked from (seq ${seq} of run ${run.forkOf?.runId}) is gone`)

      /** The chain continues after a seal from the hash that the seal names. */
      function passSeals(upToSeq: number): void {
        for (
          let seal = removed.sealAt(seq + 1);
          seal && seal.toSeq <= upToSeq;
          seal = removed.sealAt(seq + 1)
        ) {
          seq = seal.toSeq
          previous = seal.headHash
        }
      }

      async function checkPages(): Promise<void> {
        for (let size = PAGE; size === PAGE; ) {
          const page = await store.readRun(key, { afterSeq: seq, limit: PAGE })
          for (const event of page) {
            passSeals(event.seq - 1)
            if (event.seq !== seq + 1) {
              const last = event.seq - 1
              add(
                seq + 1,
                'missing',
                last === seq + 1
                  ? `event ${last} is not there`
                  : `events ${seq + 1} to ${last} are not there`,
              )
              previous = undefined
            }
            if (event.position <= position)
              add(event.seq, 'misplaced', 'its position is before that of the event before it')
            removed.see(event)
            // Awaited only where something is read: that keeps a pass over small events near the bare speed.
            const root = rootOf(event.body)
            const fault = findFault(event, root instanceof Promise ? await root : root, previous)
            if (fault !== undefined) add(event.seq, 'changed', fault)
            seq = event.seq
            position = event.position
            previous = event.hash
          }
          size = page.length
          onEvents?.(size)
        }
        passSeals(Number.MAX_SAFE_INTEGER)
      }

      // Writers may be at work. The head is read after the events it must match, so it can only be ahead of them;
      // where it is, the events in between must be there by now.
      await checkPages()
      let head = (await findRun(store, key)) ?? run
      if (head.seq > seq) {
        const { seq: known } = head
        await checkPages()
        if (seq < known) add(seq + 1, 'truncated', `the run's head is at ${known}, its last event at ${seq}`)
        head = (await findRun(store, key)) ?? run
      }
      if (seq > head.seq) add(head.seq + 1, 'misplaced', `events stand after the run's head at ${head.seq}`)
      else if (seq === head.seq && previous !== head.hash)
        add(seq, 'head_mismatch', "the last event's hash is not the run's head")
      const { faults, pruned, fitting } = removed.end()
      const isReported = new Set(problems.map((problem) => problem.seq))
      // A payload without even a row that covers it is reported once.
      const others = faults
        .filter(({ fault, seq: at }) => fault !== 'unrecorded' || !isReported.has(at))
        .map(({ seq: at, fault, detail }): Problem => ({ runId, seq: at, problem: fault, detail }))
      const all = [...others, ...problems].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
      return { problems: all, pruned, fitting }
    },
  }
}
