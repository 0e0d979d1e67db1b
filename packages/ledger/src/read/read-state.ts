import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import {
  type Checkpoint,
  CHECKPOINT_KEYS,
  CHECKPOINT_TYPES,
  checkpointOf,
  type EventInRun,
  STATE_TYPES,
} from '../fold/checkpoint.ts'
import { createStateBuilder, type RunState } from '../fold/state.ts'
import { deepFreeze } from '../json.ts'
import type { PayloadReader } from './payload-reader.ts'
import { prunedState } from '../retention/pruned.ts'
import type { RunReader, Segment } from './run-reader.ts'
import type { StoredEvent } from '../store/store.ts'

/** A checkpoint without its state. */
export interface CheckpointReference {
  readonly checkpointId: string
  /** The run that wrote it: in a fork, the source for what was before. */
  readonly runId: string
  readonly seq: number
  readonly superstep: number
  readonly next: readonly string[]
  readonly createdAt: string
}

export interface StateReader {
  latest(runId: string): Promise<RunState | null>
  atSuperstep(runId: string, superstep: number): Promise<RunState | null>
  /** At the checkpoint that this event carries; null when it carries none. `pruned`: also one that is no longer kept. */
  atEvent(runId: string, seq: number, options?: { readonly pruned?: boolean }): Promise<RunState | null>
  /** Oldest first; of a function's run, the ends of its steps. */
  checkpoints(runId: string): AsyncGenerator<CheckpointReference>
}

/** Events that are folded to a state; `from` is where they go on from. */
interface Piece {
  readonly from: EventInRun | undefined
  readonly events: AsyncIterable<ClewEvent>
}

type Mark = Pick<Checkpoint, 'seq' | 'baseSeq'> & { readonly superstep: number }

/** Turns of a thread go back through at most this many runs before a whole state is written; twice that is a circle. */
const MAX_HOPS = 1000
/** Most turns are shorter, so that one read gives their last checkpoint and all it is folded from. */
const SHORT = 32
const START_TYPES = ['system.workflow_started']
const FUNCTION_KEYS: ReadonlySet<string> = new Set(['seed', 'structureHash'])
const FUNCTION_STEP_TYPES: readonly string[] = ['execution.step_started', 'execution.step_completed']
const STEP_KEYS: ReadonlySet<string> = new Set(['stepId', 'attempt', 'superstep'])

