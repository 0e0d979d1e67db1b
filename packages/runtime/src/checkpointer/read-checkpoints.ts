import {
  checkpointOf,
  type ClewEvent,
  createStateBuilder,
  deepFreeze,
  deriveId,
  type EventInRun,
  isOwn,
  isUuid,
  type Ledger,
  prunedState,
  type RunState,
  type RunSummary,
  type StateBuilder,
  readBeginning,
} from '@clew/ledger'
import { sha256 } from '../machine/run-appender.ts'

/** A checkpoint as a ledger has it. */
export interface RecordedCheckpoint extends RunState {
  readonly checkpointId: string
  readonly parentId: string | null
  /** The run that wrote it. */
  readonly runId: string
  readonly threadId: string | null
  /** Seq of the event that carries the checkpoint. */
  readonly seq: number
}

export const CHECKPOINT_TYPES: readonly string[] = ['execution.step_completed', 'execution.checkpoint']
const BEGINNINGS: readonly string[] = ['system.workflow_started', 'system.workflow_forked']
const PAGE = 100

/** Ids of checkpoints are ids of events; an id of foreign origin gets an event id derived from it. */
export const eventIdOf = (checkpointId: string): string =>
  isUuid(checkpointId) ? checkpointId : deriveId(sha256, 'checkpoint', checkpointId)

/** The event that carries a checkpoint; null when there is none of that id. */
export async function findCheckpoint(ledger: Ledger, checkpointId: string): Promise<ClewEvent | null> {
  const event = await ledger.getEvent(eventIdOf(checkpointId))
  if (event?.ledger.pruned && event.ledger.erased) throw prunedState(event.correlationId, event.ledger.seq)
  return event && checkpointOf(event) ? event : null
}

/** Runs of a thread, oldest first. Lists go from new to old, so only where their pages begin is remembered. */
export async function* readThreadRuns(ledger: Ledger, threadId: string): AsyncGenerator<RunSummary> {
  const newest = await ledger.listRuns({ threadId, limit: PAGE })
  const cursors: string[] = []
  for (let cursor = newest.nextCursor; cursor !== null; ) {
    cursors.push(cursor)
    cursor = (await ledger.listRuns({ threadId, limit: PAGE, cursor })).nextCursor
  }
  for (const cursor of cursors.toReversed())
    yield* (await ledger.listRuns({ threadId, limit: PAGE, cursor })).runs.toReversed()
  // Not read again: runs that began meanwhile would push others out of it.
  yield* newest.runs.toReversed()
}

/** The checkpoints that a run itself wrote, oldest first, each with its state; one state at a time in memory. */
async function* readCheckpoints(ledger: Ledger, run: RunSummary): AsyncGenerator<RecordedCheckpoint> {
  const { runId, threadId, forkedFrom } = run
  const types = [...BEGINNINGS, ...CHECKPOINT_TYPES]
  let parent: Link = NO_LINK
  let builder: StateBuilder | undefined
  for await (const event of ledger.read(runId, { afterSeq: forkedFrom?.seq ?? 0, types })) {
    if (BEGINNINGS.includes(event.eventType)) {
      if (event.correlationId === runId) parent = await linkOf(ledger, event)
      continue
    }
    // Nothing that is kept is folded from what went.
    if (event.ledger.erased && event.ledger.pruned) continue
    builder ??= await openBuilder(ledger, event, parent)
    builder.apply(event)
    const checkpoint = checkpointOf(event)
    if (!checkpoint) continue
    const { id, seq } = checkpoint
    if (!event.ledger.pruned) {
      const folded = deepFreeze(builder.view()) as RunState
      const parentId = parentIdIn(event) ?? parent.checkpointId
      yield { ...folded, checkpointId: id, parentId, runId, threadId, seq }
    }
    parent = { checkpointId: id, at: undefined }
  }
}

/** All checkpoints of a run, oldest first: those that a fork shares with its source, then its own. */
export async function* readLine(
  ledger: Ledger,
  run: RunSummary,
  upToSeq = Number.POSITIVE_INFINITY,
): AsyncGenerator<RecordedCheckpoint> {
  const { forkedFrom } = run
  const source = forkedFrom && (await ledger.getRun(forkedFrom.runId))
  if (source) yield* readLine(ledger, source, Math.min(upToSeq, forkedFrom.seq))
  for await (const each of readCheckpoints(ledger, run)) {
    if (each.seq > upToSeq) return
    yield each
  }
}

/** Checkpoint that a run continues. */
interface Link {
  readonly checkpointId: string | null
  readonly at: EventInRun | undefined
}

const NO_LINK: Link = { checkpointId: null, at: undefined }

async function linkOf(ledger: Ledger, beginning: ClewEvent): Promise<Link> {
  if (isOwn(beginning, 'system.workflow_forked')) {
    const { sourceRunId, sourceSeq } = beginning.payload
    if (sourceRunId === undefined || sourceSeq === undefined) return NO_LINK
    const event = await lastCheckpointUpTo(ledger, sourceRunId, sourceSeq)
    if (event) return { checkpointId: idOf(event), at: { runId: sourceRunId, seq: event.ledger.seq } }
    const first = await readBeginning(ledger, sourceRunId)
    return first?.eventType === 'system.workflow_started' ? linkOf(ledger, first) : NO_LINK
  }
  const previous = isOwn(beginning, 'system.workflow_started') && beginning.payload.previous
  if (!previous) return NO_LINK
  const event = await eventAt(ledger, previous)
  return { checkpointId: event && checkpointOf(event) ? idOf(event) : null, at: undefined }
}

