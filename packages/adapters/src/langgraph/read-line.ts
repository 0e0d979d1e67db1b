import { ClewError, type ClewEvent, isOwn, type Ledger, type RunSummary } from '@clew/ledger'
import { carriedBy, readCheckpoint } from './checkpoint-payload.ts'
import { isObject } from './rich-values.ts'
import type { SavedCheckpoint, Saved, TaskWrites, Write } from './saved.ts'
import { readWrites, WRITE_TYPES } from './task-writes.ts'

const BEGINNINGS: readonly string[] = ['system.workflow_started', 'system.workflow_forked']
const TYPES = [...BEGINNINGS, 'execution.checkpoint', ...WRITE_TYPES]
const MAX_KEPT = 2048
const MAX_KEPT_SIZE = 32 * 1024 * 1024

/** Checkpoints from the record, each folded once: those behind it are kept for a while. */
export interface LineReader {
  /** The checkpoint that this event carries, with what was put for it; null when it carries none of ours. */
  at(place: SavedCheckpoint): Promise<Saved | null>
  /** The checkpoints before one, nearest first, each with the writes that made the one after it. */
  ancestors(saved: Saved): AsyncGenerator<{ readonly saved: Saved; readonly writes: readonly TaskWrites[] }>
  /** Checkpoints of a run's own from the newest on, one stretch between two whole states at a time. */
  newestFirst(run: RunSummary): AsyncGenerator<Saved>
}