export function createStateReader(runs: RunReader, reader: PayloadReader): StateReader {
  async function* eventsOf(pages: AsyncIterable<StoredEvent[]>): AsyncGenerator<ClewEvent> {
    for await (const page of pages)
      for (const stored of page) {
        if (stored.erased) throw goneState(stored)
        yield* await reader.toEvents([stored])
      }
  }

  const toCheckpoint = async (stored: StoredEvent): Promise<Checkpoint | null> =>
    checkpointOf(await reader.toPartialEvent(stored, CHECKPOINT_KEYS))

  /** Event from which the state of this base continues; undefined if the base holds the whole state. */
  async function sourceOf(base: StoredEvent | undefined): Promise<EventInRun | undefined> {
    const checkpoint = base && (await toCheckpoint(base))
    return checkpoint?.state ? undefined : checkpoint?.from
  }

  async function pieceFrom(runId: string, baseSeq: number, upToSeq: number | undefined): Promise<Piece> {
    const range = { afterSeq: baseSeq - 1, upToSeq, types: STATE_TYPES }
    let base: StoredEvent | undefined
    for await (const page of runs.events(runId, { ...range, upToSeq: baseSeq })) base = page[0]
    return { from: await sourceOf(base), events: eventsOf(runs.events(runId, range)) }
  }

  /** All that gives the state at an event, or null when it carries no checkpoint. */
  async function pieceAt({ runId, seq }: EventInRun): Promise<Piece | null> {
    const afterSeq = Math.max(0, seq - SHORT)
    const near: StoredEvent[] = []
    for await (const page of runs.events(runId, { afterSeq, upToSeq: seq, types: STATE_TYPES }))
      near.push(...page)
    const last = near.at(-1)
    if (last?.seq === seq && last.erased) throw goneState(last)
    const checkpoint = last?.seq === seq ? await toCheckpoint(last) : null
    if (!checkpoint) return null
    if (checkpoint.baseSeq <= afterSeq) return pieceFrom(runId, checkpoint.baseSeq, seq)
    const own = near.filter((stored) => stored.seq >= checkpoint.baseSeq)
    return { from: await sourceOf(own[0]), events: eventsOf(once(own)) }
  }

  /** Folds back to front: the states that a run goes on from first, then its own changes. */
  async function fold(
    runId: string,
    last: Piece,
    superstep: number,
    mayBePruned = false,
  ): Promise<RunState | null> {
    const pieces = [last]
    for (let { from } = last; from; ) {
      const piece: Piece | null = await pieceAt(from)
      if (!piece) throw missingSource(runId, from)
      pieces.push(piece)
      if (pieces.length > MAX_HOPS) throw circle(runId)
      from = piece.from
    }
    let state: RunState | null = null
    for (const piece of pieces.toReversed())
      state =
        piece === last
          ? await foldPiece(piece.events, superstep, state, !mayBePruned)
          : await foldPiece(piece.events, Number.POSITIVE_INFINITY, state)
    return deepFreeze(state)
  }

  async function markOf(stored: StoredEvent): Promise<Mark | undefined> {
    const checkpoint = await toCheckpoint(stored)
    if (checkpoint?.superstep === undefined) return undefined
    return { seq: checkpoint.seq, baseSeq: checkpoint.baseSeq, superstep: checkpoint.superstep }
  }

  /** The first checkpoint of a segment after a seq. */
  async function firstMark({ run }: Segment, afterSeq: number, upToSeq: number): Promise<Mark | undefined> {
    const { runId } = run.summary
    for (let seq = afterSeq, limit = 4; ; limit = Math.min(500, limit * 4)) {
      let last: StoredEvent | undefined
      let count = 0
      for await (const page of runs.events(runId, { afterSeq: seq, upToSeq, limit, types: CHECKPOINT_TYPES }))
        for (const stored of page) {
          const mark = await markOf(stored)
          if (mark) return mark
          last = stored
          count++
        }
      if (!last || count < limit) return undefined
      seq = last.seq
    }
  }

  /** The last checkpoint of a segment that is not past the superstep. Supersteps rise with seq. */
  async function searchSegment(segment: Segment, upToSeq: number, superstep: number): Promise<Mark | null> {
    let found: Mark | null = null
    let low = segment.afterSeq
    let high = upToSeq
    while (low < high) {
      const middle = low + Math.floor((high - low - 1) / 2)
      const mark = await firstMark(segment, middle, high)
      if (mark && mark.superstep <= superstep) {
        found = mark
        low = mark.seq
      } else high = middle
    }
    return found
  }

  /** No state is not the same as one that was erased. */
  async function assertNoneErased(runId: string): Promise<void> {
    for await (const page of runs.events(runId, { types: STATE_TYPES }))
      for (const stored of page) if (stored.erased) throw goneState(stored)
  }

  /** Between this checkpoint and the next one that is there, others may have been that are no longer kept. */
  async function assertNonePruned(runId: string, afterSeq: number): Promise<void> {
    for await (const page of runs.events(runId, { afterSeq, types: CHECKPOINT_TYPES }))
      for (const stored of page) {
        if (stored.pruned && stored.erased) throw goneState(stored)
        if (await markOf(stored)) return
      }
  }

  /** The last checkpoint that is not past the superstep, and whether there may be any. */
  async function findMark(
    runId: string,
    superstep: number,
  ): Promise<{ mark: Mark | null; hasCheckpoints: boolean }> {
    let hasCheckpoints = false
    for await (const segment of runs.segments(runId)) {
      const { summary } = segment.run
      const { checkpoint } = summary
      // A row of an older fold has no checkpoints, though the run may.
      hasCheckpoints ||= checkpoint !== null || !Object.hasOwn(summary, 'checkpoint')
      if (!checkpoint) continue
      if (checkpoint.seq <= segment.upToSeq && checkpoint.superstep <= superstep)
        return { mark: checkpoint, hasCheckpoints }
      if (checkpoint.seq <= segment.afterSeq) continue
      const mark = await searchSegment(segment, Math.min(segment.upToSeq, checkpoint.seq), superstep)
      if (mark) return { mark, hasCheckpoints }
    }
    return { mark: null, hasCheckpoints }
  }

  /** Runs that record their state by transitions, or checkpoints without a base, are folded from the first event. */
  async function at(
    runId: string,
    superstep: number,
    upTo: (mark: Mark) => number | undefined,
  ): Promise<RunState | null> {
    const { mark, hasCheckpoints } = await findMark(runId, superstep)
    if (mark && mark.superstep < superstep && superstep < Number.POSITIVE_INFINITY)
      await assertNonePruned(runId, mark.seq)
    if (mark && mark.baseSeq > 1)
      return fold(runId, await pieceFrom(runId, mark.baseSeq, upTo(mark)), superstep)
    if (hasCheckpoints) return fold(runId, await pieceFrom(runId, 1, undefined), superstep)
    const types = ['system.state_transitioned']
    const state = await foldPiece(eventsOf(runs.events(runId, { types })), superstep, null)
    if (!state) await assertNoneErased(runId)
    return deepFreeze(state)
  }

  /** A superstep that was left out has the state before it; one that has not been reached has none. */
  async function assertNotPast(runId: string, superstep: number): Promise<void> {
    const { mark } = await findMark(runId, Number.POSITIVE_INFINITY)
    const last = mark?.superstep ?? (await at(runId, Number.POSITIVE_INFINITY, () => undefined))?.superstep
    if (last === undefined || last >= superstep) return
    throw noSuperstep(runId, superstep, last)
  }

  /** Run by the code of a function: it has steps in place of channels. */
  async function isFunction(runId: string): Promise<boolean> {
    for await (const page of runs.events(runId, { types: START_TYPES, limit: 1 })) {
      const [first] = page
      if (first?.eventType !== 'system.workflow_started' || first.erased) return false
      const { payload } = await reader.toPartialEvent(first, FUNCTION_KEYS)
      return typeof payload['seed'] === 'string' && payload['structureHash'] === undefined
    }
    return false
  }

  /** A function can go on from the end of each of its steps, and each step is its own superstep (R7). */
  async function* ends(runId: string): AsyncGenerator<CheckpointReference> {
    const supersteps = new Map<string, number>()
    for await (const page of runs.events(runId, { types: FUNCTION_STEP_TYPES }))
      for (const stored of page) {
        if (stored.erased) continue
        const event = await reader.toPartialEvent(stored, STEP_KEYS)
        const { stepId, attempt = 1, superstep } = event.payload
        const key = `${String(attempt)} ${String(stepId)}`
        if (stored.eventType === 'execution.step_started') {
          if (typeof superstep === 'number') supersteps.set(key, superstep)
          continue
        }
        yield {
          checkpointId: stored.eventId,
          runId: event.correlationId,
          seq: stored.seq,
          superstep: supersteps.get(key) ?? 0,
          next: [],
          createdAt: event.timestamp,
        }
        supersteps.delete(key)
      }
  }

  return {
    latest: (runId) => at(runId, Number.POSITIVE_INFINITY, () => undefined),
    async atSuperstep(runId, superstep) {
      const state = await at(runId, superstep, ({ seq }) => seq)
      if (state && state.superstep < superstep) await assertNotPast(runId, superstep)
      return state
    },
    async atEvent(runId, seq, { pruned = false } = {}) {
      const piece = await pieceAt({ runId, seq })
      return piece && fold(runId, piece, Number.POSITIVE_INFINITY, pruned)
    },
    async *checkpoints(runId) {
      if (await isFunction(runId)) return yield* ends(runId)
      let superstep = 0
      for await (const page of runs.events(runId, { types: CHECKPOINT_TYPES }))
        for (const stored of page) {
          if (stored.pruned) continue
          const checkpoint = await toCheckpoint(stored)
          if (!checkpoint) continue
          superstep = checkpoint.superstep ?? superstep
          const { id, runId: owner, seq, next, createdAt } = checkpoint
          yield { checkpointId: id, runId: owner, seq, superstep, next, createdAt }
        }
    },
  }
}

