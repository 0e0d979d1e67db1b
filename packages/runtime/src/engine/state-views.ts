import { ClewError, type Ledger, type Pause, type RunState, type RunSummary } from '@clew/ledger'
import {
  findCheckpoint,
  parentOf,
  readLine,
  readThread,
  type RecordedCheckpoint,
} from '../checkpointer/read-checkpoints.ts'
import { type KeptCheckpoint, checkpointLookupOf } from '../checkpointer/checkpoint-lookup.ts'
import type { Channels } from '../graph/channel.ts'
import type { State } from '../graph/merge-writes.ts'
import { setOwn } from '../graph/frozen-copy.ts'
import { findThreadHead } from './find-thread-head.ts'

/**
 * Run to read: the newest of a thread, or one by its id. Your own checkpointer is queried by thread, so a process that did
 * not make the run has to pass its thread, too.
 */
export type GraphPlace =
  | { readonly threadId: string }
  | { readonly runId: string; readonly threadId?: string | undefined }

/** Checkpoint of the run; default: the newest. */
export interface CheckpointChoice {
  /** Checkpoint of this superstep, or the last one before it if it has none. */
  readonly superstep?: number | undefined
  readonly checkpointId?: string | undefined
}

/** The state of a graph at one of its checkpoints; frozen. */
export interface StateView<State = Readonly<Record<string, unknown>>> {
  readonly state: State
  readonly superstep: number
  /** The nodes that run next; empty where the run had come to its end. */
  readonly next: readonly string[]
  readonly createdAt: string
  readonly checkpointId: string
  readonly runId: string
  readonly threadId: string | null
  /** Open questions, where the run waits at this checkpoint. */
  readonly pauses: readonly Pause[]
  readonly versions: Readonly<Record<string, number>>
}

export interface CheckpointView<State = Readonly<Record<string, unknown>>> extends StateView<State> {
  readonly parentId: string | null
}

/** The newest run of a thread, or the run itself; null when there is none. */
export async function findHead(ledger: Ledger, place: GraphPlace): Promise<RunSummary | null> {
  if ('runId' in place) {
    if (place.threadId !== undefined) checkpointLookupOf(ledger)?.know(place.runId, place.threadId)
    return ledger.getRun(place.runId)
  }
  return findThreadHead(ledger, place.threadId)
}

export async function readState(
  ledger: Ledger,
  channels: Channels,
  place: GraphPlace,
  choice: CheckpointChoice = {},
): Promise<StateView | null> {
  assertChoice(choice)
  const run = await findHead(ledger, place)
  if (!run) return null
  const lookup = checkpointLookupOf(ledger)
  if (lookup && (choice.superstep !== undefined || choice.checkpointId !== undefined)) {
    const kept = await lookup.find(run, choice)
    return kept && keptView(channels, run, kept)
  }
  if (choice.checkpointId !== undefined) return stateAt(ledger, channels, run, choice.checkpointId)
  const folded = await ledger.getState(run.runId, { superstep: choice.superstep })
  return folded && toView(channels, run, folded)
}

async function stateAt(
  ledger: Ledger,
  channels: Channels,
  run: RunSummary,
  checkpointId: string,
): Promise<StateView | null> {
  const event = await findCheckpoint(ledger, checkpointId)
  if (!event) return null
  const owner = event.correlationId === run.runId ? run : await ledger.getRun(event.correlationId)
  if (!owner || (owner.runId !== run.runId && !(await isRelated(ledger, run, owner, event.ledger.seq))))
    return null
  const folded = await ledger.getStateAt(owner.runId, event.ledger.seq)
  return folded && toView(channels, owner, folded)
}

/** A checkpoint of another run counts when it is one of the same thread, or of the prefix that a fork shares. */
async function isRelated(ledger: Ledger, run: RunSummary, owner: RunSummary, seq: number): Promise<boolean> {
  if (run.threadId !== null && owner.threadId === run.threadId) return true
  let at: RunSummary | null = run
  while (at?.forkedFrom && at.runId !== owner.runId) {
    if (seq > at.forkedFrom.seq) return false
    at = await ledger.getRun(at.forkedFrom.runId)
  }
  return at?.runId === owner.runId
}

export async function readCheckpoint(
  ledger: Ledger,
  channels: Channels,
  checkpointId: string,
): Promise<CheckpointView | null> {
  const event = await findCheckpoint(ledger, checkpointId)
  const run = event && (await ledger.getRun(event.correlationId))
  if (!run) return null
  const folded = await ledger.getStateAt(run.runId, event.ledger.seq)
  return folded && { ...toView(channels, run, folded), parentId: await parentOf(ledger, event) }
}

/** Oldest first, and a tree by `parentId`; of a thread all its turns and forks, of a fork also what it shares with its source. */
export async function* readHistory(
  ledger: Ledger,
  channels: Channels,
  place: GraphPlace,
): AsyncGenerator<CheckpointView> {
  const lookup = checkpointLookupOf(ledger)
  if (lookup) {
    const run = await findHead(ledger, place)
    if (!run?.threadId) return
    for await (const kept of lookup.list(run.threadId))
      if (!('runId' in place) || kept.runId === place.runId)
        yield { ...keptView(channels, run, kept), parentId: kept.parentId }
    return
  }
  const view = (each: RecordedCheckpoint, run: RunSummary | null): CheckpointView => ({
    ...toView(channels, run, each),
    runId: each.runId,
    threadId: each.threadId,
    parentId: each.parentId,
  })
  const head = await findHead(ledger, place)
  if (!head) return
  const all = 'runId' in place ? readLine(ledger, head) : readThread(ledger, place.threadId)
  let run: RunSummary | null = head
  for await (const each of all) {
    if (each.runId !== run?.runId) run = await ledger.getRun(each.runId)
    yield view(each, run)
  }
}

function toView(channels: Channels, run: RunSummary | null, folded: RunState): StateView {
  const { state, superstep, next, createdAt, versions, checkpointId } = folded
  return {
    state: withInitials(channels, state),
    superstep,
    next,
    createdAt,
    checkpointId: checkpointId ?? '',
    runId: run?.runId ?? '',
    threadId: run?.threadId ?? null,
    pauses: run?.checkpoint?.id === checkpointId ? run.pauses : [],
    versions,
  }
}

function keptView(channels: Channels, run: RunSummary, kept: KeptCheckpoint): StateView {
  const { id, runId, threadId, state, superstep, next, createdAt, versions } = kept
  const pauses = run.runId === runId && run.checkpoint?.id === id ? run.pauses : []
  return {
    state: withInitials(channels, state),
    superstep,
    next,
    createdAt,
    checkpointId: id,
    runId,
    threadId,
    pauses,
    versions,
  }
}

/** Adds the initial values of channels without writes. The folded state is frozen already. */
function withInitials(channels: Channels, folded: State): State {
  const state: Record<string, unknown> = {}
  for (const [name, { initial }] of Object.entries(channels))
    setOwn(state, name, Object.hasOwn(folded, name) ? folded[name] : initial)
  return Object.freeze(state)
}

export function assertChoice({ superstep, checkpointId }: CheckpointChoice): void {
  if (superstep !== undefined && checkpointId !== undefined)
    throw new ClewError(
      'bad_option',
      'Both a superstep and a checkpoint id were given',
      'Name the checkpoint by one of them.',
    )
}
