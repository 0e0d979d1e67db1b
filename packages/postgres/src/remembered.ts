import type { RunDraft, RunKey, RunSummary, StepSkeleton } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import type { Row } from './sql.ts'

const RUNS = 5000
const STEPS_OF_RUN = 1000
const SCOPES = 20_000
const NODES = 200_000

/** A run's row as it was last seen or written here. */
export interface StoredHead extends RunDraft {
  id: number
  forkOf: { id: number; seq: number } | null
  epoch: number
  held: boolean
  revision: number
  status: string
  dueAt: string | null
  dueMs: number | null
  /** Unknown until something was appended here. */
  lastEventId: string | undefined
  /** Some of its steps, the last ones touched. */
  readonly steps: Map<string, StepSkeleton>
}

export const keyOf = ({ workspace, runId }: RunKey): string => `${workspace}\n${runId}`
export const stepKeyOf = (stepId: string, attempt: number): string => `${attempt} ${stepId}`
export const nodeKeyOf = (scope: number, hash: string): string => `${scope} ${hash}`

/**
 * What is remembered between appends. Heads and steps may be wrong when somebody else has written: the statement
 * checks each head it builds on. Scopes never change; nodes may go, and then the revision of their scope is another, which
 * a statement that refers to such as stand already checks as well.
 */
export interface Remembered {
  run(key: string): StoredHead | undefined
  keepRun(run: StoredHead): void
  forgetRun(key: string): void
  scope(key: string): number | undefined
  keepScope(key: string, id: number): void
  node(key: string): number | undefined
  keepNode(key: string, id: number): void
  /** Of the scope whose nodes are remembered here; undefined when it was never read. */
  revision(scope: number): number | undefined
  /** Nodes that were remembered of another revision, or of one that nobody knew, may be gone. */
  keepRevision(scope: number, revision: number): void
  forgetScope(scope: number): void
  /** An id for a scope or node that nobody else has; undefined when more must be fetched. */
  nextId(): number | undefined
  addIds(first: number, count: number): void
  idsLeft(): number
}

export function createRemembered(): Remembered {
  const runs = new Map<string, StoredHead>()
  const scopes = new Map<string, number>()
  const nodes = new Map<string, Map<string, number>>()
  const revisions = new Map<number, number>()
  let nodeCount = 0
  const scopeOf = (key: string): string => key.slice(0, key.indexOf(' '))
  function forgetScope(scope: number): void {
    nodeCount -= nodes.get(String(scope))?.size ?? 0
    nodes.delete(String(scope))
    revisions.delete(scope)
  }
  const blocks: { next: number; end: number }[] = []
  return {
    run: (key) => runs.get(key),
    keepRun(run) {
      const key = keyOf(run)
      runs.delete(key)
      if (runs.size >= RUNS) runs.delete(runs.keys().next().value as string)
      for (const step of run.steps.keys()) {
        if (run.steps.size <= STEPS_OF_RUN) break
        run.steps.delete(step)
      }
      runs.set(key, run)
    },
    forgetRun: (key) => void runs.delete(key),
    scope: (key) => scopes.get(key),
    keepScope(key, id) {
      if (scopes.size >= SCOPES) scopes.clear()
      scopes.set(key, id)
    },
    node: (key) => nodes.get(scopeOf(key))?.get(key),
    keepNode(key, id) {
      if (nodeCount >= NODES) {
        nodes.clear()
        revisions.clear()
        nodeCount = 0
      }
      const own = nodes.get(scopeOf(key)) ?? new Map<string, number>()
      nodes.set(scopeOf(key), own)
      nodeCount += own.has(key) ? 0 : 1
      own.set(key, id)
    },
    revision: (scope) => revisions.get(scope),
    keepRevision(scope, revision) {
      if (revisions.get(scope) === revision) return
      forgetScope(scope)
      if (revisions.size >= SCOPES) {
        revisions.clear()
        nodes.clear()
        nodeCount = 0
      }
      revisions.set(scope, revision)
    },
    forgetScope,
    nextId() {
      const block = blocks[0]
      if (!block) return undefined
      const id = block.next++
      if (block.next === block.end) blocks.shift()
      return id
    },
    addIds: (first, count) => void blocks.push({ next: first, end: first + count }),
    idsLeft: () => blocks.reduce((left, block) => left + block.end - block.next, 0),
  }
}

/** Also from JSON, in which bytes are text. */
export function toHead(row: Row): StoredHead {
  const summary = JSON.parse(row['summary'] as string) as RunSummary
  return {
    id: row['id'] as number,
    workspace: row['workspace'] as string,
    runId: row['run_id'] as string,
    scope: row['scope'] as number,
    forkOf: row['fork_of'] === null ? null : { id: row['fork_of'] as number, seq: row['fork_seq'] as number },
    seq: row['seq'] as number,
    hash: hexOf(row['hash']),
    recordedAt: row['recorded_at'] as string,
    summary,
    epoch: row['epoch'] as number,
    held: row['held'] as boolean,
    revision: row['revision'] as number,
    status: row['status'] as string,
    dueAt: summary.dueAt,
    dueMs: row['due_ms'] as number | null,
    lastEventId: undefined,
    steps: new Map(),
  }
}

/** Values are shared within a thread, or within a run that has none (L8). */
export const scopeName = (runId: string, threadId: string | null): string =>
  threadId === null ? `run ${runId}` : `thread ${threadId}`