/** A fork goes on with the state of its prefix; a turn says itself where its state comes from. */
async function openBuilder(ledger: Ledger, first: ClewEvent, { at }: Link): Promise<StateBuilder> {
  const from = checkpointOf(first)?.from
  if (from) return createStateBuilder(await ledger.getStateAt(from.runId, from.seq, { pruned: true }))
  const builder = createStateBuilder()
  const base = at && (await ledger.getStateAt(at.runId, at.seq, { pruned: true }))
  if (base) {
    const { state, versions, superstep, next } = base
    builder.apply({
      ...first,
      eventType: 'execution.checkpoint',
      payload: { state, versions, superstep, next },
    })
  }
  return builder
}

/** The parent that a checkpoint was recorded with; null if the event before it is meant. */
export const parentIdIn = (event: ClewEvent): string | null =>
  isOwn(event, 'execution.checkpoint') ? (event.payload.parentId ?? null) : null

const idOf = (event: ClewEvent): string => checkpointOf(event)?.id ?? event.eventId

async function eventAt(ledger: Ledger, { runId, seq }: EventInRun): Promise<ClewEvent | null> {
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, limit: 1 })) return event
  return null
}

/** The last event of a run's line that carries a checkpoint and is not past a seq. Costs what lies between. */
export async function lastCheckpointUpTo(
  ledger: Ledger,
  runId: string,
  upToSeq: number,
): Promise<ClewEvent | null> {
  for (let reach = 16; ; reach *= 8) {
    const afterSeq = Math.max(0, upToSeq - reach)
    let found: ClewEvent | null = null
    for await (const event of ledger.read(runId, { afterSeq, limit: reach, types: CHECKPOINT_TYPES })) {
      if (event.ledger.seq > upToSeq) break
      if (checkpointOf(event)) found = event
    }
    if (found || afterSeq === 0) return found
  }
}

/** Events after a seq in pages that grow: what is looked for is mostly near. */
export async function* readAhead(
  ledger: Ledger,
  runId: string,
  { afterSeq, limit: first, types }: { afterSeq: number; limit: number; types: readonly string[] },
): AsyncGenerator<ClewEvent> {
  let seq = afterSeq
  for (let limit = first; ; limit = Math.min(4 * limit, 500)) {
    let count = 0
    for await (const event of ledger.read(runId, { afterSeq: seq, limit, types })) {
      yield event
      seq = event.ledger.seq
      count++
    }
    if (count < limit) return
  }
}

const NEAR = 4

/**
 * The event that carries the checkpoint of a superstep. Supersteps rise with seq, mostly evenly, so a few guesses find
 * it; where guesses do not help, halves do.
 */
export async function findSuperstep(
  ledger: Ledger,
  { runId, checkpoint }: RunSummary,
  superstep: number,
): Promise<ClewEvent | null> {
  if (!checkpoint || superstep < 0 || superstep > checkpoint.superstep) return null
  let low = { seq: 0, superstep: -1 }
  let high = { seq: checkpoint.seq, superstep: checkpoint.superstep }
  for (let guesses = 0; low.seq < high.seq; guesses++) {
    const share = guesses < 4 ? (superstep - low.superstep) / (high.superstep - low.superstep) : 0.5
    const guess = Math.floor(low.seq + (high.seq - low.seq) * share) - (guesses < 4 ? NEAR : 1)
    const afterSeq = Math.min(Math.max(guess, low.seq), high.seq - 1)
    let isAny = false
    let looked = 0
    for await (const event of readAhead(ledger, runId, { afterSeq, limit: NEAR, types: CHECKPOINT_TYPES })) {
      looked++
      if (event.ledger.seq > high.seq) break
      const found = checkpointOf(event)
      if (found?.superstep === superstep) return event
      if (found?.superstep !== undefined) {
        isAny = true
        if (found.superstep > superstep) {
          high = { seq: afterSeq, superstep: found.superstep }
          break
        }
        low = { seq: event.ledger.seq, superstep: found.superstep }
      }
      // Ends of effects and of parallel nodes carry no checkpoint: any number of them may come before the next one.
      if (isAny && looked >= NEAR) break
    }
    if (!isAny) high = { ...high, seq: afterSeq }
  }
  return null
}

/** The checkpoint before the one that this event carries; null for the first of a thread. */
export async function parentOf(ledger: Ledger, event: ClewEvent): Promise<string | null> {
  const { correlationId: runId, ledger: place } = event
  const given = parentIdIn(event)
  if (given !== null) return given
  const before = await lastCheckpointUpTo(ledger, runId, place.seq - 1)
  if (before) return idOf(before)
  const first = await readBeginning(ledger, runId)
  return first ? (await linkOf(ledger, first)).checkpointId : null
}

/** All checkpoints of a thread: turns and forks follow each other as they began, `parentId` makes a tree of them. */
export async function* readThread(ledger: Ledger, threadId: string): AsyncGenerator<RecordedCheckpoint> {
  for await (const run of readThreadRuns(ledger, threadId)) yield* readCheckpoints(ledger, run)
}