/** A superstep that the run has not reached. */
export const noSuperstep = (runId: string, superstep: number, last: number): ClewError =>
  new ClewError(
    'not_found',
    `Run ${runId} has no superstep ${superstep}: its last one is ${last}`,
    'See `clew steps` for its supersteps, or leave the superstep out for the newest state.',
    { runId, superstep, last },
  )

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item
}

async function foldPiece(
  events: AsyncIterable<ClewEvent>,
  superstep: number,
  base: RunState | null,
  mustBeKept = false,
): Promise<RunState | null> {
  const builder = createStateBuilder(base)
  let carrier: ClewEvent | undefined
  for await (const event of events) {
    if (builder.superstepWith(event) > superstep) break
    builder.apply(event)
    if (mustBeKept && checkpointOf(event)) carrier = event
  }
  // Others are folded from it, but the state at it is no longer kept.
  if (carrier?.ledger.pruned) throw prunedState(carrier.correlationId, carrier.ledger.seq)
  return builder.view()
}

const goneState = (stored: StoredEvent): ClewError =>
  stored.pruned ? prunedState(stored.correlationId, stored.seq) : erasedState(stored)

const erasedState = ({ correlationId: runId, seq }: StoredEvent): ClewError =>
  new ClewError(
    'erased',
    `The state of run ${runId} cannot be told: it was erased at seq ${seq}`,
    'See with `clew compliance` when and why; what was erased cannot be had back.',
    { runId, seq },
  )

function missingSource(runId: string, from: EventInRun): ClewError {
  return new ClewError(
    'not_found',
    `The state of run ${runId} goes on from event ${from.seq} of run ${from.runId}, which is not here or has no state`,
    'Import that run too.',
    { runId, sourceRunId: from.runId, seq: from.seq },
  )
}

function circle(runId: string): ClewError {
  return new ClewError(
    'store_corrupt',
    `The state of run ${runId} goes back through more than ${MAX_HOPS} runs`,
    'See with `clew verify` whether its record was changed.',
    { runId },
  )
}