export function createLineReader(ledger: Ledger): LineReader {
  /** States only: writes may be added to them later. */
  const kept = new Map<string, Saved>()
  let keptSize = 0

  const keyOf = ({ runId, seq }: SavedCheckpoint): string => `${seq} ${runId}`

  function keep(saved: Saved): void {
    const key = keyOf(saved)
    if (kept.has(key)) return
    kept.set(key, saved)
    keptSize += saved.since.size
    for (const [oldest, each] of kept) {
      if (kept.size <= MAX_KEPT && keptSize <= MAX_KEPT_SIZE) break
      kept.delete(oldest)
      keptSize -= each.since.size
    }
  }

  async function* events(runId: string, afterSeq: number, upTo: number): AsyncGenerator<ClewEvent> {
    let limit = Math.max(8, upTo - afterSeq + 8)
    for (let seq = afterSeq; ; limit = 64) {
      let count = 0
      for await (const event of ledger.read(runId, { afterSeq: seq, limit, types: TYPES, restored: true })) {
        yield event
        seq = event.ledger.seq
        count++
      }
      if (count < limit) return
    }
  }

  async function eventAt({ runId, seq }: SavedCheckpoint): Promise<ClewEvent | undefined> {
    for await (const event of ledger.read(runId, {
      afterSeq: seq - 1,
      limit: 1,
      types: TYPES,
      restored: true,
    }))
      if (event.ledger.seq === seq && carriedBy(event)) return event
    return undefined
  }

  /** The state that a checkpoint's `from` speaks of, with what it goes on from behind it. */
  async function stateAt(place: SavedCheckpoint): Promise<Saved> {
    const known = kept.get(keyOf(place))
    if (known) return known
    const event = await eventAt(place)
    const saved = event && (await stretch(place.runId, baseOf(event), place.seq, false)).at(-1)
    if (!saved) throw missing(place)
    return saved
  }

  /** All checkpoints from a base up to a seq; with `isTailed`, the last one with what was put for it afterwards. */
  async function stretch(runId: string, baseSeq: number, upTo: number, isTailed: boolean): Promise<Saved[]> {
    const found: Saved[] = []
    const outputs = new Map<string, Readonly<Record<string, unknown>>>()
    const early = new Map<string, TaskWrites[]>()
    let input: unknown
    const afterSeq = Math.max(0, baseSeq - 2)
    for await (const event of events(runId, afterSeq, upTo)) {
      const { eventType, ledger: place } = event
      if (isOwn(event, 'system.workflow_started', 'system.workflow_forked')) input = event.payload.input
      const written = eventType === 'execution.checkpoint' ? [] : addWrites(event, found, outputs, early)
      const carried = carriedBy(event)
      if (carried && place.seq > upTo) break
      if (carried && place.seq >= baseSeq) {
        const { from, state } = carried
        const isContinued = from !== undefined && !isObject(state)
        const before = isContinued ? await stateAt(from) : (found.at(-1) ?? null)
        const saved = readCheckpoint(event, carried, { before, input, outputs, written, early })
        if (!saved) continue
        found.push(saved)
        keep({ ...saved, writes: [] })
        outputs.clear()
      }
      if (!isTailed && place.seq >= upTo) break
    }
    return found
  }

  function addWrites(
    event: ClewEvent,
    found: Saved[],
    outputs: Map<string, Readonly<Record<string, unknown>>>,
    early: Map<string, TaskWrites[]>,
  ): readonly Write[] {
    const read = readWrites(event)
    if (!read) return []
    const { call, checkpointId } = read
    const { output } = event.payload
    if (call.stepId !== undefined && isObject(output)) outputs.set(call.stepId, output)
    const at =
      checkpointId === undefined ? found.length - 1 : found.findLastIndex(({ id }) => id === checkpointId)
    const saved = found[at]
    if (saved) found[at] = { ...saved, writes: [...saved.writes, call] }
    else if (checkpointId !== undefined) early.set(checkpointId, [...(early.get(checkpointId) ?? []), call])
    return call.writes
  }

  return {
    async at(place) {
      const event = await eventAt(place)
      if (!event) return null
      return (await stretch(place.runId, baseOf(event), place.seq, true)).at(-1) ?? null
    },
    async *ancestors(from) {
      for (let child = from; ; ) {
        const found = await stretch(child.runId, child.baseSeq, child.seq, false)
        for (let i = found.length - 2; i >= 0; i--) {
          const saved = found[i] as Saved
          yield { saved, writes: thatMade(child, saved) }
          child = saved
        }
        const place = child.parent?.place
        const saved = place && (await this.at(place))
        if (!saved) return
        yield { saved, writes: thatMade(child, saved) }
        child = { ...saved, runId: place.runId }
      }
    },
    async *newestFirst({ runId, checkpoint, forkedFrom }) {
      const first = (forkedFrom?.seq ?? 0) + 1
      let seq = checkpoint?.seq ?? 0
      let base: number | undefined = checkpoint?.baseSeq
      while (base !== undefined && seq >= first) {
        const found = await stretch(runId, base, seq, true)
        const oldest = found[0]
        for (const saved of found.toReversed()) if (saved.seq >= first) yield saved
        if (!oldest || oldest.previousBase === undefined) return
        base = oldest.previousBase
        seq = oldest.seq - 1
      }
    },
  }
}

/** A task that ran again wrote anew: its last call counts. A turn takes over only what it says. */
function thatMade(child: Saved, parent: Saved): TaskWrites[] {
  const { applied } = child
  if (applied) return parent.writes.filter(({ seq }) => applied.includes(seq))
  const isSameLine = child.parent?.place?.runId === parent.runId || child.seq > parent.seq
  const between = isSameLine
    ? parent.writes.filter(({ runId, seq }) => runId !== child.runId || seq <= child.seq)
    : []
  return [...new Map(between.map((call) => [`${call.taskId} ${call.stepId === undefined}`, call])).values()]
}

function baseOf(event: ClewEvent): number {
  const { ledger } = event
  const { state, from, baseSeq } = carriedBy(event) ?? {}
  if (isObject(state) || from !== undefined) return ledger.seq
  return typeof baseSeq === 'number' && baseSeq > 0 ? baseSeq : 1
}

const missing = ({ runId, seq }: SavedCheckpoint): ClewError =>
  new ClewError(
    'store_corrupt',
    `A checkpoint goes on from event ${seq} of run ${runId}, which carries no checkpoint`,
    'See with `clew verify` what is missing, and import the runs of the thread together.',
    { runId, seq },
  )
